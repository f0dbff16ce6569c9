-- Panel of the report: Summary.
SELECT *
FROM diff_overview(baseline := $baseline, experiment := $run);
