-- derive: nsys_macros
-- since: 0.1
-- summary: How rows of an Nsight Systems export become the words of Kineto.

CREATE MACRO nsys_pid(id) AS ((id >> 24) & 16777215)::VARCHAR;
CREATE MACRO nsys_tid(id) AS (id & 16777215)::VARCHAR;

-- When a row began; NULL if this or its end is damaged. The end is NULL if it is not recorded.
CREATE MACRO nsys_start(began_ns, end_ns) AS
    CASE
        WHEN
            abs(began_ns::DOUBLE) < 1000 * event_bounds().time_us
            AND coalesce(abs(end_ns::DOUBLE - began_ns), 0) < 1000 * event_bounds().duration_us
            THEN began_ns
    END;
CREATE MACRO nsys_time(at_ns) AS nsys_start(at_ns, NULL);

-- The name of a call without the version of its interface: cudaMalloc_v3020, cudaLaunchKernelExC_v11060.
CREATE MACRO nsys_call(name) AS regexp_replace(name, '_v\d{4,5}$', '');

-- The operator of PyTorch that a range is; name is '' for every other range. torch.autograd.profiler.emit_nvtx
-- writes `aten::add, seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids = [(33,0)]`, each part only where there
-- is one.
CREATE MACRO nsys_operator(written) AS
    CASE
        WHEN
            contains(written, ', seq = ') OR contains(written, ', op_id = ')
            OR contains(written, ', sizes = [')
            THEN
                regexp_extract(
                    written,
                    '(?s)^(.+?)(?:, seq = (\d+))?(?:, op_id = (\d+))?(?:, sizes = (\[.*?\]))?'
                    || '(?:, input_op_ids = .*)?$',
                    ['name', 'sequence', 'op', 'sizes']
                )
    END;

CREATE MACRO nsys_memory(kind) AS
    CASE kind
        WHEN 0 THEN 'Pageable' WHEN 1 THEN 'Pinned' WHEN 2 THEN 'Device' WHEN 3 THEN 'Array'
        WHEN 4 THEN 'Managed' WHEN 5 THEN 'Device Static' WHEN 6 THEN 'Managed Static'
        ELSE 'Unknown'
    END;

CREATE MACRO nsys_copy(kind) AS
    CASE kind
        WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 3 THEN 'HtoA' WHEN 4 THEN 'AtoH' WHEN 5 THEN 'AtoA'
        WHEN 6 THEN 'AtoD' WHEN 7 THEN 'DtoA' WHEN 8 THEN 'DtoD' WHEN 9 THEN 'HtoH' WHEN 10 THEN 'PtoP'
        WHEN 11 THEN 'Unified HtoD' WHEN 12 THEN 'Unified DtoH' WHEN 13 THEN 'Unified DtoD'
        ELSE 'Unknown'
    END;

CREATE MACRO nsys_sync(kind) AS
    CASE kind
        WHEN 1 THEN 'Event Sync' WHEN 2 THEN 'Stream Wait Event' WHEN 3 THEN 'Stream Sync'
        WHEN 4 THEN 'Context Sync' ELSE 'Unknown Sync'
    END;

-- 4294967295 means no stream, or no device.
CREATE MACRO nsys_stream(id) AS CASE WHEN id BETWEEN 0 AND 4294967294 THEN id END;
CREATE MACRO nsys_device(id) AS CASE WHEN id BETWEEN 0 AND 2147483647 THEN id END;

-- A whole number as text, and a number as JSON: those that JSON has no word for are texts.
CREATE MACRO nsys_whole(n) AS
    coalesce(
        n."int64Value"::VARCHAR,
        -- Negative ones are those above the largest number with a sign: SQLite holds the same bits.
        (
            n."uint64Value"::HUGEINT
            + CASE WHEN n."uint64Value" < 0 THEN 18446744073709551616 ELSE 0 END
        )::VARCHAR,
        n."int32Value"::VARCHAR,
        n."uint32Value"::VARCHAR
    );
CREATE MACRO nsys_number(number) AS
    CASE WHEN isfinite(number) THEN number::VARCHAR ELSE '"' || number || '"' END;

-- Whether a text is JSON. DuckDB also takes words such as NaN, and commas before a closing bracket.
CREATE MACRO nsys_is_json(written) AS
    json_valid(written)
    AND NOT regexp_matches(
        regexp_replace(written, '"(\\.|[^"\\])*"', '""', 'g'), '(?i)nan|inf|,\s*[\]}]'
    );

-- The payload and the category of a range or mark; {} without them.
CREATE MACRO nsys_range_arguments(n) AS
    '{' || concat_ws(
        ',',
        CASE WHEN n.category > 0 THEN '"category":' || n.category END,
        CASE
            WHEN nsys_whole(n) IS NOT NULL THEN '"payload":' || nsys_whole(n)
            WHEN try_cast(coalesce(n."doubleValue", n."floatValue") AS DOUBLE) IS NOT NULL
                THEN
                    '"payload":'
                    || nsys_number(try_cast(coalesce(n."doubleValue", n."floatValue") AS DOUBLE))
            WHEN nsys_is_json(n."jsonText") THEN '"payload":' || n."jsonText"
            WHEN n."jsonText" IS NOT NULL THEN '"payload":' || to_json(n."jsonText")
        END
    ) || '}';

-- Ranges that are steps: iteration 12, step 12, Step #12, ProfilerStep#12. Names that differ in the number only
-- are of one kind.
CREATE MACRO is_step(name) AS
    regexp_full_match(name, '(?i)((training|train) ?)?(profilerstep|iteration|iter|step)[ _:#-]*\d+');
CREATE MACRO nsys_step_kind(name) AS regexp_replace(name, '\d+', '*');
