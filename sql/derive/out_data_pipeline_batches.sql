-- derive: out_data_pipeline_batches
-- since: 0.2
-- summary: Content of the Parquet file of batches of the input pipeline.
FROM raw_pipeline_batches
