-- derive: written_numbers
-- since: 0.1
-- summary: JSON functions that keep numbers as they are written.
--
-- DuckDB's JSON functions rewrite numbers: 1.50 becomes 1.5, and 1e3 becomes 1000.0. So these macros pass
-- numbers through them as texts that begin with '#'.

-- Whether JSON functions may change how some number is written; TRUE if in doubt.
CREATE MACRO has_odd_numbers(written) AS
    regexp_matches(
        written,
        '[:,\[\s]-?(\d+(\.\d+)?[eE]|\d{9,}\.|\d+\.\d{5}|\d+\.\d+0(\D|$))|[:,\[\s]-0([^.\d]|$)'
    );

-- The strings of a JSON text, and the text between them.
CREATE MACRO json_tokens(written) AS regexp_extract_all(written, '"(?:[^"\\]|\\.)*"|[^"]+');

-- A text that begins with '#' gets another '#', so that it can be distinguished from a number.
CREATE MACRO numbers_as_texts(written) AS
    array_to_string(
        list_transform(
            json_tokens(written),
            lambda token: CASE
                WHEN starts_with(token, '"#') OR starts_with(token, '"\u0023') THEN '"#' || substr(token, 2)
                WHEN starts_with(token, '"') THEN token
                ELSE regexp_replace(token, '-?\d[\d.eE+-]*', '"#\0"', 'g')
            END
        ),
        ''
    );

CREATE MACRO texts_as_numbers(written) AS
    array_to_string(
        list_transform(
            json_tokens(written),
            lambda token: CASE
                WHEN starts_with(token, '"##') THEN '"' || substr(token, 3)
                WHEN starts_with(token, '"#') THEN substr(token, 3, length(token) - 3)
                ELSE token
            END
        ),
        ''
    );

-- The result of json_merge_patch. A patch of keys and nulls needs no conversion.
CREATE MACRO merged_as_written(object, patch) AS
    CASE
        WHEN has_odd_numbers(object)
            THEN texts_as_numbers(json_merge_patch(numbers_as_texts(object), patch)::VARCHAR)
        ELSE json_merge_patch(object, patch)::VARCHAR
    END;

-- The result of json_extract, as text.
CREATE MACRO extracted_as_written(object, path) AS
    CASE
        WHEN has_odd_numbers(object)
            THEN texts_as_numbers(json_extract(numbers_as_texts(object), path)::VARCHAR)
        ELSE json_extract(object, path)::VARCHAR
    END;

CREATE MACRO has_odd_arguments(written) AS
    has_odd_numbers(substr(written, greatest(instr(written, '"args"'), 1)));

CREATE MACRO arguments_with_texts(written) AS
    struct_extract(from_json(numbers_as_texts(written), '{"args":"JSON"}'), 'args');

-- The arguments of an event. `args` are those that a JSON function found in its text.
CREATE MACRO arguments_as_written(written, args) AS
    CASE
        WHEN args IS NOT NULL AND has_odd_arguments(written)
            THEN texts_as_numbers(arguments_with_texts(written)::VARCHAR)
        ELSE args::VARCHAR
    END;

-- Both in one with merged_as_written: a macro copies its argument into every place that names it, and an
-- expression that occurs twice is evaluated twice for every row.
CREATE MACRO merged_arguments(written, args, patch) AS
    CASE
        WHEN args IS NOT NULL AND has_odd_arguments(written)
            THEN texts_as_numbers(json_merge_patch(arguments_with_texts(written), patch)::VARCHAR)
        ELSE json_merge_patch(args, patch)::VARCHAR
    END;
