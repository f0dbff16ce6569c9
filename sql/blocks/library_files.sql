-- block: library_files
-- since: 0.1
-- summary: Source files that belong to libraries, not to the user.
-- uses: library_packages, library_paths
--
-- Libraries are torch, everything in site-packages, the standard library, and code that these generate.
--
-- params
--   name  type     unit  default  meaning
--   rel   VARCHAR  -     -        Name of a relation with source_file.
-- columns
--   name         type     unit  meaning
--   source_file  VARCHAR  key   File, as Python names it.
CREATE MACRO library_files(rel VARCHAR) AS TABLE
    WITH
    _files AS MATERIALIZED (
        SELECT
            d.source_file,
            replace(d.source_file, '\', '/') AS path,
            regexp_replace(split_part(replace(d.source_file, '\', '/'), '/', 1), '\.pyc?$', '')
                AS package
        FROM (SELECT DISTINCT r.source_file FROM query_table(rel) AS r) AS d
        WHERE d.source_file IS NOT NULL
    ),

    _told AS MATERIALIZED (
        SELECT f.source_file, f.path, p.name IS NOT NULL AS is_installed
        FROM _files AS f
        LEFT JOIN library_packages() AS p ON f.package = p.name
    )

    SELECT i.source_file FROM _told AS i
    WHERE i.is_installed
    UNION
    -- Few are left: a pattern that is not a literal in the query is compiled for each of them.
    SELECT f.source_file
    FROM _told AS f
    INNER JOIN library_paths() AS p ON regexp_matches(f.path, p.pattern)
    WHERE NOT f.is_installed;
