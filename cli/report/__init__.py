"""`tracewh report` and `tracewh serve`: an HTML page about a run that needs no network.

The commands use `write.write_report` and `serve.run_server`. This package imports nothing, so that the command line
starts fast.
"""
