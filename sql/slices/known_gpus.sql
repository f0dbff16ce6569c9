-- slice: known_gpus
-- since: 0.1
-- summary: Peak throughput and memory bandwidth of GPUs from their data sheets.
--
-- The name is that of the device in the trace, with or without a leading 'NVIDIA '. Operations are those of
-- the CUDA cores, in 10^12 per second at the boost clock; a fused multiply-add counts as two. Tensor cores
-- can do more: matrix_tflops is the peak of their dense products of 16-bit numbers, for the view
-- attention_roofline. Memory bandwidth is that of the device memory, in 10^9 bytes per second.
CREATE VIEW known_gpus AS
SELECT t.*
FROM (
    VALUES
    ('Tesla P100-SXM2-16GB', 5.3, 10.6, 21.2, 732.0, NULL::DOUBLE),
    ('Tesla V100-SXM2-16GB', 7.8, 15.7, 31.3, 900.0, 125.0),
    ('Tesla V100-SXM2-32GB', 7.8, 15.7, 31.3, 900.0, 125.0),
    ('Tesla V100-PCIE-16GB', 7.0, 14.0, 28.0, 900.0, 112.0),
    ('Tesla V100-PCIE-32GB', 7.0, 14.0, 28.0, 900.0, 112.0),
    ('Tesla T4', 0.254, 8.1, 16.3, 320.0, 65.0),
    ('A100-SXM4-40GB', 9.7, 19.5, 78.0, 1555.0, 312.0),
    ('A100-SXM4-80GB', 9.7, 19.5, 78.0, 2039.0, 312.0),
    ('A100-PCIE-40GB', 9.7, 19.5, 78.0, 1555.0, 312.0),
    ('A100 80GB PCIe', 9.7, 19.5, 78.0, 1935.0, 312.0),
    ('A100-PG509-200', 9.7, 19.5, 78.0, 1555.0, 312.0),
    ('A10', 0.488, 31.2, 31.2, 600.0, 125.0),
    ('A40', 0.584, 37.4, 37.4, 696.0, 149.7),
    ('RTX A6000', 0.605, 38.7, 38.7, 768.0, 154.8),
    ('GeForce RTX 3090', 0.556, 35.6, 35.6, 936.0, 71.0),
    ('GeForce RTX 4090', 1.29, 82.6, 82.6, 1008.0, 165.2),
    ('L4', 0.473, 30.3, 30.3, 300.0, 121.0),
    ('L40S', 1.43, 91.6, 91.6, 864.0, 362.0),
    ('H100 PCIe', 25.6, 51.2, 102.4, 2039.0, 756.0),
    ('H100 80GB HBM3', 33.5, 66.9, 133.8, 3352.0, 989.4),
    ('H100 NVL', 30.0, 60.0, 120.0, 3900.0, 835.0),
    ('H200', 33.5, 66.9, 133.8, 4800.0, 989.4),
    ('B200', 37.0, 75.0, NULL, 8000.0, 2250.0),
    ('AMD Instinct MI300X', 81.7, 163.4, 163.4, 5300.0, 1307.4),
    ('AMD Instinct MI325X', 81.7, 163.4, 163.4, 6000.0, 1307.4),
    ('AMD Instinct MI350X', 72.1, 144.2, 144.2, 8000.0, 2309.6),
    ('AMD Instinct MI355X', 78.6, 157.3, 157.3, 8000.0, 2516.6)
) AS t (name, fp64_tflops, fp32_tflops, fp16_tflops, memory_gbps, matrix_tflops);
