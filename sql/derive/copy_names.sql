-- derive: copy_names
-- since: 0.1
-- summary: Give the copies of torch's CUPTI monitor the names that Kineto gives them; raw keeps the name in the file.
UPDATE raw_device SET
    name = copy_name(category, name, args),
    -- As text: json_merge_patch would write other numbers in another way than the file.
    raw = (
        '{"name":' || to_json(name) || coalesce(',' || substr(nullif(raw::VARCHAR, '{}'), 2), '}')
    )::JSON
WHERE category IN ('gpu_memcpy', 'gpu_memset') AND copy_name(category, name, args) <> name
