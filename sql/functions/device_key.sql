-- function: device_key
-- since: 0.1
-- summary: A number that no other device of any trace has.
-- returns: BIGINT
-- uses: device_number, first_id
--
-- Devices are then compared by one number instead of four values, of which three are names.
--
-- params
--   name       type       unit  default  meaning
--   names      VARCHAR[]  -     -        The key of each trace, as device_trace_names lists them.
--   run        VARCHAR    -     -        Run of the trace.
--   worker     VARCHAR    -     -        Worker that recorded it.
--   span       VARCHAR    -     -        Which recording of the worker.
--   device_id  INTEGER    -     -        Number of the device on its host.
CREATE MACRO device_key(
    names VARCHAR[], run VARCHAR, worker VARCHAR, span VARCHAR, device_id INTEGER
) AS (
    first_id(names, run, worker, span) + device_number(device_id)
);
