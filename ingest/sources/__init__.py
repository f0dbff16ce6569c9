"""Find trace files in folders, object stores and pipes.

Other rooms use `discover.discover`, which returns a `discover.Source` per file, and the pipes of `files`.
"""
