"""Rows as text: tables for people, and csv, json, markdown, parquet and xlsx."""
