"""A warehouse on disk or in an object store.

Other rooms write a warehouse with `open_store.open_store`, which returns a `store.Store`. They list its files with
`listing` and `compacted_runs`, and name folders and files with `layout`. `compaction`, `checks` and
`copied_warehouse` are the maintenance commands. This package imports nothing: some of its modules load Arrow.
"""
