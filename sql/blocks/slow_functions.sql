-- block: slow_functions
-- since: 0.2
-- summary: The Python functions in which the host spends most of its time outside of operators and in the data loader.
-- grain: one row per trace with Python frames
-- uses: is_label, is_wanted, library_files
--
-- The time outside of operators is that of stacks in which nothing but Python frames and labels is open, and a step if
-- the trace has steps. It counts for the innermost frame of the user, or for the innermost frame if all are of libraries. Without
-- steps it is that of the frames around which most others ran, because other threads may wait all the time.
--
-- A function of the user may spend that time in a library. So the innermost function of a library is named, too, in
-- which 70 % of it passes; if there is none, a built-in one. Decorators and methods such as __call__ tell little, and are
-- left out.
--
-- The work of a data loader without workers is in the trace. Its functions are the innermost ones in which 70 % of its
-- time passes: one of the user, and one of a library that this one calls.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name                     type     unit  meaning
--   outside_function         VARCHAR  -     Outside of operators, as 'load (train.py:12)'.
--   outside_library          VARCHAR  -     The function of a library in which that one spends its time; NULL if none has 70 % of it.
--   loader_function          VARCHAR  -     In the data loader, of the user; NULL if none has 70 % of the time.
--   loader_library           VARCHAR  -     In the data loader, of a library; NULL if none has 70 % of the time.
--   loader_starts            BIGINT   -     How often an iteration over a data loader began. A loader that does not keep its workers starts them each time.
--   loader_start_us          DOUBLE   us    Time that this takes per step; without steps, in the whole trace.
CREATE MACRO slow_functions(
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
            is_label(s.category, s.name) AS is_label,
            -- A loader with workers waits for them in its annotation, and does no work there.
            starts_with(s.name, 'enumerate(DataLoader)#')
            AND NOT contains(s.name, 'MultiProcessing') AS is_loader,
            s.source_file,
            CASE
                WHEN s.category = 'python_function'
                    THEN s.source_function || ' (' || s.source_file || ':' || s.source_line || ')'
            END AS frame,
            nullif(regexp_extract(s.name, '^<built-in (?:method|function) (\w+)', 1), '')
            || ' (built-in)' AS built_in,
            s.source_function = '_get_iterator'
            AND ends_with(s.source_file, 'torch/utils/data/dataloader.py') AS is_start,
            -- They call a module, a decorated function, an operator or a dataset, and tell nothing about it.
            ends_with(s.source_file, 'torch/nn/modules/module.py')
            OR ends_with(s.source_file, 'torch/utils/_contextlib.py')
            OR ends_with(s.source_file, 'torch/utils/data/_utils/fetch.py')
            OR s.source_function IN ('wrapper', 'wrapped', 'wrapped_func', 'inner', '_next_data')
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
            sum(r.calls) FILTER (WHERE r.is_step) OVER (PARTITION BY r.run, r.worker, r.span)
                AS steps
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
            s.built_in,
            s.user_frame IS NOT NULL AS is_of_user,
            s.is_start,
            s.is_step OR s.steps IS NULL AS is_in_step,
            s.steps,
            s.is_loader AS is_in_loader,
            []::BIGINT[] AS called_ids,
            s.calls,
            s.self_duration_ns
        FROM _stacks AS s
        WHERE
            s.is_loader
            OR (s.outer_stack_id IS NULL AND (s.is_frame OR s.is_step OR s.is_label))
        UNION ALL
        SELECT
            s.run,
            s.worker,
            s.span,
            s.stack_id,
            o.outermost_id,
            coalesce(s.frame, o.frame) AS frame,
            coalesce(s.user_frame, o.user_frame) AS user_frame,
            s.built_in,
            s.user_frame IS NOT NULL AS is_of_user,
            s.is_start,
            o.is_in_step OR s.is_step AS is_in_step,
            s.steps,
            o.is_in_loader,
            CASE
                WHEN s.user_frame IS NOT NULL AND NOT o.is_in_loader THEN []
                WHEN
                    s.user_frame IS NOT NULL
                    OR s.built_in IS NOT NULL
                    OR (s.frame IS NOT NULL AND NOT s.is_wrapper)
                    THEN list_append(o.called_ids, s.stack_id)
                ELSE o.called_ids
            END AS called_ids,
            s.calls,
            s.self_duration_ns
        FROM _open AS o
        INNER JOIN _stacks AS s
            ON
                o.run = s.run AND o.worker = s.worker AND o.span = s.span
                AND o.stack_id = s.outer_stack_id
        WHERE
            NOT s.is_loader
            AND (s.is_frame OR s.is_step OR s.is_label OR o.is_in_loader)
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
        WHERE f.is_in_step AND NOT f.is_in_loader
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

    _loaders AS (
        SELECT f.run, f.worker, f.span, sum(f.self_duration_ns) AS self_ns
        FROM _frames AS f
        WHERE f.is_in_loader
        GROUP BY f.run, f.worker, f.span
    ),

    _called AS (
        SELECT
            l.run,
            l.worker,
            l.span,
            FALSE AS is_in_loader,
            l.self_ns,
            f.self_duration_ns,
            unnest(f.called_ids) AS stack_id
        FROM _longest AS l
        INNER JOIN _frames AS f
            ON
                l.run = f.run AND l.worker = f.worker AND l.span = f.span
                AND l.outermost_id = f.outermost_id AND l.name = f.user_frame
        WHERE f.is_in_step
        UNION ALL
        SELECT
            l.run,
            l.worker,
            l.span,
            TRUE,
            l.self_ns,
            f.self_duration_ns,
            unnest(f.called_ids)
        FROM _loaders AS l
        INNER JOIN _frames AS f ON l.run = f.run AND l.worker = f.worker AND l.span = f.span
        WHERE f.is_in_loader
    ),

    _most AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.is_in_loader,
            f.is_of_user,
            f.built_in IS NULL AS has_source,
            coalesce(f.built_in, f.frame) AS name,
            len(f.called_ids) AS depth
        FROM _called AS c
        INNER JOIN _frames AS f
            ON
                c.run = f.run AND c.worker = f.worker AND c.span = f.span
                AND c.stack_id = f.stack_id
        GROUP BY
            c.run,
            c.worker,
            c.span,
            c.is_in_loader,
            c.self_ns,
            f.is_of_user,
            f.built_in,
            coalesce(f.built_in, f.frame),
            len(f.called_ids)
        HAVING sum(c.self_duration_ns) >= 0.7 * c.self_ns
    ),

    _innermost AS (
        SELECT
            m.run,
            m.worker,
            m.span,
            max((m.has_source, m.depth, m.name)) FILTER (WHERE NOT m.is_in_loader) AS outside,
            max((m.depth, m.name)) FILTER (WHERE m.is_of_user) AS of_user,
            max((m.has_source, m.depth, m.name)) FILTER (
                WHERE m.is_in_loader AND m.depth > m.user_depth
            ) AS of_library
        FROM (
            SELECT
                m.*,
                coalesce(
                    max(m.depth) FILTER (WHERE m.is_of_user)
                        OVER (PARTITION BY m.run, m.worker, m.span),
                    0
                ) AS user_depth
            FROM _most AS m
        ) AS m
        GROUP BY m.run, m.worker, m.span
    ),

    _starts AS (
        SELECT
            s.run,
            s.worker,
            s.span,
            sum(f.calls) FILTER (WHERE s.stack_id = f.stack_id) AS starts,
            sum(f.self_duration_ns) / coalesce(any_value(f.steps), 1) / 1000.0 AS start_us
        FROM _frames AS s
        INNER JOIN _frames AS f
            ON
                s.run = f.run AND s.worker = f.worker AND s.span = f.span
                AND list_contains(f.called_ids, s.stack_id)
        WHERE s.is_start AND s.is_in_step
        GROUP BY s.run, s.worker, s.span
    )

    SELECT
        t.run,
        t.worker,
        t.span,
        l.name AS outside_function,
        i.outside[3] AS outside_library,
        i.of_user[2] AS loader_function,
        i.of_library[3] AS loader_library,
        coalesce(b.starts, 0)::BIGINT AS loader_starts,
        coalesce(b.start_us, 0) AS loader_start_us
    FROM (
        SELECT DISTINCT f.run, f.worker, f.span
        FROM _frames AS f
        WHERE f.frame IS NOT NULL
    ) AS t
    LEFT JOIN _longest AS l ON t.run = l.run AND t.worker = l.worker AND t.span = l.span
    LEFT JOIN _innermost AS i ON t.run = i.run AND t.worker = i.worker AND t.span = i.span
    LEFT JOIN _starts AS b ON t.run = b.run AND t.worker = b.worker AND t.span = b.span;
