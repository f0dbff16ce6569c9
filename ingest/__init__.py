"""Ingest trace files: read and parse them, link their events, and commit Parquet tables to a warehouse.

Other rooms use `api` (ingest, drop, names), `watch`, `reconstruct` (the events of a stored trace), and the types of
`result` and `progress`. Spark tasks also use `plan`, `ingest_file` and `database_pool`. Ingest does not depend on
views. This package imports nothing, so that `import tracewh` stays cheap.
"""
