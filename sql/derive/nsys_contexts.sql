-- derive: nsys_contexts
-- since: 0.1
-- summary: The device of each CUDA context of a process of an Nsight Systems export.
--
-- Rows of synchronizations have device 0 whatever the device is.
SELECT c.context_id, min(c.device_id) AS device_id
FROM (
    SELECT k."contextId" AS context_id, k."deviceId" AS device_id
    FROM "<kernels>" AS k
    UNION
    SELECT m."contextId", m."deviceId"
    FROM "<copies>" AS m
    UNION
    SELECT s."contextId", s."deviceId"
    FROM "<sets>" AS s
    UNION
    SELECT t."contextId", t."deviceId"
    FROM "<contexts>" AS t
) AS c
GROUP BY c.context_id
HAVING count(DISTINCT c.device_id) = 1
