-- block: largest_difference
-- since: 0.1
-- summary: A sentence on the row that differs most between two runs, of those whose difference is significant if any is.
-- grain: one row, or none if two rows differ most or none differs
-- uses: as_name, as_time
--
-- If all differences were tested and none is significant, the sentence says so.
--
-- params
--   name   type     unit  default  meaning
--   rel    VARCHAR  -     -        Name of a relation with name, delta_us, significant (NULL if it was not tested) and measure: what the time is, e.g. 'device time'; NULL says nothing.
--   thing  VARCHAR  -     -        What a row is, e.g. 'kernel'.
-- columns
--   name     type     unit  meaning
--   finding  VARCHAR  -     The sentence.
--   listed   BIGINT   -     Number of rows of the relation.
CREATE MACRO largest_difference(rel VARCHAR, thing VARCHAR) AS TABLE
    WITH
    _differences AS (
        SELECT
            p.name,
            p.delta_us,
            p.significant,
            p.measure,
            count(*) OVER () AS listed,
            bool_or(p.significant) OVER () AS is_any_significant,
            count(*) OVER () = count(p.significant) OVER () AS is_tested
        FROM query_table(rel) AS p
    ),

    _largest AS (
        SELECT d.*
        FROM _differences AS d
        WHERE
            d.delta_us <> 0
            AND coalesce(d.significant, FALSE) = coalesce(d.is_any_significant, FALSE)
        QUALIFY rank() OVER (ORDER BY abs(d.delta_us) DESC) = 1
    )

    SELECT
        CASE
            WHEN any_value(l.is_tested) AND NOT any_value(l.is_any_significant)
                THEN 'No ' || thing || ' differs by more than noise.'
            ELSE
                CASE
                    WHEN any_value(l.is_any_significant)
                        THEN 'Of the ' || thing || 's that differ significantly, '
                    ELSE ''
                END
                || as_name(any_value(l.name)) || ' differs most: '
                || as_time(abs(any_value(l.delta_us)))
                || CASE WHEN any_value(l.delta_us) > 0 THEN ' more' ELSE ' less' END
                || coalesce(' ' || any_value(l.measure), '') || ' per recording.'
        END AS finding,
        any_value(l.listed) AS listed
    FROM _largest AS l
    HAVING count(*) = 1;
