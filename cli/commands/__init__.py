"""The commands of `tracewh`: one module per command, or per group of small ones. `cli/app.py` declares them."""
