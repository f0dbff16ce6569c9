-- Panel of the report: Step time differences.
SELECT
    category,
    delta_mean_us,
    delta_mean_us_pct,
    significant,
    p_value,
    * EXCLUDE (category, delta_mean_us, delta_mean_us_pct, significant, p_value)
FROM diff_steps(baseline := $baseline, experiment := $run);
