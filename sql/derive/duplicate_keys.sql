-- derive: duplicate_keys
-- since: 0.1
-- summary: How many events of each trace have a key twice, of which the full parse sees one.
--
-- It reads the texts of events from others. They have few different lists of keys.
SELECT k.trace, sum(k.events)::BIGINT AS events
FROM (
    SELECT
        o.trace,
        o.fields,
        o.arguments,
        count(*) AS events
    FROM (
        SELECT
            trace_of(o.event_id) AS trace,
            json_keys(o.text) AS fields,
            json_keys(o.text, '$.args') AS arguments
        FROM others AS o
    ) AS o
    GROUP BY o.trace, o.fields, o.arguments
) AS k
WHERE
    len(k.fields) > len(list_distinct(k.fields))
    OR len(k.arguments) > len(list_distinct(k.arguments))
GROUP BY k.trace
