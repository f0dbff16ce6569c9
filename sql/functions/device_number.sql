-- function: device_number
-- since: 0.2
-- summary: A number that no other device of the same trace has.
-- returns: BIGINT
--
-- It is never negative, and less than 1 << 40, also for a device without a number.
--
-- params
--   name       type     unit  default  meaning
--   device_id  INTEGER  -     -        Number of the device on its host.
CREATE MACRO device_number(device_id INTEGER) AS (
    coalesce(device_id::BIGINT + (1::BIGINT << 31), 1::BIGINT << 32)
);
