-- slice: known_gpus
-- since: 0.1
-- summary: Peak throughput and memory bandwidth of GPUs from their data sheets, for rooflines.
--
-- The name is that of the device in the trace, with or without a leading 'NVIDIA '. Operations are in 10^12 per
-- second at the boost clock, without sparsity; a fused multiply-add counts as two. fp64_tflops, fp32_tflops and
-- fp16_tflops are those of the CUDA cores (on AMD, the vector units). The columns with tensor are those of
-- tensor cores (on AMD, matrix cores) for matrices of float32, float16 and bfloat16 that add up in float32.
-- For float32, tensor cores of NVIDIA compute with TF32, which PyTorch has to allow. NULL means that the device has
-- no such units, or that its data sheet does not tell. Memory bandwidth is that of the device memory, in 10^9 bytes
-- per second.
--
-- A test compares the matrix units (float16, bfloat16) and the memory bandwidth of A100, H100, MI210, MI300X and
-- MI350X with the data sheets that torch quotes (torch 2.13, torch/_inductor/analysis/device_info.py).
-- MI325X and MI355X are computed from units, clock and operations per clock: 304 units at 2.1 GHz with 2048, and
-- 256 units at 2.4 GHz with 4096, for float16 matrices. B200 is that of HGX B200 at 1,000 W, without sparsity: the
-- tensor cores from https://glennklockwood.com/garden/processors/B200, the CUDA cores from 148 SMs at 1.98 GHz.
CREATE VIEW known_gpus AS
SELECT t.*
FROM (
    VALUES
    ('Tesla P100-SXM2-16GB', 5.3, 10.6, 21.2, NULL, NULL, NULL, 732.0),
    ('Tesla V100-SXM2-16GB', 7.8, 15.7, 31.3, NULL, 125.0, NULL, 900.0),
    ('Tesla V100-SXM2-32GB', 7.8, 15.7, 31.3, NULL, 125.0, NULL, 900.0),
    ('Tesla V100-DGXS-32GB', 7.8, 15.7, 31.3, NULL, 125.0, NULL, 900.0),
    ('Tesla V100-PCIE-16GB', 7.0, 14.0, 28.0, NULL, 112.0, NULL, 900.0),
    ('Tesla V100-PCIE-32GB', 7.0, 14.0, 28.0, NULL, 112.0, NULL, 900.0),
    ('Tesla T4', 0.254, 8.1, 16.3, NULL, 65.0, NULL, 320.0),
    ('A100-SXM4-40GB', 9.7, 19.5, 78.0, 156.0, 312.0, 312.0, 1555.0),
    ('A100-SXM4-80GB', 9.7, 19.5, 78.0, 156.0, 312.0, 312.0, 2039.0),
    ('A100-PCIE-40GB', 9.7, 19.5, 78.0, 156.0, 312.0, 312.0, 1555.0),
    ('A100 80GB PCIe', 9.7, 19.5, 78.0, 156.0, 312.0, 312.0, 1935.0),
    ('A100-PG509-200', 9.7, 19.5, 78.0, 156.0, 312.0, 312.0, 1555.0),
    ('A10', 0.488, 31.2, 31.2, 62.5, 125.0, 125.0, 600.0),
    ('A40', 0.584, 37.4, 37.4, 74.8, 149.7, 149.7, 696.0),
    ('RTX A6000', 0.605, 38.7, 38.7, 77.4, 154.8, 154.8, 768.0),
    ('GeForce RTX 3090', 0.556, 35.6, 35.6, 35.6, 71.0, 71.0, 936.0),
    ('GeForce RTX 4090', 1.29, 82.6, 82.6, 82.6, 165.2, 165.2, 1008.0),
    ('L4', 0.473, 30.3, 30.3, 60.0, 121.0, 121.0, 300.0),
    ('L40S', 1.43, 91.6, 91.6, 183.0, 362.0, 362.0, 864.0),
    ('H100 PCIe', 25.6, 51.2, 102.4, 378.0, 756.0, 756.0, 2039.0),
    ('H100 80GB HBM3', 33.5, 66.9, 133.8, 494.7, 989.4, 989.4, 3352.0),
    ('H100 NVL', 30.0, 60.0, 120.0, 417.5, 835.0, 835.0, 3900.0),
    ('H200', 33.5, 66.9, 133.8, 494.7, 989.4, 989.4, 4800.0),
    ('B200', 37.0, 75.0, NULL, NULL, 2250.0, 2250.0, 8000.0),
    ('AMD Instinct MI210', 22.6, 22.6, NULL, 45.3, 181.0, 181.0, 1638.0),
    ('AMD Instinct MI300X', 81.7, 163.4, NULL, 163.4, 1307.4, 1307.4, 5325.0),
    ('AMD Instinct MI300X VF', 81.7, 163.4, NULL, 163.4, 1307.4, 1307.4, 5325.0),
    ('AMD Instinct MI325X', 81.7, 163.4, NULL, 163.4, 1307.4, 1307.4, 6000.0),
    ('AMD Instinct MI350X', 72.1, 144.2, NULL, 144.2, 2309.6, 2309.6, 8000.0),
    ('AMD Instinct MI355X', 78.6, 157.3, NULL, 157.3, 2516.6, 2516.6, 8000.0)
) AS t (
    name,
    fp64_tflops,
    fp32_tflops,
    fp16_tflops,
    fp32_tensor_tflops,
    fp16_tensor_tflops,
    bf16_tensor_tflops,
    memory_gbps
);
