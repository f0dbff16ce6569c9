"""Parse events into typed rows: a compiled parser for plain events, and one in SQL for all others."""
