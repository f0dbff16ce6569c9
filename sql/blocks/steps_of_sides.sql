-- block: steps_of_sides
-- since: 0.1
-- summary: The steps of two runs that a test compares: those that recording did not cut short.
-- grain: one row per step and side
-- uses: is_wanted
--
-- A NULL for a run names no run. A trace without steps counts as one step, unless another trace of its run has
-- steps: then it is left out. What lies in a block of diff_modules is not tested: it has no steps.
--
-- params
--   name               type     unit  default  meaning
--   baseline           VARCHAR  -     -        Run to compare with.
--   experiment         VARCHAR  -     -        Run to compare.
--   baseline_worker    VARCHAR  -     -        Worker of the baseline; NULL takes all.
--   experiment_worker  VARCHAR  -     -        Worker of the experiment; NULL takes all.
--   baseline_span      VARCHAR  -     -        Recording of the baseline; NULL takes all.
--   experiment_span    VARCHAR  -     -        Recording of the experiment; NULL takes all.
--   block              VARCHAR  -     -        Path of a block of diff_modules; NULL takes all.
-- columns
--   name    type     unit  meaning
--   side    VARCHAR  key   'baseline' or 'experiment'.
--   worker  VARCHAR  key   Worker of the trace.
--   span    VARCHAR  key   Its span.
--   step    BIGINT   key   Number of the step.
CREATE MACRO steps_of_sides(
    baseline VARCHAR,
    experiment VARCHAR,
    baseline_worker VARCHAR,
    experiment_worker VARCHAR,
    baseline_span VARCHAR,
    experiment_span VARCHAR,
    block VARCHAR
) AS TABLE
    SELECT 'baseline' AS side, b.worker, b.span, b.step
    FROM steps AS b
    WHERE
        b.run = baseline
        AND block IS NULL
        AND is_wanted(b.run, b.worker, b.span, baseline, baseline_worker, baseline_span)
    QUALIFY
        NOT b.is_tail AND (b.step IS NOT NULL OR NOT bool_or(b.step IS NOT NULL) OVER ())
    UNION ALL
    SELECT 'experiment', e.worker, e.span, e.step
    FROM steps AS e
    WHERE
        e.run = experiment
        AND block IS NULL
        AND is_wanted(e.run, e.worker, e.span, experiment, experiment_worker, experiment_span)
    QUALIFY
        NOT e.is_tail AND (e.step IS NOT NULL OR NOT bool_or(e.step IS NOT NULL) OVER ());
