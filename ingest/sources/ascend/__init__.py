"""Read recordings of the Ascend profiler."""
