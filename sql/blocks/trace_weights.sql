-- block: trace_weights
-- since: 0.1
-- summary: Weight of each trace when the figures of a run are averaged.
--
-- A figure of a run is the mean over its workers of the mean over the spans of each worker, so that a
-- worker with more recordings than the others does not count for more. It is the sum of figure times weight
-- over the traces. A trace in which something does not occur adds nothing to the sum, and keeps its
-- weight.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with side, worker and span; a trace may be in it any number of times.
-- columns
--   name    type     unit  meaning
--   side    VARCHAR  key   As given: the side that is averaged, e.g. 'baseline'.
--   worker  VARCHAR  key   Worker of the trace.
--   span    VARCHAR  key   Recording of the worker.
--   weight  DOUBLE   -     The weights of a side add up to 1.
CREATE MACRO trace_weights(rel VARCHAR) AS TABLE
    WITH
    _traces AS (
        SELECT DISTINCT
            r.side,
            r.worker,
            r.span
        FROM query_table(rel) AS r
    )

    SELECT
        t.side,
        t.worker,
        t.span,
        1.0
        / count(*) OVER (PARTITION BY t.side, t.worker)
        / count(DISTINCT t.worker) OVER (PARTITION BY t.side) AS weight
    FROM _traces AS t;
