"""A warehouse on disk or in an object store: its layout, commits, listings, compaction and checks."""
