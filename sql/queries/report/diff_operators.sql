-- Panel of the report: Operators.
SELECT
    name,
    delta_device_self_us,
    delta_host_self_us,
    delta_calls,
    significant,
    COLUMNS('^(baseline|experiment)_(calls|(host|device)_(self|total)_us)$')
FROM diff_operators(baseline := $baseline, experiment := $run)
LIMIT $most_rows;
