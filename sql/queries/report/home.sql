-- The runs of the home page, the latest first: what the small tables tell, without the tables of events.
-- step_history_us has the mean steps of up to 30 runs: this one, and those before it whose names differ from
-- its name in digits only.
WITH
files AS (
    SELECT
        t.run,
        count(*) AS traces,
        count(DISTINCT t.worker) AS workers,
        max(t.world_size) AS world_size,
        min(t.start_ns) FILTER (WHERE has_epoch(t.skipped_reasons)) AS first_ns,
        max(t.end_ns) FILTER (WHERE has_epoch(t.skipped_reasons)) AS last_ns
    FROM traces AS t
    GROUP BY t.run
),

mean_steps AS (
    SELECT
        s.run,
        avg(s.extended_end_ns - s.extended_start_ns) / 1000 AS mean_step_us
    FROM steps AS s
    WHERE s.step IS NOT NULL AND NOT s.is_tail
    GROUP BY s.run
),

named_devices AS (
    SELECT d.run, string_agg(DISTINCT d.name, ', ' ORDER BY d.name) AS gpus
    FROM devices AS d
    GROUP BY d.run
),

known AS (
    SELECT
        f.run,
        f.first_ns,
        f.last_ns,
        n.gpus,
        f.workers,
        f.world_size,
        f.traces,
        m.mean_step_us,
        regexp_replace(f.run, '[0-9]+', '0', 'g') AS history_name
    FROM files AS f
    LEFT JOIN mean_steps AS m ON f.run = m.run
    LEFT JOIN named_devices AS n ON f.run = n.run
)

SELECT
    k.run,
    k.first_ns // 1000000 AS first_ms,
    k.gpus,
    k.workers,
    k.world_size,
    k.traces,
    k.mean_step_us,
    list(k.mean_step_us) FILTER (WHERE k.mean_step_us IS NOT NULL) OVER (
        PARTITION BY k.history_name
        ORDER BY k.first_ns ASC NULLS LAST, k.run ASC
        ROWS BETWEEN 29 PRECEDING AND CURRENT ROW
    ) AS step_history_us
FROM known AS k
ORDER BY k.last_ns DESC NULLS LAST, k.run ASC;
