-- Finding of the panel: the stream whose queue is full for longest, or else the longest queue.
WITH named AS (
    SELECT
        p.full_us,
        p.full_pct,
        p.max_length,
        format('stream {}', p.stream_id)
        || if(count(DISTINCT p.device_id) OVER () > 1, format(' of device {}', p.device_id), '')
            AS stream
    FROM panel_rows AS p
)

SELECT
    CASE
        WHEN max(n.full_us) > 0
            THEN
                format(
                    'The queue of {} is full for {}, {} of the time.',
                    arg_max(n.stream, n.full_us),
                    as_time(max(n.full_us)),
                    as_percent(arg_max(n.full_pct, n.full_us))
                )
        ELSE
            format(
                'No queue is ever full; the longest, of {}, holds {} {}.',
                arg_max(n.stream, n.max_length),
                max(n.max_length),
                if(max(n.max_length) = 1, 'launch', 'launches')
            )
    END AS finding
FROM named AS n
HAVING count(*) < $most_rows AND max(n.max_length) > 0;
