-- function: is_setup_call
-- since: 0.2
-- summary: Whether a call of CUDA or ROCm takes so long that it prepares the device, if nothing runs there.
-- returns: BOOLEAN
--
-- The first calls of a process create a context and allocate memory, and the first launch of a kernel loads its code.
-- Later these calls take microseconds: a launch up to 1 ms, other calls up to 100 us. Calls that wait for the device
-- or copy do not count. Nor does the launch of a graph: it takes some microseconds per kernel each time, and 1.6 ms for
-- 544 kernels on an MI300X. What Intel's, Ascend's and other runtimes do in their calls is not known.
--
-- params
--   name         type     unit  default  meaning
--   category     VARCHAR  -     -        Category of the event.
--   name         VARCHAR  -     -        Name of the call.
--   duration_ns  BIGINT   ns    -        How long it took.
CREATE MACRO is_setup_call(category VARCHAR, name VARCHAR, duration_ns BIGINT) AS (
    duration_ns > CASE WHEN contains(name, 'Launch') THEN 1000000 ELSE 100000 END
    AND (ends_with(category, '_runtime') OR ends_with(category, '_driver'))
    AND regexp_matches(name, '^(cuda|cu[A-Z]|hip)')
    AND NOT regexp_matches(name, 'Synchronize|emcpy|Profiler|GraphLaunch')
);
