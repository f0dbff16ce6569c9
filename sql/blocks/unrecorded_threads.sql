-- block: unrecorded_threads
-- since: 0.2
-- summary: Traces with kernels of PyTorch that threads without recorded operators launched.
-- grain: one row per trace with such a kernel
-- uses: is_wanted
--
-- The PyTorch profiler records the operators of the thread that starts it, and those of their backward pass. It records
-- the launches of all threads. A kernel of the name space at::native comes from an operator of PyTorch. Kernels of other
-- libraries need no operator, and the threads of Gloo or NCCL have none. Nor has a launch of a graph.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   name     type    unit  meaning
--   threads  BIGINT  -     Number of such threads.
--   kernels  BIGINT  -     Number of kernels of at::native that they launched.
CREATE MACRO unrecorded_threads(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    -- In most traces there is none.
    _kernels AS MATERIALIZED (
        SELECT d.run, d.worker, d.span, d.launch_id
        FROM device_events AS d
        WHERE
            d.kind = 'compute'
            AND d.op_id IS NULL
            AND d.launch_id IS NOT NULL
            AND contains(d.name, 'at::native::')
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    ),

    _launches AS (
        SELECT h.run, h.worker, h.span, h.pid, h.tid
        FROM host_events AS h
        INNER JOIN _kernels AS k
            ON
                h.run = k.run AND h.worker = k.worker AND h.span = k.span
                AND h.event_id = k.launch_id
        WHERE
            NOT contains(h.name, 'Graph')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _recorded AS MATERIALIZED (
        SELECT DISTINCT h.run, h.worker, h.span, h.pid, h.tid
        FROM host_events AS h
        SEMI JOIN _kernels AS k
            ON h.run = k.run AND h.worker = k.worker AND h.span = k.span
        WHERE
            h.category = 'cpu_op'
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    )

    SELECT
        l.run,
        l.worker,
        l.span,
        count(DISTINCT { 'pid': l.pid, 'tid': l.tid }) AS threads,
        count(*) AS kernels
    FROM _launches AS l
    -- Without any operator in the trace, the host was not recorded.
    SEMI JOIN _recorded AS t
        ON l.run = t.run AND l.worker = t.worker AND l.span = t.span
    ANTI JOIN _recorded AS r
        ON
            l.run = r.run AND l.worker = r.worker AND l.span = r.span
            AND l.pid = r.pid AND l.tid = r.tid
    GROUP BY l.run, l.worker, l.span;
