-- Timeline: what is known of an event that a graph replayed, from the recording that captured it.
SELECT
    k.basis,
    k.reason,
    k.operator,
    k.input_dims::VARCHAR AS input_dims,
    array_to_string(k.input_types, ', ') AS input_types,
    k.module,
    k.source_file || '(' || k.source_line || '): ' || k.source_function AS line
FROM graph_kernels(run := $run, worker := $worker, span := $span) AS k
WHERE k.event_id = $event_id;
