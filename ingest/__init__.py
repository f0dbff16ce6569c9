"""Trace files in, Parquet tables out; knows nothing about views."""
