-- The steps of a trace with $changes, and their means, as texts; number 0 is all changes together.
SELECT
    w.number,
    w.changed,
    w.named,
    w.is_mean,
    w.step,
    as_time(w.host_us) AS host,
    as_time(w.new_host_us) AS new_host,
    as_time(w.drained_us) AS drained,
    as_time(w.new_drained_us) AS new_drained,
    CASE
        WHEN abs(coalesce(percentage(w.gain_us, w.drained_us), 0)) < 0.05 THEN '0 %'
        WHEN w.gain_us < 0 THEN '+' || as_percent(percentage(-w.gain_us, w.drained_us))
        ELSE '-' || as_percent(percentage(w.gain_us, w.drained_us))
    END AS change_text,
    CASE WHEN w.unexplained_us = 0 THEN '0' ELSE as_time(w.unexplained_us) END AS unexplained,
    coalesce(percentage(w.unexplained_us, w.drained_us), 0) AS unexplained_pct,
    as_percent(percentage(w.unexplained_us, w.drained_us)) AS unexplained_share,
    CASE w.limited_by
        WHEN 'data_loading' THEN 'data loading'
        ELSE w.limited_by
    END AS limited_by
FROM what_if(run := $run, worker := $worker, span := $span, changes := $changes) AS w;
