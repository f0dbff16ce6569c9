-- function: is_host_wait
-- since: 0.2
-- summary: Whether the host waits for the device in a call with this name.
-- returns: BOOLEAN
--
-- CUDA, ROCm and Level Zero write Synchronize in the names of these calls. The call of MTIA is synchronizeStream; the
-- synchronize inside it is a part of it, and does not count. Other waits of XPU, such as urQueueFinish, do not count:
-- they may contain a wait of Level Zero, which would count twice.
--
-- params
--   name  type     unit  default  meaning
--   name  VARCHAR  -     -        Name of a runtime or driver call.
CREATE MACRO is_host_wait(name VARCHAR) AS (
    contains(name, 'Synchronize') OR name = 'synchronizeStream'
);
