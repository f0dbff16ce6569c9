-- Panel of the report: Step time differences. A step is not compared with a recording as a whole.
SELECT
    category,
    delta_mean_us,
    delta_mean_us_pct,
    significant,
    p_value,
    * EXCLUDE (category, delta_mean_us, delta_mean_us_pct, significant, p_value)
FROM diff_steps(baseline := $baseline, experiment := $run)
WHERE
    EXISTS (
        SELECT v.text
        FROM diff_verdict(baseline := $baseline, experiment := $run) AS v
        WHERE v.part = 'headline' AND v.delta_value IS NOT NULL
    );
