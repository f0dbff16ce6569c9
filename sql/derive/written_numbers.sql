-- derive: written_numbers
-- since: 0.1
-- summary: JSON with its numbers as they are written, where JSON functions would write them anew.
--
-- Those give 1.5 for 1.50 and 1000.0 for 1e3. So numbers go through them as texts that begin with '#'.

-- Whether some number may come out of JSON functions in another form than it has; when in doubt, true.
CREATE MACRO has_odd_numbers(written) AS
    regexp_matches(
        written,
        '[:,\[\s]-?(\d+(\.\d+)?[eE]|\d{9,}\.|\d+\.\d{5}|\d+\.\d+0(\D|$))|[:,\[\s]-0([^.\d]|$)'
    );

-- The strings of a JSON text, and what stands between them.
CREATE MACRO json_tokens(written) AS regexp_extract_all(written, '"(?:[^"\\]|\\.)*"|[^"]+');

-- A text that begins with '#' gets another one, so that it can be told from a number.
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

-- What json_merge_patch gives. A patch of keys and nulls needs no care.
CREATE MACRO merged_as_written(object, patch) AS
    CASE
        WHEN has_odd_numbers(object)
            THEN texts_as_numbers(json_merge_patch(numbers_as_texts(object), patch)::VARCHAR)
        ELSE json_merge_patch(object, patch)::VARCHAR
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

-- The same in one with merged_as_written: a macro copies what it is given into every place that names
-- it, and what stands twice is worked out for every row.
CREATE MACRO merged_arguments(written, args, patch) AS
    CASE
        WHEN args IS NOT NULL AND has_odd_arguments(written)
            THEN texts_as_numbers(json_merge_patch(arguments_with_texts(written), patch)::VARCHAR)
        ELSE json_merge_patch(args, patch)::VARCHAR
    END;
