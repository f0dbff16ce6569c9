-- block: shortened_steps
-- since: 0.2
-- summary: Traces whose steps cover the call of prof.step() only, and not the work between two calls.
-- grain: one row per trace with such a step
-- uses: is_wanted
--
-- adjust_profiler_step=True in experimental_config, with with_stack=True, gives a step the times of the Python frame
-- in which it begins. That is prof.step(). Otherwise the step ends long after this call, and is not inside it.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name   type    unit  meaning
--   steps  BIGINT  -     Number of such steps.
CREATE MACRO shortened_steps(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT s.run, s.worker, s.span, sum(s.calls)::BIGINT AS steps
    FROM stacks AS s
    INNER JOIN stacks AS o
        ON
            s.run = o.run AND s.worker = o.worker AND s.span = o.span
            AND s.outer_stack_id = o.stack_id
    WHERE
        s.name = 'ProfilerStep*'
        AND o.category = 'python_function'
        AND regexp_matches(o.name, '(^|/)profiler/profiler\.py\([0-9]+\): step$')
        AND is_wanted(s.run, s.worker, s.span, run, worker, span)
        AND is_wanted(o.run, o.worker, o.span, run, worker, span)
    GROUP BY s.run, s.worker, s.span;
