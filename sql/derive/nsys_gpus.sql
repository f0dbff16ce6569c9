-- derive: nsys_gpus
-- since: 0.1
-- summary: The GPUs that a process of an Nsight Systems export sees, with the numbers that it gives them.
--
-- CUDA numbers the GPUs of each process from 0, in the order of CUDA_VISIBLE_DEVICES. Exports of older versions do not
-- say so: there the numbers are those of the machine.
CREATE TABLE nsys_gpus AS
SELECT coalesce(n."cudaId", g.id) AS device_id, g.*
FROM nsys_target_info_gpu AS g
LEFT JOIN nsys_numbers AS n ON g.id = n."gpuId"
WHERE n."cudaId" IS NOT NULL OR NOT EXISTS (FROM nsys_numbers)
QUALIFY row_number() OVER (PARTITION BY coalesce(n."cudaId", g.id) ORDER BY g.id) = 1;
