-- derive: launches
-- since: 0.1
-- summary: Kind of each device event, the call that launched it, and the operator that made the call.
--
-- Without a call (`launched`), the operator is the host event with the same external id.
--
-- CUPTI counters of tensor-core instructions take precedence over kernel names, for every kernel of the
-- same name. A kernel whose name does not tell its kind is communication if the nearest operator around its
-- launch is a collective. Kernels of such an operator with a known name keep the kind of the name (flattening
-- and copying are compute work as elsewhere), and copies stay copies.
--
-- All patterns with the same meaning are combined into one expression. A variable is a constant to a query,
-- so each expression is compiled once.
SET VARIABLE names_that_say = (
    SELECT map_from_entries(list((e.says, e.expression)))
    FROM (
        SELECT p.says, string_agg(p.pattern, '|') AS expression
        FROM kernel_patterns() AS p
        GROUP BY p.says
    ) AS e
);

-- In several statements, so that only one large hash table is needed at a time.
CREATE TABLE launchers AS
SELECT l.event_id, l.launch_id, o.op_id
FROM launched AS l
INNER JOIN host_links AS o ON l.launch_id = o.event_id;

-- The operators of device events that no call launched.
CREATE TABLE external_launchers AS
WITH
unlaunched AS MATERIALIZED (
    SELECT trace_of(r.event_id) AS trace, r.event_id, r.external_id
    FROM raw_device AS r
    ANTI JOIN launched AS l ON r.event_id = l.event_id
    WHERE r.external_id IS NOT NULL
),

named AS (
    SELECT u.trace, u.external_id, min(h.event_id) AS op_id
    FROM (SELECT DISTINCT n.trace, n.external_id FROM unlaunched AS n) AS u
    INNER JOIN raw_host AS h
        ON
            u.trace = trace_of(h.event_id) AND u.external_id = h.external_id
            AND is_op_category(h.category)
    GROUP BY u.trace, u.external_id
)

SELECT u.event_id, n.op_id
FROM unlaunched AS u
INNER JOIN named AS n ON u.trace = n.trace AND u.external_id = n.external_id;

-- The operators that the source names itself.
CREATE TABLE named_callers AS
SELECT k.event_id, o.op_id
FROM raw_link AS k
INNER JOIN host_links AS o ON k.caller_id = o.event_id;

INSERT INTO device_links
WITH
counted AS (
    SELECT
        trace_of(c.event_id) AS trace,
        c.name,
        CASE
            WHEN bool_or(try_cast(c.value AS DOUBLE) > 0) THEN TRUE
            -- No operations of one type, or no instructions of one kind, tell nothing about the others.
            WHEN bool_or(NOT regexp_matches(c.counter, 'mma|_src_')) THEN FALSE
        END AS uses_tensor_cores
    FROM (
        -- Two lists, as in out_counters.
        SELECT
            d.event_id,
            d.name,
            unnest(json_keys(d.args)) AS counter,
            unnest(json_extract(d.args, '$.*')) AS value
        FROM raw_device AS d
        WHERE d.category = 'cuda_profiler_range'
    ) AS c
    WHERE
        regexp_matches(c.counter, 'pipe_tensor|ops_path_tensor|op_[hidqbo]mma')
        -- The peak of the device, and not of the kernel.
        AND NOT contains(c.counter, '.peak_sustained')
        AND try_cast(c.value AS DOUBLE) IS NOT NULL
    GROUP BY trace_of(c.event_id), c.name
),

-- The kind of a device event from its texts: there are few texts and many events.
words AS (
    SELECT
        d.category,
        d.name,
        d.collective,
        d.kind,
        CASE
            WHEN d.category = 'kernel'
                THEN
                    coalesce(
                        uses_tensor_cores(d.name), CASE WHEN d.kind <> 'compute' THEN FALSE END
                    )
        END AS uses_tensor_cores
    FROM (
        SELECT
            n.category,
            n.name,
            n.collective,
            device_kind(n.category, n.name, n.collective) AS kind
        FROM (SELECT DISTINCT r.category, r.name, r.collective FROM raw_device AS r) AS n
    ) AS d
)

SELECT
    d.event_id,
    w.kind,
    coalesce(c.uses_tensor_cores, w.uses_tensor_cores) AS uses_tensor_cores,
    l.launch_id,
    coalesce(n.op_id, l.op_id, x.op_id) AS op_id
FROM (
    SELECT r.rowid AS place, r.event_id, r.category, r.name, r.collective FROM raw_device AS r
) AS d
LEFT JOIN words AS w
    ON
        d.category IS NOT DISTINCT FROM w.category
        AND d.name IS NOT DISTINCT FROM w.name
        AND d.collective IS NOT DISTINCT FROM w.collective
LEFT JOIN counted AS c
    ON d.category = 'kernel' AND trace_of(d.event_id) = c.trace AND d.name = c.name
LEFT JOIN launchers AS l ON d.event_id = l.event_id
LEFT JOIN external_launchers AS x ON d.event_id = x.event_id
LEFT JOIN named_callers AS n ON d.event_id = n.event_id
-- In the order of raw_device, so that the two can be read side by side.
ORDER BY d.place;

-- Kernels whose names do not tell their kind, and what launched them.
CREATE TABLE unclear_kernels AS
SELECT d.event_id, h.name AS operator
FROM (
    SELECT l.event_id, l.op_id
    FROM raw_device AS r
    POSITIONAL JOIN device_links AS l
    WHERE r.category = 'kernel' AND l.kind = 'compute' AND l.uses_tensor_cores IS NULL
) AS d
INNER JOIN raw_host AS h ON d.op_id = h.event_id;

UPDATE device_links SET kind = 'communication', uses_tensor_cores = FALSE
WHERE
    device_links.event_id IN (
        SELECT u.event_id
        FROM unclear_kernels AS u
        WHERE regexp_matches(u.operator, getvariable('names_that_say')['communication_operator'])
    );

DROP TABLE unclear_kernels;
DROP TABLE launched;
DROP TABLE launchers;
DROP TABLE external_launchers;
DROP TABLE named_callers;
