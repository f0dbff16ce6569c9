-- function: is_cut_off
-- since: 0.2
-- summary: Whether the file of a trace was cut off, so that events are lost.
-- returns: BOOLEAN
--
-- params
--   name             type     unit  default  meaning
--   skipped_reasons  VARCHAR  -     -        Value of traces.skipped_reasons.
CREATE MACRO is_cut_off(skipped_reasons VARCHAR) AS (
    coalesce(contains(skipped_reasons, '"truncated_bytes"'), FALSE)
);
