-- derive: argument_columns
-- since: 0.1
-- summary: The arguments of the events of one kind as columns, and the rest in args.
--
-- Every value goes to the column that names its key. What a column could not give back exactly stays
-- in args. That is decided value by value from the JSON type, so "256" written as text fills a BIGINT
-- column and also stays in args, and an event can be rebuilt as it was.
--
-- It reads the rows of event_columns from base. What stands in angle brackets is a list that ingest writes, of
-- the columns of the kind's table and of their keys. In layers, so that nothing is computed twice: the typed
-- arguments a, the JSON type under every key k and the number of arguments n; the value under every key;
-- how many arguments the columns hold, or NULL where that cannot be told at once; the rest.
SELECT
    "<fields>",
    "<values>",
    CASE WHEN r.n > 0 THEN with_marks(r.rest, r.marks) ELSE r.args END::JSON,
    r.raw
FROM (
    SELECT
        r.*,
        CASE
            WHEN r.held = r.n THEN '{}'
            ELSE merged_arguments(
                r.text,
                r.args,
                CASE
                    WHEN r.held = list_count(r.k) THEN '{' || concat_ws(',', "<all_keys>") || '}'
                    ELSE '{' || concat_ws(',', "<held_keys>") || '}'
                END
            )
        END AS rest,
        -- A null in args where the column has a value says: the value stood under this older key.
        concat_ws(',', "<held_older_keys>") AS marks
    FROM (
        SELECT
            r.*,
            -- Numbers by far outnumber the rest, and their kinds are checked in one go.
            CASE
                WHEN
                    NOT list_has_any(
                        ["<number_kinds>"],
                        ['VARCHAR', 'DOUBLE', 'BOOLEAN', 'OBJECT', 'ARRAY', 'NULL']
                    )
                    AND "<no_exception>"
                    THEN list_count(["<number_values>"]) + "<held_others>"
            END AS held
        FROM (
            SELECT
                r.*,
                "<values_by_key>"
            FROM (
                SELECT
                    b.*,
                    from_json(b.args, "<types>") AS a,
                    json_type(b.args, ["<paths>"]) AS k,
                    len(json_keys(b.args)) AS n
                FROM base AS b
                WHERE b.tbl = "<kind>"
            ) AS r
        ) AS r
    ) AS r
) AS r
