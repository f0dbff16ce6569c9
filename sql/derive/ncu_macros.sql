-- derive: ncu_macros
-- since: 0.2
-- summary: What the words and numbers of Nsight Compute's CSV mean.

CREATE MACRO ncu_field(fields, key) AS nullif(trim(fields ->> ('$."' || key || '"')), '');

-- The id of a launch in a file: that in its table, after the number of the table.
CREATE MACRO ncu_launch(number, fields) AS
    number * 4294967296 + try_cast(ncu_field(fields, 'ID') AS BIGINT);

CREATE MACRO ncu_number(written, has_decimal_comma) AS try_cast(
    CASE
        WHEN has_decimal_comma
            THEN replace(replace(regexp_replace(written, '[ \x{A0}\x{202F}''’]', '', 'g'), '.', ''), ',', '.')
        ELSE replace(regexp_replace(written, '[ \x{A0}\x{202F}''’]', '', 'g'), ',', '')
    END AS DOUBLE
);

-- Times become nanoseconds, everything else its unit without a prefix, per second.
CREATE MACRO ncu_factor(unit) AS
    CASE
        WHEN unit IN ('nsecond', 'ns') THEN 1
        WHEN unit IN ('usecond', 'us') THEN 1e3
        WHEN unit IN ('msecond', 'ms') THEN 1e6
        WHEN unit IN ('second', 's') THEN 1e9
        ELSE
            CASE
                WHEN regexp_matches(unit, '^K[a-z]') THEN 1e3
                WHEN regexp_matches(unit, '^M[a-z]') THEN 1e6
                WHEN regexp_matches(unit, '^G[a-z]') THEN 1e9
                WHEN regexp_matches(unit, '^T[a-z]') THEN 1e12
                ELSE 1
            END
            * CASE
                WHEN regexp_matches(unit, '/(nsecond|ns)$') THEN 1e9
                WHEN regexp_matches(unit, '/(usecond|us)$') THEN 1e6
                WHEN regexp_matches(unit, '/(msecond|ms)$') THEN 1e3
                ELSE 1
            END
    END;

-- The metric behind a label of the details page; a label without one keeps its section in front.
CREATE MACRO ncu_metric(section, label, unit) AS
    CASE
        WHEN section IS NULL OR contains(label, '__') THEN label
        WHEN label = 'Duration' THEN 'gpu__time_duration.sum'
        WHEN label = 'L1/TEX Hit Rate' THEN 'l1tex__t_sector_hit_rate.pct'
        WHEN label = 'L2 Hit Rate' THEN 'lts__t_sector_hit_rate.pct'
        WHEN label = 'Memory Throughput' AND unit <> '%' THEN 'dram__bytes.sum.per_second'
        WHEN label = 'Memory Throughput'
            THEN 'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed'
        WHEN label = 'DRAM Throughput'
            THEN 'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed'
        WHEN label IN ('Compute (SM) Throughput', 'SM Throughput')
            THEN 'sm__throughput.avg.pct_of_peak_sustained_elapsed'
        WHEN label = 'Achieved Occupancy' THEN 'sm__warps_active.avg.pct_of_peak_sustained_active'
        WHEN label = 'Registers Per Thread' THEN 'launch__registers_per_thread'
        ELSE section || ': ' || label
    END;
