-- block: element_types
-- since: 0.1
-- summary: Names of tensor element types in traces, with the torch type and the element size.
--
-- Arguments of collectives have the names of c10 ('BFloat16'); shapes of inputs have those of C++
-- ('c10::BFloat16', 'long int').
--
-- columns
--   name           type     unit   meaning
--   name           VARCHAR  key    Name as in the trace, in lower case and without 'c10::'.
--   dtype          VARCHAR  -      Name as in torch.
--   element_bytes  BIGINT   bytes  Size of one element.
CREATE MACRO element_types() AS TABLE
    SELECT
        t.name,
        t.dtype,
        t.element_bytes
    FROM (
        VALUES
        ('bool', 'bool', 1::BIGINT),
        ('byte', 'uint8', 1),
        ('unsigned char', 'uint8', 1),
        ('char', 'int8', 1),
        ('signed char', 'int8', 1),
        ('short', 'int16', 2),
        ('short int', 'int16', 2),
        ('int', 'int32', 4),
        ('long', 'int64', 8),
        ('long int', 'int64', 8),
        ('long long', 'int64', 8),
        ('float8_e4m3fn', 'float8_e4m3fn', 1),
        ('float8_e4m3fnuz', 'float8_e4m3fnuz', 1),
        ('float8_e5m2', 'float8_e5m2', 1),
        ('float8_e5m2fnuz', 'float8_e5m2fnuz', 1),
        ('float8_e8m0fnu', 'float8_e8m0fnu', 1),
        ('float4_e2m1fn_x2', 'float4_e2m1fn_x2', 1),
        ('half', 'float16', 2),
        ('bfloat16', 'bfloat16', 2),
        ('float', 'float32', 4),
        ('double', 'float64', 8),
        ('complexhalf', 'complex32', 4),
        ('complex<half>', 'complex32', 4),
        ('complexfloat', 'complex64', 8),
        ('complex<float>', 'complex64', 8),
        ('complexdouble', 'complex128', 16),
        ('complex<double>', 'complex128', 16)
    ) AS t (name, dtype, element_bytes);
