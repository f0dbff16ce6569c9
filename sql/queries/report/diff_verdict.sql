-- Panel of the report: Two runs in a sentence.
SELECT *
FROM diff_verdict(baseline := $baseline, experiment := $run);
