-- What a trace gains most from in a replay, as a sentence; no row where nothing gains much, or much is unexplained.
SELECT a.text
FROM replay_advice(run := $run, worker := $worker, span := $span) AS a;
