-- derive: out_pipeline_operations
-- since: 0.2
-- summary: Content of the Parquet file of operations of a pipeline-parallel job.
FROM raw_pipeline_operations
