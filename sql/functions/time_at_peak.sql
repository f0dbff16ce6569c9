-- function: time_at_peak
-- since: 0.1
-- summary: Least time of operations on units of a peak throughput, in nanoseconds; 0 without operations.
-- returns: DOUBLE
-- uses: ratio
--
-- It is NULL where the peak is not known (NULL or 0), but not for no operations: their peak does not matter.
--
-- params
--   name    type    unit  default  meaning
--   flops   DOUBLE  -     -        Number of operations; NULL is 0.
--   tflops  DOUBLE  -     -        Peak, in 10^12 operations per second.
CREATE MACRO time_at_peak(flops DOUBLE, tflops DOUBLE) AS (
    CASE WHEN coalesce(flops, 0) = 0 THEN 0 ELSE ratio(flops, 1000 * tflops) END::DOUBLE
);
