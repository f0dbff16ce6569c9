-- function: is_profiler_work
-- since: 0.2
-- summary: Whether the profiler itself works in an event.
-- returns: BOOLEAN
--
-- The profiler works when it flushes its buffers or asks for one, instruments kernels, and creates or releases
-- its resources: rows of the category overhead whose names say so. What CUDA does by itself, such as
-- loading a function, is no work of the profiler.
--
-- params
--   name      type     unit  default  meaning
--   category  VARCHAR  -     -        Category of the event.
--   name      VARCHAR  -     -        Name of the event.
CREATE MACRO is_profiler_work(category VARCHAR, name VARCHAR) AS (
    category = 'overhead'
    AND regexp_matches(name, 'buffer flush|buffer request|instrumentation|resource', 'i')
);
