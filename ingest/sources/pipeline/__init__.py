"""Read tables of the operations of pipeline-parallel jobs."""
