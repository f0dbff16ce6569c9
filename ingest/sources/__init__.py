"""Where trace files come from: folders, object stores and pipes."""
