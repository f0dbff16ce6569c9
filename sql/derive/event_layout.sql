-- derive: event_layout
-- since: 0.1
-- summary: The kinds of events, and the columns of the raw table of each kind.
--
-- Both parsers of events read them from here: the full parse in SQL writes all kinds, the compiled
-- reader those that are compiled. The arguments of an event go to the columns of a table, if its kind
-- has one. Those columns stand between the fields and what is left.
SELECT
    [
        { 'name': 'host', 'columns_of': 'host_events', 'is_compiled': TRUE },
        { 'name': 'device', 'columns_of': 'device_events', 'is_compiled': TRUE },
        { 'name': 'memory', 'columns_of': 'memory_records', 'is_compiled': TRUE },
        { 'name': 'counter', 'columns_of': NULL, 'is_compiled': FALSE },
        { 'name': 'flow', 'columns_of': NULL, 'is_compiled': TRUE },
        { 'name': 'other', 'columns_of': NULL, 'is_compiled': TRUE }
    ] AS kinds,
    {
        'event_id': 'BIGINT',
        'phase': 'VARCHAR',
        'category': 'VARCHAR',
        'raw_category': 'VARCHAR',
        'name': 'VARCHAR',
        'pid': 'VARCHAR',
        'tid': 'VARCHAR',
        'ts_ns': 'BIGINT',
        'dur_ns': 'BIGINT',
        'flow_id': 'BIGINT'
    } AS fields,
    { 'args': 'JSON', 'raw': 'JSON' } AS remainders,
    event_bounds() AS bounds;
