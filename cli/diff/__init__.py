"""`tracewh diff`: compare two runs, test the differences and print them.

The command uses `run_diff.compare`. This package imports nothing, so that the command line starts fast.
"""
