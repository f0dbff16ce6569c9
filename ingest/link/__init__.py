"""What no single event says: nesting, launches, steps and stacks; and the Parquet files."""
