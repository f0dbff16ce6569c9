-- derive: odd_numbers
-- since: 0.2
-- summary: Events with NaN or Infinity among their values, which DuckDB would read as numbers.
--
-- It reads the texts of events from others. A text inside an event may look the same.
SELECT o.event_id
FROM others AS o
WHERE regexp_matches(o.text, '[:,\[]\s*-?(?:nan|inf)', 'i')
