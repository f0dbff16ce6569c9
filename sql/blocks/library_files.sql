-- block: library_files
-- since: 0.1
-- summary: Which source files are those of libraries, and not the user's.
-- uses: library_packages, library_paths
--
-- Libraries are torch, what is installed in site-packages, the standard library, and what they generate.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with source_file.
-- columns
--   name         type     unit  meaning
--   source_file  VARCHAR  key   File, as Python knows it.
CREATE MACRO library_files(rel VARCHAR) AS TABLE
    WITH
    _files AS MATERIALIZED (
        SELECT
            d.source_file,
            replace(d.source_file, '\', '/') AS path
        FROM (SELECT DISTINCT r.source_file FROM query_table(rel) AS r) AS d
        WHERE d.source_file IS NOT NULL
    ),

    _installed AS (
        SELECT f.source_file
        FROM _files AS f
        SEMI JOIN library_packages() AS p
            ON regexp_replace(split_part(f.path, '/', 1), '\.pyc?$', '') = p.name
    )

    SELECT i.source_file FROM _installed AS i
    UNION
    SELECT f.source_file
    FROM _files AS f
    INNER JOIN library_paths() AS p ON regexp_matches(f.path, p.pattern);
