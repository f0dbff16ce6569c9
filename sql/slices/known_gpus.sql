-- slice: known_gpus
-- since: 0.1
-- summary: Peak throughput and memory bandwidth of GPUs from their data sheets, for rooflines and MFU.
--
-- The name is that of the device in the trace, with or without a leading 'NVIDIA '. Operations are in 10^12 per
-- second at the boost clock, without sparsity; a fused multiply-add counts as two. fp64_tflops, fp32_tflops and
-- fp16_tflops are those of the CUDA cores (on AMD, the vector units). The columns with tensor are those of
-- tensor cores (on AMD, matrix cores); products of float32, float16, bfloat16 and float8 add up in float32.
-- For float32, tensor cores of NVIDIA compute with TF32, which PyTorch has to allow. NULL means that the device has
-- no such units, or that its data sheet does not tell. Memory bandwidth is that of the device memory, in 10^9 bytes
-- per second.
--
-- The column source says where a row is from, and source_date when it was read there:
--
--     data sheet       the data sheet of the maker
--     torch 2.13       the data sheets that torch quotes, in
--                      torch/_inductor/analysis/device_info.py. A test compares the
--                      tensor cores and the memory bandwidth
--     units and clock  304 units at 2.1 GHz with 2048 operations per clock, and 256
--                      units at 2.4 GHz with 4096, for float16 matrices
--     HGX B200         an HGX B200 at 1,000 W: the tensor cores from
--                      https://glennklockwood.com/garden/processors/B200, the CUDA
--                      cores from 148 SMs at 1.98 GHz
CREATE VIEW known_gpus AS
SELECT
    t.*,
    CASE
        WHEN
            t.name IN (
                'A100-SXM4-80GB',
                'H100 80GB HBM3',
                'AMD Instinct MI210',
                'AMD Instinct MI300X',
                'AMD Instinct MI350X'
            )
            THEN 'torch 2.13'
        WHEN t.name IN ('AMD Instinct MI325X', 'AMD Instinct MI355X') THEN 'units and clock'
        WHEN t.name = 'B200' THEN 'HGX B200'
        ELSE 'data sheet'
    END AS source,
    DATE '2026-11-25' AS source_date
FROM (
    VALUES
    ('Tesla P100-SXM2-16GB', 5.3, 10.6, 21.2, NULL, NULL, NULL, NULL, NULL, 732.0),
    ('Tesla V100-SXM2-16GB', 7.8, 15.7, 31.3, NULL, NULL, 125.0, NULL, NULL, 900.0),
    ('Tesla V100-SXM2-32GB', 7.8, 15.7, 31.3, NULL, NULL, 125.0, NULL, NULL, 900.0),
    ('Tesla V100-DGXS-32GB', 7.8, 15.7, 31.3, NULL, NULL, 125.0, NULL, NULL, 900.0),
    ('Tesla V100-PCIE-16GB', 7.0, 14.0, 28.0, NULL, NULL, 112.0, NULL, NULL, 900.0),
    ('Tesla V100-PCIE-32GB', 7.0, 14.0, 28.0, NULL, NULL, 112.0, NULL, NULL, 900.0),
    ('Tesla T4', 0.254, 8.1, 16.3, NULL, NULL, 65.0, NULL, NULL, 320.0),
    ('A100-SXM4-40GB', 9.7, 19.5, 78.0, 19.5, 156.0, 312.0, 312.0, NULL, 1555.0),
    ('A100-SXM4-80GB', 9.7, 19.5, 78.0, 19.5, 156.0, 312.0, 312.0, NULL, 2039.0),
    ('A100-PCIE-40GB', 9.7, 19.5, 78.0, 19.5, 156.0, 312.0, 312.0, NULL, 1555.0),
    ('A100 80GB PCIe', 9.7, 19.5, 78.0, 19.5, 156.0, 312.0, 312.0, NULL, 1935.0),
    ('A100-PG509-200', 9.7, 19.5, 78.0, 19.5, 156.0, 312.0, 312.0, NULL, 1555.0),
    ('A10', 0.488, 31.2, 31.2, NULL, 62.5, 125.0, 125.0, NULL, 600.0),
    ('A40', 0.584, 37.4, 37.4, NULL, 74.8, 149.7, 149.7, NULL, 696.0),
    ('RTX A6000', 0.605, 38.7, 38.7, NULL, 77.4, 154.8, 154.8, NULL, 768.0),
    ('GeForce RTX 3090', 0.556, 35.6, 35.6, NULL, 35.6, 71.0, 71.0, NULL, 936.0),
    ('GeForce RTX 4090', 1.29, 82.6, 82.6, NULL, 82.6, 165.2, 165.2, 330.3, 1008.0),
    ('L4', 0.473, 30.3, 30.3, NULL, 60.0, 121.0, 121.0, 242.5, 300.0),
    ('L40S', 1.43, 91.6, 91.6, NULL, 183.0, 362.0, 362.0, 733.0, 864.0),
    ('H100 PCIe', 25.6, 51.2, 102.4, 51.2, 378.0, 756.0, 756.0, 1513.0, 2039.0),
    ('H100 80GB HBM3', 33.5, 66.9, 133.8, 66.9, 494.7, 989.4, 989.4, 1978.9, 3352.0),
    ('H100 NVL', 30.0, 60.0, 120.0, 60.0, 417.5, 835.0, 835.0, 1670.5, 3900.0),
    ('H200', 33.5, 66.9, 133.8, 66.9, 494.7, 989.4, 989.4, 1978.9, 4800.0),
    ('B200', 37.0, 75.0, NULL, 37.0, NULL, 2250.0, 2250.0, 4500.0, 8000.0),
    ('AMD Instinct MI210', 22.6, 22.6, NULL, 45.3, 45.3, 181.0, 181.0, NULL, 1638.0),
    ('AMD Instinct MI300X', 81.7, 163.4, NULL, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 5325.0),
    ('AMD Instinct MI300X VF', 81.7, 163.4, NULL, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 5325.0),
    ('AMD Instinct MI325X', 81.7, 163.4, NULL, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 6000.0),
    ('AMD Instinct MI350X', 72.1, 144.2, NULL, 72.1, 144.2, 2309.6, 2309.6, 4614.0, 8000.0),
    ('AMD Instinct MI355X', 78.6, 157.3, NULL, 78.6, 157.3, 2516.6, 2516.6, 5033.2, 8000.0)
) AS t (
    name,
    fp64_tflops,
    fp32_tflops,
    fp16_tflops,
    fp64_tensor_tflops,
    fp32_tensor_tflops,
    fp16_tensor_tflops,
    bf16_tensor_tflops,
    fp8_tensor_tflops,
    memory_gbps
);
