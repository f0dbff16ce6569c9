-- function: is_known_category
-- since: 0.2
-- summary: Whether a host event is of a kind that a profiler of PyTorch or of a device records.
-- returns: BOOLEAN
--
-- Operators, annotations, Python frames, overhead, and calls of the runtime, the driver or the operating system. What
-- another program wrote into a Chrome trace has a category of its own, or none.
--
-- params
--   name      type     unit  default  meaning
--   category  VARCHAR  -     -        Category of the event.
CREATE MACRO is_known_category(category VARCHAR) AS (
    coalesce(
        category IN ('cpu_op', 'user_annotation', 'python_function', 'overhead', 'osrt')
        OR ends_with(category, '_runtime')
        OR ends_with(category, '_driver'),
        FALSE
    )
);
