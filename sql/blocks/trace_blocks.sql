-- block: trace_blocks
-- since: 0.1
-- summary: Events of a trace that are blocks of its timeline, as one list.
-- grain: one row per block
-- uses: first_trace, module_backwards
--
-- Blocks are profiler steps, calls of the data loader and of optimizers (step, zero_grad), module calls
-- (frames of nn.Module, or rows of PyTorch Lightning), and annotations of the user. All of them are on one
-- thread: the one with the most steps, or else the one whose blocks have the longest total time. The
-- backward passes and the modules' parts of them (module_backwards) are added, whichever thread they ran on.
--
-- What torch wraps around a model is no block if the model itself is recorded: of OptimizedModule (torch.compile),
-- DistributedDataParallel, DataParallel and FullyShardedDataParallel, only the modules inside are. So a compiled or
-- distributed model has the blocks of the plain one.
--
-- params
--   run, worker, span
-- columns
--   id             BIGINT   key   Number in order of the starts, from 1, outer blocks first.
--   kind           VARCHAR  -     'step', 'dataloader', 'module', 'backward', 'optimizer' or 'annotation'.
--   name           VARCHAR  -     Name without the parts that identify instances: 'ProfilerStep', 'DataLoader', 'Linear', 'Linear.backward'.
--   recorded_name  VARCHAR  -     Name as the profiler wrote it; NULL if it wrote none.
--   start_ns       BIGINT   ns    Start.
--   end_ns         BIGINT   ns    End.
CREATE MACRO trace_blocks(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _named AS MATERIALIZED (
        SELECT
            h.event_id,
            CASE
                WHEN h.python_module_id IS NOT NULL OR starts_with(h.name, '[pl][module]')
                    THEN 'module'
                WHEN starts_with(h.name, 'ProfilerStep#') THEN 'step'
                WHEN
                    starts_with(h.name, 'enumerate(DataLoader)#')
                    OR starts_with(h.name, 'enumerate(DataPipe)#')
                    THEN 'dataloader'
                WHEN starts_with(h.name, 'Optimizer.') THEN 'optimizer'
                WHEN
                    h.category = 'user_annotation'
                    OR h.name IN ('DataParallel.forward', 'DistributedDataParallel.forward')
                    THEN 'annotation'
            END AS kind,
            regexp_matches(
                h.name,
                '^nn\.Module: (OptimizedModule|DistributedDataParallel|DataParallel'
                || '|FullyShardedDataParallel)_\d+$'
                || '|^(DataParallel|DistributedDataParallel)\.forward$'
            ) AS is_wrapper,
            h.name,
            h.pid || chr(0) || h.tid AS thread,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            h.depth
        FROM host_events AS h
        INNER JOIN first_trace(run, worker, span) AS t
            ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
        WHERE
            h.run = run
            AND (
                h.category IN ('user_annotation', 'cpu_op') OR h.python_module_id IS NOT NULL
            )
    ),

    _wrappers AS (
        SELECT n.event_id
        FROM _named AS n
        ASOF INNER JOIN (
            SELECT m.thread, m.start_ns
            FROM _named AS m
            WHERE m.kind = 'module' AND NOT m.is_wrapper
        ) AS m ON n.thread = m.thread AND n.start_ns <= m.start_ns
        WHERE n.is_wrapper AND m.start_ns < n.end_ns
    ),

    _timeline_calls AS MATERIALIZED (
        SELECT
            n.event_id,
            n.kind,
            CASE
                WHEN n.kind = 'step' THEN 'ProfilerStep'
                WHEN n.kind = 'dataloader' THEN regexp_extract(n.name, '\((\w+)\)', 1)
                WHEN n.kind = 'optimizer' THEN split_part(n.name, '#', 1)
                WHEN starts_with(n.name, '[pl][module]')
                    THEN regexp_replace(n.name, '^\[pl\]\[module\](.*?: )?', '')
                WHEN n.kind = 'module'
                    THEN regexp_extract(n.name, '^(?:nn\.Module: )?(.*?)(?:_\d+)?$', 1)
                ELSE n.name
            END AS name,
            n.name AS recorded_name,
            n.thread,
            n.start_ns,
            n.end_ns,
            n.depth
        FROM _named AS n
        ANTI JOIN _wrappers AS w ON n.event_id = w.event_id
        WHERE
            n.kind IS NOT NULL
            AND n.thread = (
                SELECT m.thread
                FROM _named AS m
                WHERE m.kind IS NOT NULL
                GROUP BY m.thread
                ORDER BY
                    count(*) FILTER (WHERE m.kind = 'step') DESC,
                    sum(m.end_ns - m.start_ns) DESC,
                    m.thread ASC
                LIMIT 1
            )
    )

    SELECT
        row_number() OVER (
            ORDER BY b.start_ns ASC, b.end_ns DESC, b.depth ASC, b.event_id ASC
        ) AS id,
        b.kind,
        b.name,
        b.recorded_name,
        b.start_ns,
        b.end_ns
    FROM (
        SELECT
            c.event_id,
            c.kind,
            c.name,
            c.recorded_name,
            c.start_ns,
            c.end_ns,
            c.depth
        FROM _timeline_calls AS c
        UNION ALL
        SELECT
            NULL,
            'backward',
            m.name,
            NULL,
            m.start_ns,
            m.end_ns,
            (1 << 30) + m.level
        FROM module_backwards('_timeline_calls', run, worker, span) AS m
    ) AS b;
