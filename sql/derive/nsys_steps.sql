-- derive: nsys_steps
-- since: 0.1
-- summary: The ranges of an Nsight Systems export that are steps, named as Kineto names steps.
--
-- Of the ranges whose names say so, those of one thread and one kind of name are steps: the ones that take the
-- most time. Their number is the one in the name, or else their place in time. The name as it was written
-- stays in args.
CREATE TABLE nsys_steps AS
WITH
-- There are few names and many ranges.
names AS (
    SELECT d.name
    FROM (SELECT DISTINCT h.name FROM raw_host AS h WHERE is_op_category(h.category)) AS d
    WHERE is_step(d.name)
),

named AS (
    SELECT
        h.event_id,
        h.tid,
        h.name,
        h.args,
        h.ts_ns,
        h.dur_ns,
        nsys_step_kind(h.name) AS kind,
        try_cast(nullif(regexp_extract(h.name, '\d+'), '') AS BIGINT) AS number
    FROM raw_host AS h
    SEMI JOIN names AS d ON h.name = d.name
    WHERE is_op_category(h.category)
),

chosen AS (
    SELECT n.tid, n.kind
    FROM named AS n
    GROUP BY n.tid, n.kind
    ORDER BY sum(n.dur_ns) DESC, count(*), n.tid, n.kind ASC
    LIMIT 1
)

SELECT
    n.event_id,
    'ProfilerStep#' || CASE
        WHEN
            count(n.number) OVER () = count(*) OVER ()
            AND (
                SELECT count(DISTINCT m.number)
                FROM named AS m
                SEMI JOIN chosen AS c ON m.tid = c.tid AND m.kind = c.kind
            )
            = count(*) OVER ()
            THEN n.number
        ELSE row_number() OVER (ORDER BY n.ts_ns, n.event_id) - 1
    END AS name,
    CASE
        WHEN NOT starts_with(n.name, 'ProfilerStep#')
            THEN json_merge_patch(coalesce(n.args, '{}'), json_object('range', n.name))
        ELSE n.args
    END AS args
FROM named AS n
SEMI JOIN chosen AS o ON n.tid = o.tid AND n.kind = o.kind;

UPDATE raw_host SET category = 'user_annotation', name = s.name, args = s.args
FROM nsys_steps AS s
WHERE raw_host.event_id = s.event_id;
