-- derive: flows
-- since: 0.1
-- summary: Rows of an arrow joined: each end with the start or step before it.
--
-- Almost every arrow is a start, an end, or one of each. Only the others need to be sorted.
CREATE TABLE linked_flows AS
WITH
rows_as_one AS (
    SELECT
        trace_of(f.event_id) AS trace,
        f.raw_category,
        f.flow_id,
        f.phase,
        f.ts_ns,
        f.event_id,
        {
            'event_id': f.event_id, 'phase': f.phase, 'category': f.raw_category, 'name': f.name,
            'flow_id': f.flow_id, 'pid': f.pid, 'tid': f.tid, 'ts_ns': f.ts_ns, 'raw': f.raw
        } AS whole
    FROM raw_flow AS f
),

odd_arrows AS (
    SELECT trace_of(f.event_id) AS trace, f.raw_category, f.flow_id
    FROM raw_flow AS f
    GROUP BY trace_of(f.event_id), f.raw_category, f.flow_id
    HAVING
        f.flow_id IS NULL
        OR count(*) FILTER (WHERE f.phase = 's') > 1
        OR count(*) FILTER (WHERE f.phase = 'f') > 1
        OR bool_or(f.phase = 't')
),

simple AS (
    SELECT r.*
    FROM rows_as_one AS r
    WHERE NOT EXISTS (
        FROM odd_arrows AS o
        WHERE
            r.trace = o.trace
            AND r.raw_category IS NOT DISTINCT FROM o.raw_category
            AND r.flow_id IS NOT DISTINCT FROM o.flow_id
    )
),

rows_in_order AS (
    SELECT
        r.*,
        row_number() OVER chain AS position,
        CASE WHEN r.phase <> 'f' THEN row_number() OVER chain END AS source_position
    FROM rows_as_one AS r
    INNER JOIN odd_arrows AS o
        ON
            r.trace = o.trace
            AND r.raw_category IS NOT DISTINCT FROM o.raw_category
            AND r.flow_id IS NOT DISTINCT FROM o.flow_id
    WINDOW chain AS (
        PARTITION BY r.trace, r.raw_category, r.flow_id
        ORDER BY r.ts_ns, CASE r.phase WHEN 's' THEN 0 WHEN 't' THEN 1 ELSE 2 END, r.event_id
    )
),

-- A target is matched with the latest source before it, or with the first source if all start after it.
targets AS (
    SELECT
        r.*,
        coalesce(
            max(r.source_position) OVER (
                PARTITION BY r.trace, r.raw_category, r.flow_id ORDER BY r.position
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            CASE
                WHEN r.phase = 'f'
                    THEN min(r.source_position) OVER (
                        PARTITION BY r.trace, r.raw_category, r.flow_id
                    )
            END
        ) AS taken
    FROM rows_in_order AS r
),

pairs AS (
    SELECT s.whole AS s, t.whole AS t
    FROM (FROM simple AS r WHERE r.phase = 's') AS s
    FULL JOIN (FROM simple AS r WHERE r.phase = 'f') AS t
        ON
            t.trace = s.trace
            AND t.raw_category IS NOT DISTINCT FROM s.raw_category AND t.flow_id = s.flow_id
    UNION ALL
    SELECT s.whole AS s, t.whole AS t
    FROM (FROM targets AS r WHERE r.phase <> 's') AS t
    LEFT JOIN (FROM targets AS r WHERE r.phase <> 'f') AS s
        ON
            t.trace = s.trace
            AND t.raw_category IS NOT DISTINCT FROM s.raw_category
            AND t.flow_id = s.flow_id
            AND t.taken = s.position
    UNION ALL
    SELECT s.whole AS s, NULL AS t
    FROM (FROM targets AS r WHERE r.phase = 's') AS s
    WHERE NOT EXISTS (
        FROM targets AS t
        WHERE
            t.phase <> 's' AND t.trace = s.trace AND t.taken = s.position
            AND t.raw_category IS NOT DISTINCT FROM s.raw_category
            AND t.flow_id = s.flow_id
    )
)

SELECT
    CASE coalesce(p.s.category, p.t.category)
        WHEN 'ac2g' THEN 'launch'
        WHEN 'async' THEN 'launch'
        WHEN 'async_gpu' THEN 'launch'
        WHEN 'async_cpu_to_gpu' THEN 'launch'
        WHEN 'fwdbwd' THEN 'forward_backward'
        ELSE coalesce(p.s.category, p.t.category)
    END AS kind,
    coalesce(p.s.category, p.t.category) AS category,
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
