"""`tracewh diff`: compare two runs, test the differences and print them."""
