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
-- A function of the user may spend that time in a library. So the innermost function of a library is named, too, in
-- which 70 % of it passes. Decorators and methods such as __call__ tell little, and are left out.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name          VARCHAR  -  The function, as 'load (train.py:12)'.
--   library_name  VARCHAR  -  The function of a library in which it spends that time; NULL if none has 70 % of it.
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
            -- They call a module, a decorated function or an operator, and tell nothing about it.
            ends_with(s.source_file, 'torch/nn/modules/module.py')
            OR ends_with(s.source_file, 'torch/utils/_contextlib.py')
            OR s.source_function IN ('wrapper', 'wrapped', 'wrapped_func', 'inner')
            OR starts_with(s.source_function, '__') AS is_wrapper,
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
            []::BIGINT[] AS library_ids,
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
            CASE
                WHEN s.user_frame IS NOT NULL THEN []
                WHEN
                    s.frame IS NOT NULL AND NOT s.is_wrapper
                    THEN list_append(o.library_ids, s.stack_id)
                ELSE o.library_ids
            END AS library_ids,
            s.calls,
            s.self_duration_ns
        FROM _open AS o
        INNER JOIN _stacks AS s
            ON
                o.run = s.run AND o.worker = s.worker AND o.span = s.span
                AND o.stack_id = s.outer_stack_id
        WHERE s.is_frame OR s.is_step
    ),

    _frames AS MATERIALIZED (SELECT o.* FROM _open AS o),

    _functions AS (
        SELECT
            f.run,
            f.worker,
            f.span,
            f.outermost_id,
            coalesce(f.user_frame, f.frame) AS name,
            sum(sum(f.calls)) OVER (PARTITION BY f.run, f.worker, f.span, f.outermost_id)
                AS frames,
            sum(f.self_duration_ns) AS self_ns
        FROM _frames AS f
        WHERE f.is_in_step
        GROUP BY
            f.run, f.worker, f.span, f.outermost_id, coalesce(f.user_frame, f.frame)
    ),

    _longest AS (
        SELECT
            l.run, l.worker, l.span, l.longest.name, l.longest.outermost_id, l.longest.self_ns
        FROM (
            SELECT
                f.run,
                f.worker,
                f.span,
                arg_max(
                    { 'name': f.name, 'outermost_id': f.outermost_id, 'self_ns': f.self_ns },
                    (f.frames, f.self_ns, f.name)
                ) AS longest
            FROM _functions AS f
            WHERE f.name IS NOT NULL
            GROUP BY f.run, f.worker, f.span
        ) AS l
    ),

    _called AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            l.self_ns,
            f.self_duration_ns,
            unnest(f.library_ids) AS stack_id
        FROM _longest AS l
        INNER JOIN _frames AS f
            ON
                l.run = f.run AND l.worker = f.worker AND l.span = f.span
                AND l.outermost_id = f.outermost_id AND l.name = f.user_frame
        WHERE f.is_in_step
    ),

    _libraries AS (
        SELECT c.run, c.worker, c.span, f.frame, len(f.library_ids) AS depth
        FROM _called AS c
        INNER JOIN _frames AS f
            ON
                c.run = f.run AND c.worker = f.worker AND c.span = f.span
                AND c.stack_id = f.stack_id
        GROUP BY c.run, c.worker, c.span, f.frame, len(f.library_ids), c.self_ns
        HAVING sum(c.self_duration_ns) >= 0.7 * c.self_ns
    )

    SELECT l.run, l.worker, l.span, l.name, max((b.depth, b.frame))[2] AS library_name
    FROM _longest AS l
    LEFT JOIN _libraries AS b
        ON l.run = b.run AND l.worker = b.worker AND l.span = b.span
    GROUP BY l.run, l.worker, l.span, l.name;
