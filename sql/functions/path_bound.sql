-- function: path_bound
-- since: 0.2
-- summary: What holds up a piece of the critical path, as a byte.
-- returns: ENUM('other', 'sync', 'launch_delay', 'kernel_kernel_delay')
--
-- Millions of pieces are sorted, and a text takes 16 bytes.
--
-- params
--   bound  VARCHAR  -  -  The text.
CREATE MACRO path_bound(bound VARCHAR) AS (
    bound::ENUM('other', 'sync', 'launch_delay', 'kernel_kernel_delay')
);
