"""Link the events of a trace (nesting, launches, steps, stacks), and write its Parquet files."""
