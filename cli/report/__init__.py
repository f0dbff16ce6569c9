"""`tracewh report`: one HTML page about a run, with all that it needs inside."""
