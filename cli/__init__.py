"""The `tracewh` command: arguments in, bytes out."""
