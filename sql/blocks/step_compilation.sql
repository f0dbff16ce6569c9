-- block: step_compilation
-- since: 0.1
-- summary: How long torch.compile compiled in the steps of a trace.
-- grain: one row per trace with compilation in steps that are not tail steps
-- uses: is_wanted
--
-- torch._dynamo.utils.dynamo_timed marks each phase of compilation by an event whose name ends with (dynamo_timed).
-- Phases nest: the outermost ones of each thread are added up. A trace without steps counts as one step.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   steps            BIGINT  -   Number of steps that are not tail steps.
--   compiling_steps  BIGINT  -   Number of those in which a compilation starts.
--   compile_us       DOUBLE  us  Time of all compilations that start in these steps.
CREATE MACRO step_compilation(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _phases AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.start_ns,
            h.duration_ns,
            max(h.start_ns + h.duration_ns) OVER (
                PARTITION BY h.run, h.worker, h.span, h.pid, h.tid
                ORDER BY h.start_ns ASC, h.duration_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS compiling_until_ns
        FROM host_events AS h
        WHERE
            ends_with(h.name, ' (dynamo_timed)')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _steps AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.start_ns,
            s.end_ns,
            count(*) OVER (PARTITION BY s.run, s.worker, s.span) AS steps
        FROM steps AS s
        WHERE
            NOT s.is_tail
            AND is_wanted(s.run, s.worker, s.span, run, worker, span)
    )

    SELECT
        s.run,
        s.worker,
        s.span,
        any_value(s.steps) AS steps,
        count(DISTINCT s.start_ns) AS compiling_steps,
        sum(p.duration_ns) / 1000.0 AS compile_us
    FROM _phases AS p
    INNER JOIN _steps AS s
        ON
            p.run = s.run AND p.worker = s.worker AND p.span = s.span
            AND p.start_ns >= s.start_ns AND p.start_ns < s.end_ns
    WHERE p.compiling_until_ns IS NULL OR p.start_ns >= p.compiling_until_ns
    GROUP BY s.run, s.worker, s.span;
