-- derive: ascend_memory
-- since: 0.2
-- summary: The allocations of operator_memory.csv, or else the totals of memory_record.csv, as memory records.
--
-- Sizes are in KB and MB with a few decimals, so the bytes are rounded. The files name no addresses: a block is
-- numbered by its row. The number of an NPU among the devices of c10 is 20, privateuseone.
INSERT INTO raw_memory BY NAME
WITH
blocks AS (
    SELECT
        o.place,
        cell(o.fields, 'Name') AS operator,
        try_cast(regexp_extract(cell(o.fields, 'Device Type'), '(\d+)$', 1) AS INTEGER)
            AS device_id,
        bytes_of(cell(o.fields, 'Size(KB)'), 1024) AS size_bytes,
        o.fields
    FROM operator_memory AS o
),

changes AS (
    SELECT
        b.place,
        b.operator,
        b.device_id,
        0 AS turn,
        nanoseconds(cell(b.fields, 'Allocation Time(us)')) AS ts_ns,
        b.size_bytes AS change,
        bytes_of(cell(b.fields, 'Allocation Total Allocated(MB)'), 1048576) AS allocated,
        bytes_of(cell(b.fields, 'Allocation Total Reserved(MB)'), 1048576) AS reserved
    FROM blocks AS b
    UNION ALL
    SELECT
        b.place,
        b.operator,
        b.device_id,
        1,
        nanoseconds(cell(b.fields, 'Release Time(us)')),
        -b.size_bytes,
        bytes_of(cell(b.fields, 'Release Total Allocated(MB)'), 1048576),
        bytes_of(cell(b.fields, 'Release Total Reserved(MB)'), 1048576)
    FROM blocks AS b
    UNION ALL
    SELECT
        m.place,
        NULL,
        try_cast(regexp_extract(cell(m.fields, 'Device Type'), '(\d+)$', 1) AS INTEGER),
        0,
        nanoseconds(cell(m.fields, 'Timestamp(us)')),
        NULL,
        bytes_of(cell(m.fields, 'Total Allocated(MB)'), 1048576),
        bytes_of(cell(m.fields, 'Total Reserved(MB)'), 1048576)
    FROM memory_record AS m
    WHERE
        NOT EXISTS (FROM operator_memory)
        -- The row of several components is their sum.
        AND cell(m.fields, 'Component') = (
            SELECT
                arg_min(
                    cell(r.fields, 'Component'),
                    list_position(['PTA+GE', 'PTA', 'GE', 'APP'], cell(r.fields, 'Component'))
                )
            FROM memory_record AS r
        )
)

SELECT
    first_free_id() + row_number() OVER (ORDER BY c.ts_ns, c.turn, c.place) - 1 AS event_id,
    'i' AS phase,
    '[memory]' AS name,
    'ascend_memory' AS raw_category,
    (SELECT p.pid FROM ascend_host AS p) AS pid,
    c.ts_ns,
    c.device_id,
    CASE WHEN c.operator IS NOT NULL THEN c.place + 1 END AS address,
    c.change AS bytes,
    c.allocated AS total_allocated_bytes,
    c.reserved AS total_reserved_bytes,
    json_object('Device Type', 20, 'Name', c.operator) AS args
FROM changes AS c
WHERE c.ts_ns IS NOT NULL
ORDER BY event_id;
