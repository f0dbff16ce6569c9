-- function: has_epoch
-- since: 0.1
-- summary: Whether the times of a trace count from 1970, so that they say when it was recorded.
-- returns: BOOLEAN
--
-- Times of some profilers count from another moment, such as the start of the machine. They cannot be compared
-- with those of another trace.
--
-- params
--   name             type     unit  default  meaning
--   skipped_reasons  VARCHAR  -     -        Value of traces.skipped_reasons.
CREATE MACRO has_epoch(skipped_reasons VARCHAR) AS (
    NOT coalesce(contains(skipped_reasons, '"no_epoch"'), FALSE)
);
