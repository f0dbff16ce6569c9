"""Read exports of NVIDIA Nsight Systems: SQLite files, and folders of Parquet files.

`schema` lists the tables and columns that are read: all others may hold environment variables, users, hosts or
paths, and never reach the warehouse. The SQL that turns rows into events is in sql/derive/nsys_*.sql.
"""
