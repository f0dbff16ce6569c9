"""A warehouse on disk or in an object store: layout, commits, listings, compaction and checks."""
