-- derive: mindspore_macros
-- since: 0.2
-- summary: What the words and numbers of MindSpore's files mean.

CREATE MACRO ms_nanoseconds(text, unit) AS round(coalesce(
    try_cast(text AS DECIMAL(28, 9)) * unit, try_cast(text AS DOUBLE) * unit
))::BIGINT;

-- 'Default/network/conv-Conv2d/Conv2D-op36' is an operator of type Conv2D in the scope before it.
CREATE MACRO ms_short_name(full_name) AS string_split(full_name, '/')[-1];

CREATE MACRO ms_type(full_name) AS regexp_replace(string_split(full_name, '/')[-1], '-[^-]*$', '');

CREATE MACRO ms_scope(full_name) AS
    nullif(array_to_string(string_split(full_name, '/')[1:-2], '/'), '');
