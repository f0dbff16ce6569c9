"""What `tracewh diff` compares, tests and prints."""
