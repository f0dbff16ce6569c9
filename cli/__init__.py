"""The `tracewh` command line: it parses arguments, runs views and writes their rows."""
