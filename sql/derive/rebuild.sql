-- derive: rebuild
-- since: 0.1
-- summary: Macros that rebuild an event as JSON text.

-- "key":value, or NULL where there is no value. SQL NULL becomes JSON null in to_json.
CREATE MACRO member(key, value) AS
    CASE
        WHEN value IS NOT NULL AND value::VARCHAR <> 'null' THEN to_json(key) || ':' || value::VARCHAR
    END;

-- A process or thread: numbers are written as numbers unless raw holds them as text.
CREATE MACRO place(text) AS
    CASE WHEN is_whole_number(text) THEN text ELSE to_json(text)::VARCHAR END;

-- Whole nanoseconds as microseconds with as many decimals as needed. Builds of March 2024 wrote the
-- decimals without leading zeros.
CREATE MACRO microseconds(ns) AS
    CASE
        WHEN ns % 1000 = 0 THEN (ns // 1000)::VARCHAR
        ELSE
            CASE WHEN ns < 0 THEN '-' ELSE '' END || (abs(ns) // 1000) || '.'
            || CASE
                WHEN getvariable('unpadded') THEN (abs(ns) % 1000)::VARCHAR
                ELSE lpad((abs(ns) % 1000)::VARCHAR, 3, '0')
            END
    END;

CREATE MACRO object_of(members) AS '{' || array_to_string(members, ',') || '}';

-- The keys of an object, each with null: as a merge patch, this removes them from another object.
CREATE MACRO without_keys_of(object) AS
    object_of(list_transform(json_keys(object), lambda k: to_json(k) || ':null'));

-- An object as text that can be appended to the members of another object.
CREATE MACRO behind(object) AS
    CASE
        WHEN object IS NULL OR object::VARCHAR = '{}' THEN ''
        ELSE ',' || substr(object::VARCHAR, 2, length(object::VARCHAR) - 2)
    END;

CREATE MACRO present(members) AS list_filter(members, lambda m: m IS NOT NULL);

-- The fields of an event; those in raw replace the fields from columns. Members stay text throughout,
-- because a JSON function would convert the times to doubles.
CREATE MACRO overlaid(members, raw) AS
    CASE
        WHEN raw IS NULL THEN object_of(members)
        ELSE
            '{' || substr(
                array_to_string(
                    list_transform(
                        list_filter(
                            members,
                            lambda m: NOT list_contains(json_keys(raw), m[2:instr(m, '":') - 1])
                        ),
                        lambda m: ',' || m
                    ),
                    ''
                ) || behind(raw),
                2
            ) || '}'
    END;

-- The arguments; NULL if the event had none. A null in args for a key that is also a member is only the
-- marker that the value was stored under that key.
CREATE MACRO rebuilt_args(members, args) AS
    CASE
        WHEN len(members) = 0 THEN args::VARCHAR
        WHEN args IS NULL THEN object_of(members)
        ELSE
            '{' || array_to_string(members, ',')
            || behind(merged_as_written(args::VARCHAR, without_keys_of(object_of(members)))) || '}'
    END;

CREATE MACRO rebuilt_flows() AS TABLE
    SELECT r.event_id, overlaid(r.members, r.rest) AS text
    FROM (
        SELECT
            e.event_id,
            CASE
                WHEN e.rest IS NOT NULL THEN merged_as_written(e.rest, '{"no_name":null}')
            END AS rest,
            present([
                member('ph', to_json(e.phase)),
                member('cat', to_json(e.category)),
                CASE
                    WHEN NOT coalesce(json_exists(e.rest, '$.no_name'), false)
                        THEN member('name', to_json(e.name))
                END,
                member('id', to_json(e.flow_id)),
                member('pid', place(e.pid)),
                member('tid', place(e.tid)),
                member('ts', microseconds(e.ns - getvariable('base_ns')))
            ]) AS members
        FROM (
            SELECT
                f.source_event_id AS event_id, 's' AS phase, f.category, f.name, f.flow_id,
                f.source_pid AS pid, f.source_tid AS tid, f.source_ns AS ns,
                extracted_as_written(f.raw, '$.source') AS rest
            FROM flows AS f
            WHERE f.source_event_id IS NOT NULL
            UNION ALL
            SELECT
                f.target_event_id, 'f', f.category, f.name, f.flow_id, f.target_pid, f.target_tid,
                f.target_ns, extracted_as_written(f.raw, '$.target')
            FROM flows AS f
            WHERE f.target_event_id IS NOT NULL
        ) AS e
        -- A start with several ends is in several rows; a step is both an end and a start.
        QUALIFY row_number() OVER (PARTITION BY e.event_id) = 1
    ) AS r;

CREATE MACRO rebuilt_counter_samples() AS TABLE
    SELECT r.event_id, overlaid(r.members, r.raw) AS text
    FROM (
        SELECT
            c.event_id,
            any_value(c.raw) AS raw,
            present([
                member('ph', '"C"'),
                member('cat', to_json(any_value(c.category))),
                member('name', to_json(any_value(c.name))),
                member('pid', place(any_value(c.pid))),
                member('ts', microseconds(any_value(c.time_ns) - getvariable('base_ns'))),
                '"args":' || object_of(
                    list(member(c.series, to_json(c.value))) FILTER (WHERE c.value IS NOT NULL)
                )
            ]) AS members
        FROM counter_samples AS c
        WHERE c.event_id IS NOT NULL
        GROUP BY c.event_id
    ) AS r;

CREATE MACRO rebuilt_head() AS TABLE
    SELECT
        overlaid(
            present([
                member('schemaVersion', to_json(t.schema_version)),
                member('baseTimeNanoseconds', to_json(t.base_time_ns)),
                member('Framework', to_json(t.framework)),
                (
                    SELECT
                        '"deviceProperties":['
                        || string_agg(d.properties::VARCHAR, ',' ORDER BY d.device_id) || ']'
                    FROM devices AS d
                )
            ]),
            t.metadata
        ) AS text
    FROM traces AS t;
