-- derive: out_data_pipeline_operators
-- since: 0.2
-- summary: Content of the Parquet file of operators of the input pipeline.
FROM raw_pipeline_operators
