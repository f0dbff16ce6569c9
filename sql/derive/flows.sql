-- derive: flows
-- since: 0.1
-- summary: The rows of an arrow brought together: each end with the start or step before it.
CREATE TEMP TABLE linked_flows AS
WITH
rows_in_order AS (
    SELECT
        f.*,
        row_number() OVER chain AS position,
        CASE WHEN f.phase <> 'f' THEN row_number() OVER chain END AS source_position
    FROM raw_flow AS f
    WINDOW chain AS (
        PARTITION BY f.raw_category, f.flow_id
        ORDER BY f.ts_ns, CASE f.phase WHEN 's' THEN 0 WHEN 't' THEN 1 ELSE 2 END, f.event_id
    )
),

-- A target takes the latest source before it; where all come after it, the first one.
targets AS (
    SELECT
        r.*,
        coalesce(
            max(r.source_position) OVER (
                PARTITION BY r.raw_category, r.flow_id ORDER BY r.position
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            CASE
                WHEN r.phase = 'f'
                    THEN min(r.source_position) OVER (PARTITION BY r.raw_category, r.flow_id)
            END
        ) AS taken
    FROM rows_in_order AS r
),

pairs AS (
    SELECT t, s
    FROM (FROM targets AS r WHERE r.phase <> 's') AS t
    LEFT JOIN (FROM targets AS r WHERE r.phase <> 'f') AS s
        ON
            t.raw_category IS NOT DISTINCT FROM s.raw_category
            AND t.flow_id = s.flow_id
            AND t.taken = s.position
    UNION ALL
    SELECT NULL, s
    FROM (FROM targets AS r WHERE r.phase = 's') AS s
    WHERE NOT EXISTS (
        FROM targets AS t
        WHERE
            t.phase <> 's' AND t.taken = s.position
            AND t.raw_category IS NOT DISTINCT FROM s.raw_category
            AND t.flow_id = s.flow_id
    )
)

SELECT
    CASE coalesce(p.s.raw_category, p.t.raw_category)
        WHEN 'ac2g' THEN 'launch'
        WHEN 'async' THEN 'launch'
        WHEN 'async_gpu' THEN 'launch'
        WHEN 'async_cpu_to_gpu' THEN 'launch'
        WHEN 'fwdbwd' THEN 'forward_backward'
        ELSE coalesce(p.s.raw_category, p.t.raw_category)
    END AS kind,
    coalesce(p.s.raw_category, p.t.raw_category) AS category,
    coalesce(p.s.name, p.t.name) AS name,
    coalesce(p.s.flow_id, p.t.flow_id) AS flow_id,
    p.s.event_id AS source_event_id,
    p.t.event_id AS target_event_id,
    p.s.pid AS source_pid,
    p.s.tid AS source_tid,
    p.s.ts_ns AS source_ns,
    p.t.pid AS target_pid,
    p.t.tid AS target_tid,
    p.t.ts_ns AS target_ns,
    flow_rest(p.s.phase, p.s.name, coalesce(p.s.name, p.t.name), p.s.raw) AS source_rest,
    flow_rest(p.t.phase, p.t.name, coalesce(p.s.name, p.t.name), p.t.raw) AS target_rest
FROM pairs AS p;  -- noqa: AL05
