-- block: frames_outside_operators
-- since: 0.2
-- summary: The Python function in which the host spends most of its time outside of operators.
-- grain: one row per trace with Python frames
-- uses: is_wanted, library_files
--
-- The time is that of stacks in which nothing but Python frames is open, and a step if the trace has steps. It counts
-- for the innermost frame of the user, or for the innermost frame if all are of libraries. Without steps it is
-- that of the frames around which most others ran, because other threads may wait all the time.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name  VARCHAR  -  The function, as 'load (train.py:12)'.
CREATE MACRO frames_outside_operators(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH RECURSIVE
    _read AS MATERIALIZED (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.stack_id,
            s.outer_stack_id,
            s.category = 'python_function' AS is_frame,
            s.name = 'ProfilerStep*' AS is_step,
            s.source_file,
            CASE
                WHEN s.category = 'python_function'
                    THEN s.source_function || ' (' || s.source_file || ':' || s.source_line || ')'
            END AS frame,
            s.calls,
            s.self_duration_ns
        FROM stacks AS s
        WHERE is_wanted(s.run, s.worker, s.span, run, worker, span)
    ),

    _stacks AS MATERIALIZED (
        SELECT
            r.*,
            CASE WHEN l.source_file IS NULL THEN r.frame END AS user_frame,
            bool_or(r.is_step) OVER (PARTITION BY r.run, r.worker, r.span) AS has_steps
        FROM _read AS r
        LEFT JOIN library_files('_read') AS l ON r.source_file = l.source_file
    ),

    _open AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            s.stack_id,
            s.stack_id AS outermost_id,
            s.frame,
            s.user_frame,
            s.is_step OR NOT s.has_steps AS is_in_step,
            s.calls,
            s.self_duration_ns
        FROM _stacks AS s
        WHERE s.outer_stack_id IS NULL AND (s.is_frame OR s.is_step)
        UNION ALL
        SELECT
            s.run,
            s.worker,
            s.span,
            s.stack_id,
            o.outermost_id,
            coalesce(s.frame, o.frame) AS frame,
            coalesce(s.user_frame, o.user_frame) AS user_frame,
            o.is_in_step OR s.is_step AS is_in_step,
            s.calls,
            s.self_duration_ns
        FROM _open AS o
        INNER JOIN _stacks AS s
            ON
                o.run = s.run AND o.worker = s.worker AND o.span = s.span
                AND o.stack_id = s.outer_stack_id
        WHERE s.is_frame OR s.is_step
    ),

    _functions AS (
        SELECT
            o.run,
            o.worker,
            o.span,
            coalesce(o.user_frame, o.frame) AS name,
            sum(sum(o.calls)) OVER (PARTITION BY o.run, o.worker, o.span, o.outermost_id)
                AS frames,
            sum(o.self_duration_ns) AS self_ns
        FROM _open AS o
        WHERE o.is_in_step
        GROUP BY
            o.run, o.worker, o.span, o.outermost_id, coalesce(o.user_frame, o.frame)
    )

    SELECT
        f.run,
        f.worker,
        f.span,
        arg_max(f.name, (f.frames, f.self_ns, f.name)) AS name
    FROM _functions AS f
    WHERE f.name IS NOT NULL
    GROUP BY f.run, f.worker, f.span;
