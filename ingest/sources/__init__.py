"""Find traces in folders, object stores and pipes, and know the files of each profiler.

Other rooms use `discover.discover`, which returns a `discover.Source` per file, the pipes of `files`, and
`readers`, which lists a reader per profiler. A new one implements `reader.TableReader`, and is added to
`readers.TABLE_READERS`, to sql/functions/recording_hint.sql and to docs/sources/.
"""
