-- derive: event_kinds
-- since: 0.1
-- summary: Table, category and kind of an event, from its phase, category and name.
--
-- The profiler renamed the categories of 2021 (Operator, Runtime, Kernel, Memcpy, Memset, User), and each
-- accelerator adds its own. A complete event of an unknown category counts as device work if its
-- arguments place it on a stream, and as host work otherwise.

-- The largest values that are read, of either sign.
--     time_us, duration_us  Times up to the year 2096 and durations up to 31 years: in nanoseconds, both and
--                           their sum fit 64 bits. Larger values are not times, and stay in raw.
--     exact_ns              Below it, a double of microseconds reproduces the nanoseconds.
--     compiled_ns           The compiled reader leaves longer durations to the full parse.
--     decimal               From here on, DuckDB may write a number in another way than the file.
--     arguments             Smallest and largest value that a column holds. Files write values outside of
--                           this range for 'none': the column is NULL and the value stays in args. More bytes
--                           than a petabyte are damaged, and their sums would not fit 64 bits.
CREATE MACRO event_bounds() AS {
    'time_us': 4e15,
    'duration_us': 1e15,
    'exact_ns': 9e15,
    'compiled_ns': 1e15,
    'decimal': 9e15,
    'arguments': {
        'external_id': [1, 9223372036854775807],
        'correlation_id': [1, 9223372036854775807],
        'sequence_number': [0, 9223372036854775807],
        'stream_id': [0, 4294967294],
        'device_id': [0, 2147483647],
        'bytes': [-1125899906842624, 1125899906842624],
        'total_allocated_bytes': [-1125899906842624, 1125899906842624],
        'total_reserved_bytes': [-1125899906842624, 1125899906842624]
    }
};

-- The current name of a category. In 2021 files, Operator also covered today's annotations.
CREATE MACRO current_category(category, name) AS
    CASE category
        WHEN 'Operator' THEN
            CASE
                WHEN
                    name LIKE 'ProfilerStep#%' OR name LIKE 'enumerate(Data%)#%'
                    OR name LIKE 'Optimizer.%'
                    OR name IN ('DataParallel.forward', 'DistributedDataParallel.forward')
                    THEN 'user_annotation'
                ELSE 'cpu_op'
            END
        WHEN 'Runtime' THEN 'cuda_runtime'
        WHEN 'Kernel' THEN 'kernel'
        WHEN 'Memcpy' THEN 'gpu_memcpy'
        WHEN 'Memset' THEN 'gpu_memset'
        WHEN 'User' THEN 'user_annotation'
        ELSE category
    END;

-- The table that holds an event. torch's exporter in Python, use_python_export, writes an instant as an event
-- that lasts until the recording ends: cpu_instant_event tells that it is one. Of collective_comm, the plugin for XPU
-- writes calls of oneCCL, on threads of the host: the kernels that they launch are rows of their own.
CREATE MACRO event_table(phase, category, name, is_timed, has_stream) AS
    CASE
        WHEN phase IN ('s', 't', 'f') THEN 'flow'
        WHEN
            name = '[memory]'
            AND (phase IN ('i', 'I') OR phase = 'X' AND category = 'cpu_instant_event')
            THEN 'memory'
        WHEN phase = 'C' THEN 'counter'
        WHEN
            phase IS DISTINCT FROM 'X' OR NOT is_timed OR category IN ('Trace', 'cpu_instant_event')
            THEN 'other'
        WHEN
            category IN (
                'kernel', 'gpu_memcpy', 'gpu_memset', 'cuda_sync', 'cuda_event', 'xpu_sync',
                'gpu_user_annotation', 'cuda_profiler_range', 'mtia_ccp_events',
                'mtia_workloadd', 'hpu_op', 'mtia_insight',
                'graph_event_node', 'graph_host_node'
            )
            THEN 'device'
        WHEN
            category IN ('cpu_op', 'user_annotation', 'python_function', 'overhead')
            OR category LIKE '%\_runtime' ESCAPE '\' OR category LIKE '%\_driver' ESCAPE '\'
            THEN 'host'
        WHEN has_stream THEN 'device'
        ELSE 'host'
    END;

CREATE MACRO is_launch_category(category) AS
    category LIKE '%\_runtime' ESCAPE '\' OR category LIKE '%\_driver' ESCAPE '\';

-- Small traces are linked together. The number of an event's trace is in the upper bits of its event_id, and the
-- position in the file in the lower 40.
CREATE MACRO trace_of(event_id) AS event_id >> 40;

CREATE MACRO position_of(event_id) AS event_id & ((1::BIGINT << 40) - 1);

CREATE MACRO is_op_category(category) AS category IN ('cpu_op', 'user_annotation');

-- Device rows whose process is the device, and whose arguments may not name it.
CREATE MACRO has_device_as_process(category) AS
    coalesce(category IN ('gpu_user_annotation', 'cuda_profiler_range', 'mtia_ccp_events'), false);

-- Kineto's word for a kind of memory that torch's CUPTI monitor wrote: a word, or the number of a
-- CUpti_ActivityMemoryKind.
CREATE MACRO memory_kind(written) AS
    CASE
        WHEN written IN ('pageable', '1') THEN 'Pageable'
        WHEN written IN ('pinned', '2') THEN 'Pinned'
        WHEN written IN ('device', '3') THEN 'Device'
        WHEN written IN ('array', '4') THEN 'Array'
        WHEN written IN ('managed', '5') THEN 'Managed'
        WHEN written IN ('device_static', '6') THEN 'Device Static'
        WHEN written IN ('managed_static', '7') THEN 'Managed Static'
        ELSE 'Unknown'
    END;

-- The name that Kineto gives a copy, such as 'Memcpy HtoD (Pageable -> Device)'. torch's CUPTI monitor calls all copies
-- 'Memcpy' and all memsets 'Memset', and says the rest in arguments. Its words have none for a copy on the host, the
-- CUpti_ActivityMemcpyKind 9.
CREATE MACRO copy_name(category, name, args) AS
    CASE
        WHEN category = 'gpu_memcpy' AND name = 'Memcpy' AND args ->> '$."copy kind"' IS NOT NULL
            THEN
                'Memcpy ' || replace(args ->> '$."copy kind"', '9', 'HtoH') || ' ('
                || memory_kind(args ->> '$."src kind"') || ' -> '
                || memory_kind(args ->> '$."dst kind"') || ')'
        WHEN category = 'gpu_memset' AND name = 'Memset' AND args ->> '$."memory kind"' IS NOT NULL
            THEN 'Memset (' || memory_kind(args ->> '$."memory kind"') || ')'
        ELSE name
    END;

-- The kind of a device event. Kernels of collectives are recognised by the arguments in newer files, or else
-- by the names in kernel_patterns. ROCm 7 runs copies as kernels.
CREATE MACRO device_kind(category, name, collective) AS
    CASE
        WHEN category = 'gpu_memcpy' THEN 'memcpy'
        WHEN category = 'gpu_memset' THEN 'memset'
        WHEN
            category IN (
                'cuda_sync', 'xpu_sync', 'cuda_event', 'graph_event_node', 'graph_host_node'
            )
            THEN 'sync'
        WHEN category IN ('gpu_user_annotation', 'cuda_profiler_range') THEN 'annotation'
        WHEN
            collective IS NOT NULL OR category = 'collective_comm'
            OR regexp_matches(name, getvariable('names_that_say')['communication'])
            THEN 'communication'
        WHEN name LIKE '\_\_amd\_rocclr\_copyBuffer%' ESCAPE '\' OR name LIKE 'MEMORY\_COPY\_%' ESCAPE '\'
            THEN 'memcpy'
        WHEN category = 'mtia_ccp_events' AND name LIKE 'dma%' THEN 'memcpy'
        WHEN category = 'mtia_ccp_events' AND (name LIKE 'event\_%' ESCAPE '\' OR name ILIKE '%sync%')
            THEN 'sync'
        ELSE 'compute'
    END;

-- Whether a kernel uses tensor cores, or the matrix cores of AMD. NULL if its name does not tell.
CREATE MACRO uses_tensor_cores(name) AS
    CASE
        WHEN regexp_matches(name, getvariable('names_that_say')['exempt']) THEN FALSE
        WHEN regexp_matches(name, getvariable('names_that_say')['tensor_cores']) THEN TRUE
        WHEN regexp_matches(name, getvariable('names_that_say')['unclear']) THEN NULL
        WHEN regexp_matches(name, getvariable('names_that_say')['plain']) THEN FALSE
    END;

-- Name of a c10::DeviceType, by its number; NULL for a number that is none.
CREATE MACRO device_type(number) AS
    [
        'cpu', 'cuda', 'mkldnn', 'opengl', 'opencl', 'ideep', 'hip', 'fpga', 'maia', 'xla', 'vulkan',
        'metal', 'xpu', 'mps', 'meta', 'hpu', 've', 'lazy', 'ipu', 'mtia', 'privateuseone'
    ][greatest(number, -1)::BIGINT + 1];

-- Whether a text is a whole number as JSON writes it.
CREATE MACRO is_whole_number(text) AS
    coalesce(
        try_cast(text AS BIGINT)::VARCHAR = text, try_cast(text AS UBIGINT)::VARCHAR = text, false
    );

-- Whole nanoseconds from microseconds as text. NULL if the text is not a number. The profiler writes three
-- decimals. A text such as 1.5e3 has a point in the same place.
CREATE MACRO nanoseconds(microseconds) AS
    CASE
        WHEN
            microseconds[-4] = '.'
            AND regexp_full_match(microseconds, '[-+]?\d*\.\d{3}')
            THEN try_cast(replace(microseconds, '.', '') AS BIGINT)
        ELSE try_cast(try_cast(microseconds AS DECIMAL(28, 9)) * 1000 AS BIGINT)
    END;

-- Whether whole nanoseconds reproduce the number in the file.
CREATE MACRO are_exact(ns, microseconds) AS
    CASE
        WHEN abs(ns) < event_bounds().exact_ns THEN ns / 1000 = microseconds
        ELSE (ns // 1000) + (ns % 1000) / 1000 = microseconds
    END;

CREATE MACRO is_time(microseconds) AS abs(microseconds) < event_bounds().time_us;
CREATE MACRO is_duration(microseconds) AS abs(microseconds) < event_bounds().duration_us;

-- The duration of an event. `dur` is a double; from 104 days on, its digits are read from the text.
CREATE MACRO duration_nanoseconds(event_text, dur) AS
    CASE
        WHEN abs(dur) * 1000 < event_bounds().exact_ns THEN round(dur * 1000)::BIGINT
        ELSE
            coalesce(
                nanoseconds(
                    list_filter(
                        regexp_extract_all(event_text, '"dur"\s*:\s*([-+.0-9eE]+)', 1),
                        lambda place: try_cast(place AS DOUBLE) = dur
                    )[1]
                ),
                round(dur * 1000)::BIGINT
            )
    END;

-- The duration of an event from its rounded start to its rounded end. If a program writes picoseconds, an event
-- and one that encloses it may end at the same time. With rounded durations they would not.
CREATE MACRO rounded_duration(event_text, ts_text, ts, ts_ns, dur) AS
    CASE
        WHEN
            dur > 0 AND regexp_matches(ts_text, '\.\d{3}\d*[1-9]') AND try_cast(ts_text AS DOUBLE) = ts
            THEN
                coalesce(
                    (
                        try_cast(ts_text AS DECIMAL(28, 9)) * 1000 - ts_ns
                        + try_cast(dur * 1000 AS DECIMAL(28, 6))
                    )::BIGINT,
                    duration_nanoseconds(event_text, dur)
                )
        ELSE duration_nanoseconds(event_text, dur)
    END;

-- The time of an event from its text. `ts` was converted to a double, which keeps microseconds but not
-- always nanoseconds. The text after the first "ts": is the field, unless an argument or a name contains the
-- same characters. In that case it differs from the double, and all places are tried.
CREATE MACRO exact_nanoseconds(event_text, ts_text, ts) AS
    CASE
        WHEN try_cast(ts_text AS DOUBLE) = ts THEN nanoseconds(ts_text)
        ELSE
            nanoseconds(
                list_filter(
                    regexp_extract_all(event_text, '"ts"\s*:\s*([-+.0-9eE]+)', 1),
                    lambda place: try_cast(place AS DOUBLE) = ts
                )[1]
            )
    END;

-- A JSON object with markers in front: "key":null for each key whose value is in a column of another name.
-- NULL if the result is empty.
CREATE MACRO with_marks(object, marks) AS
    CASE
        WHEN marks = '' THEN nullif(object, '{}')
        WHEN object = '{}' THEN '{' || marks || '}'
        ELSE '{' || marks || ',' || substr(object, 2)
    END;

-- What the columns of an arrow do not hold of one of its rows: the phase of a step in between, a name of
-- its own (no_name if it has none), and the fields in raw. NULL for almost all rows.
CREATE MACRO flow_rest(phase, name, arrow_name, raw) AS
    CASE
        WHEN phase <> 't' AND name IS NOT DISTINCT FROM arrow_name THEN raw::VARCHAR
        ELSE
            with_marks(
                coalesce(raw::VARCHAR, '{}'),
                concat_ws(
                    ',',
                    CASE WHEN phase = 't' THEN '"ph":"t"' END,
                    CASE
                        WHEN name IS NOT DISTINCT FROM arrow_name OR json_exists(raw, '$.name') THEN NULL
                        WHEN name IS NULL THEN '"no_name":true'
                        ELSE '"name":' || to_json(name)
                    END
                )
            )
    END;

-- All profiler steps have one name in a stack.
CREATE MACRO stack_name(name) AS
    CASE WHEN starts_with(name, 'ProfilerStep#') THEN 'ProfilerStep*' ELSE name END;

-- The innermost line of the Python frames recorded with an operator.
CREATE MACRO executed_line(category, call_stack) AS
    CASE WHEN category = 'cpu_op' THEN nullif(split_part(call_stack, ';', 1), '') END;
