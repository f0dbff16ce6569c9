-- slice: known_gpus
-- since: 0.1
-- summary: Peak throughput and memory bandwidth of GPUs from their data sheets, for the view roofline.
--
-- The name is that of the device in the trace, with or without a leading 'NVIDIA '. Operations are those of
-- the CUDA cores, in 10^12 per second at the boost clock; a fused multiply-add counts as two. Tensor cores
-- can do more. Memory bandwidth is that of the device memory, in 10^9 bytes per second.
CREATE VIEW known_gpus AS
SELECT t.*
FROM (
    VALUES
    ('Tesla P100-SXM2-16GB', 5.3, 10.6, 21.2, 732.0),
    ('Tesla V100-SXM2-16GB', 7.8, 15.7, 31.3, 900.0),
    ('Tesla V100-SXM2-32GB', 7.8, 15.7, 31.3, 900.0),
    ('Tesla V100-PCIE-16GB', 7.0, 14.0, 28.0, 900.0),
    ('Tesla V100-PCIE-32GB', 7.0, 14.0, 28.0, 900.0),
    ('Tesla T4', 0.254, 8.1, 16.3, 320.0),
    ('A100-SXM4-40GB', 9.7, 19.5, 78.0, 1555.0),
    ('A100-SXM4-80GB', 9.7, 19.5, 78.0, 2039.0),
    ('A100-PCIE-40GB', 9.7, 19.5, 78.0, 1555.0),
    ('A100 80GB PCIe', 9.7, 19.5, 78.0, 1935.0),
    ('A100-PG509-200', 9.7, 19.5, 78.0, 1555.0),
    ('A10', 0.488, 31.2, 31.2, 600.0),
    ('A40', 0.584, 37.4, 37.4, 696.0),
    ('RTX A6000', 0.605, 38.7, 38.7, 768.0),
    ('GeForce RTX 3090', 0.556, 35.6, 35.6, 936.0),
    ('GeForce RTX 4090', 1.29, 82.6, 82.6, 1008.0),
    ('L4', 0.473, 30.3, 30.3, 300.0),
    ('L40S', 1.43, 91.6, 91.6, 864.0),
    ('H100 PCIe', 25.6, 51.2, 102.4, 2039.0),
    ('H100 80GB HBM3', 33.5, 66.9, 133.8, 3352.0),
    ('H100 NVL', 30.0, 60.0, 120.0, 3900.0),
    ('H200', 33.5, 66.9, 133.8, 4800.0)
) AS t (name, fp64_tflops, fp32_tflops, fp16_tflops, memory_gbps);
