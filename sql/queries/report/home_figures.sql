-- The figures of the home page that take longer, of the runs whose files are open: the means over the traces of
-- a run, and its highest peak of memory, on the devices or else on the host.
WITH
busy AS (
    SELECT g.run, avg(g.gpu_utilization_pct) AS gpu_busy_pct
    FROM gpu_summary() AS g
    GROUP BY g.run
),

-- Traces without a collective have no figure.
communicating AS (
    SELECT o.run, o.worker, o.span
    FROM comm_overlap() AS o
    WHERE o.step IS NULL AND o.overlap_pct IS NOT NULL
),

communication AS (
    SELECT b.run, avg(b.mean_us) AS exposed_communication_us
    FROM step_breakdown_summary() AS b
    SEMI JOIN communicating AS c ON b.run = c.run AND b.worker = c.worker AND b.span = c.span
    WHERE b.category = 'communication'
    GROUP BY b.run
),

-- Serving steps, as the verdict has them: without waits for work that is not in the trace.
served AS (
    SELECT
        v.run,
        avg(v.mean_us) AS mean_step_us,
        avg(percentage(v.mean_busy_us, v.mean_us)) AS gpu_busy_pct
    FROM serving_verdict() AS v
    ANTI JOIN (
        SELECT DISTINCT p.run
        FROM steps AS p
        WHERE starts_with(p.name, 'ProfilerStep#')
    ) AS p ON v.run = p.run
    GROUP BY v.run
),

peaks AS (
    SELECT
        m.run,
        coalesce(
            nullif(max(m.allocated_bytes) FILTER (WHERE m.device <> 'cpu'), 0),
            nullif(max(m.allocated_bytes), 0)
        ) AS peak_memory_bytes,
        bool_and(m.device = 'cpu') AS is_host_memory
    FROM memory_curve() AS m
    GROUP BY m.run
)

SELECT
    r.run,
    s.mean_step_us,
    coalesce(s.gpu_busy_pct, b.gpu_busy_pct) AS gpu_busy_pct,
    c.exposed_communication_us,
    p.peak_memory_bytes,
    p.is_host_memory
FROM (SELECT DISTINCT t.run FROM traces AS t) AS r
LEFT JOIN busy AS b ON r.run = b.run
LEFT JOIN served AS s ON r.run = s.run
LEFT JOIN communication AS c ON r.run = c.run
LEFT JOIN peaks AS p ON r.run = p.run
ORDER BY r.run;
