-- derive: copy_names
-- since: 0.1
-- summary: Give the copies of torch's CUPTI monitor the names that Kineto gives them; raw keeps the name in the file.
UPDATE raw_device SET
    name = copy_name(category, name, args),
    raw = json_merge_patch(coalesce(raw, '{}'), json_object('name', name))
WHERE category IN ('gpu_memcpy', 'gpu_memset') AND copy_name(category, name, args) <> name
