-- derive: event_columns
-- since: 0.1
-- summary: The fields of events as columns, and the kind of each event.
--
-- It reads the texts of events from others. A field that a column cannot give back exactly stays in raw,
-- so that an event can be rebuilt as it was.
WITH parsed AS (
    SELECT
        p.event_id,
        p.text,
        -- Where the field stands in nearly every file; exact_nanoseconds makes sure.
        ltrim(split_part(substr(p.text, instr(p.text, '"ts":') + 5, 40), ',', 1)) AS ts_text,
        from_json(
            p.text,
            '{"ph":"VARCHAR","cat":"VARCHAR","name":"VARCHAR","pid":"VARCHAR",
              "tid":"VARCHAR","ts":"DOUBLE","dur":"DOUBLE","id":"BIGINT","args":"JSON",
              "bp":"JSON","s":"JSON"}'
        ) AS f,
        json_type(
            p.text,
            ['$.ph', '$.cat', '$.name', '$.pid', '$.tid', '$.ts', '$.dur', '$.args', '$.id']
        ) AS kinds,
        len(json_keys(p.text)) AS keys
    FROM others AS p
),

typed AS (
    SELECT
        p.event_id,
        p.text,
        p.ts_text,
        p.f,
        p.keys,
        p.kinds[1] AS ph_kind,
        p.kinds[2] AS cat_kind,
        p.kinds[3] AS name_kind,
        p.kinds[4] AS pid_kind,
        p.kinds[5] AS tid_kind,
        p.kinds[6] AS ts_kind,
        p.kinds[7] AS dur_kind,
        p.kinds[8] AS args_kind,
        p.kinds[9] AS id_kind
    FROM parsed AS p
),

timed AS (
    SELECT
        t.*,
        current_category(t.f.cat, t.f.name) AS category,
        CASE
            WHEN NOT is_time(t.f.ts) THEN NULL
            WHEN is_whole_kind(t.ts_kind) THEN t.f.ts::BIGINT * 1000
            WHEN t.ts_kind = 'DOUBLE' THEN exact_nanoseconds(t.text, t.ts_text, t.f.ts)
            WHEN t.ts_kind = 'VARCHAR' THEN nanoseconds(trim(json_extract_string(t.text, '$.ts')))
        END AS ts_ns,
        -- A negative length is none; raw keeps it.
        greatest(
            CASE
                WHEN NOT is_duration(t.f.dur) THEN NULL
                WHEN t.dur_kind IN ('DOUBLE', 'UBIGINT', 'BIGINT')
                    THEN rounded_duration(t.text, t.ts_text, t.f.ts, ts_ns, t.f.dur)
                WHEN t.dur_kind = 'VARCHAR'
                    THEN nanoseconds(trim(json_extract_string(t.text, '$.dur')))
            END,
            CASE WHEN t.f.dur < 0 THEN 0 END
        ) AS dur_ns
    FROM typed AS t
),

placed AS (
    SELECT
        t.*,
        are_exact(t.ts_ns, t.f.ts) AND t.ts_kind <> 'VARCHAR' AS ts_exact,
        are_exact(t.dur_ns, t.f.dur) AND t.dur_kind <> 'VARCHAR' AND t.f.dur >= 0 AS dur_exact,
        event_table(
            t.f.ph, t.category, t.f.name, t.ts_ns IS NOT NULL AND t.dur_ns IS NOT NULL,
            json_exists(t.f.args, '$.stream')
        ) AS tbl
    FROM timed AS t
),

-- Nearly every event has one of these shapes; checking for them first saves the long way.
shaped AS (
    SELECT
        t.*,
        t.ph_kind = 'VARCHAR' AND t.cat_kind = 'VARCHAR' AND t.name_kind = 'VARCHAR'
        AND is_whole_kind(t.pid_kind) AND t.ts_exact AS is_usual,
        t.keys = 8 AND t.tbl IN ('host', 'device') AND t.dur_exact
        AND t.args_kind = 'OBJECT' AS is_complete
    FROM placed AS t
)

SELECT
    t.event_id,
    t.tbl,
    t.f.ph AS phase,
    t.category,
    t.f.cat AS raw_category,
    t.f.name,
    t.f.pid,
    t.f.tid,
    t.ts_ns,
    t.dur_ns,
    t.f.id AS flow_id,
    CASE WHEN t.args_kind = 'OBJECT' THEN t.f.args END AS args,
    CASE
        WHEN t.is_complete AND t.is_usual AND is_whole_kind(t.tid_kind) THEN NULL
        WHEN
            t.keys IN (7, 8) AND t.tbl = 'flow' AND t.is_usual AND is_whole_kind(t.tid_kind)
            AND is_whole_kind(t.id_kind) AND t.f.id IS NOT NULL
            AND (t.keys = 7 OR t.f.bp = '"e"')
            THEN CASE WHEN t.keys = 8 THEN '{"bp":"e"}' END
        WHEN
            t.keys = 7 + (t.cat_kind IS NOT NULL)::INTEGER AND t.tbl = 'memory' AND t.f.ph = 'i'
            AND t.ts_exact AND is_whole_kind(t.pid_kind) AND is_whole_kind(t.tid_kind)
            AND coalesce(t.cat_kind = 'VARCHAR', TRUE) AND t.args_kind = 'OBJECT'
            AND t.f.s = '"t"'
            THEN '{"s":"t"}'
        -- In 2021 every thread was written as text.
        WHEN t.is_complete AND t.is_usual AND t.tid_kind = 'VARCHAR' AND is_whole_number(t.f.tid)
            THEN '{"tid":' || to_json(t.f.tid)::VARCHAR || '}'
        ELSE fields_left(
            t.text,
            t.keys,
            ph := t.ph_kind = 'VARCHAR' AND (t.tbl <> 'memory' OR t.f.ph = 'i'),
            cat := t.cat_kind = 'VARCHAR',
            name := t.name_kind = 'VARCHAR',
            pid := holds_place(t.pid_kind, t.f.pid),
            tid := holds_place(t.tid_kind, t.f.tid) AND t.tbl <> 'counter',
            ts := t.ts_exact,
            dur := t.dur_exact AND t.tbl IN ('host', 'device', 'other'),
            args := t.args_kind = 'OBJECT' AND t.tbl <> 'flow',
            id := is_whole_kind(t.id_kind) AND t.f.id IS NOT NULL AND t.tbl = 'flow'
        )
    END AS raw,
    t.text
FROM shaped AS t
