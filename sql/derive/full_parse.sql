-- derive: full_parse
-- since: 0.1
-- summary: How the full parse reads values, and whether a column gives a value back exactly.
--
-- kind is the JSON type of a value, as json_type says it. The result is NULL where the value is missing, is of
-- another kind, or means 'none'.

CREATE MACRO is_whole_kind(kind) AS kind IN ('UBIGINT', 'BIGINT');

-- A value within the bounds of its column.
CREATE MACRO bounded(value, least, most) AS CASE WHEN value BETWEEN least AND most THEN value END;

-- A whole number. 256.0 and "256" count; 2.5 and true would be cast to a number that nobody wrote.
CREATE MACRO whole_number(kind, value, args, path) AS
    CASE
        WHEN kind IN ('UBIGINT', 'BIGINT', 'VARCHAR') THEN value
        WHEN kind = 'DOUBLE'
            THEN CASE WHEN try_cast(json_extract_string(args, path) AS DOUBLE) = value THEN value END
    END;

-- A list that was cast, or NULL where a value of it could not be.
CREATE MACRO complete_list(list) AS CASE WHEN len(list) = list_count(list) THEN list END;

-- Whether a column holds the value exactly.
CREATE MACRO holds_decimal_number(kind, value) AS
    kind IN ('DOUBLE', 'UBIGINT', 'BIGINT') AND abs(value) < event_bounds().decimal;
CREATE MACRO holds_list(kind, value, written) AS
    kind = 'ARRAY' AND to_json(value)::VARCHAR = written::VARCHAR;
CREATE MACRO holds_list_in_text(kind, value, written) AS
    kind = 'VARCHAR' AND '[' || array_to_string(value, ', ') || ']' = written;

-- A process or thread as a number, or as a text that cannot be mistaken for one.
CREATE MACRO holds_place(kind, value) AS
    is_whole_kind(kind) OR (kind = 'VARCHAR' AND NOT is_whole_number(value));

-- The fields of an event that no column holds, or NULL. Each parameter behind keys says whether a column
-- holds the field of that name.
CREATE MACRO fields_left(written, keys, ph, cat, name, pid, tid, ts, dur, args, id) AS
    CASE
        WHEN
            keys = coalesce(ph, FALSE)::INTEGER + coalesce(cat, FALSE)::INTEGER
            + coalesce(name, FALSE)::INTEGER + coalesce(pid, FALSE)::INTEGER
            + coalesce(tid, FALSE)::INTEGER + coalesce(ts, FALSE)::INTEGER
            + coalesce(dur, FALSE)::INTEGER + coalesce(args, FALSE)::INTEGER
            + coalesce(id, FALSE)::INTEGER
            THEN NULL
        ELSE merged_as_written(
            written,
            '{' || concat_ws(
                ',',
                CASE WHEN ph THEN '"ph":null' END,
                CASE WHEN cat THEN '"cat":null' END,
                CASE WHEN name THEN '"name":null' END,
                CASE WHEN pid THEN '"pid":null' END,
                CASE WHEN tid THEN '"tid":null' END,
                CASE WHEN ts THEN '"ts":null' END,
                CASE WHEN dur THEN '"dur":null' END,
                CASE WHEN args THEN '"args":null' END,
                CASE WHEN id THEN '"id":null' END
            ) || '}'
        )
    END;
