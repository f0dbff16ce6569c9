-- The run whose trace starts last; if no trace says when it was recorded, the one ingested last.
SELECT t.run
FROM traces AS t
ORDER BY
    CASE WHEN has_epoch(t.skipped_reasons) THEN t.start_ns END DESC NULLS LAST,
    t.ingested_at DESC NULLS LAST,
    t.run ASC
LIMIT 1;
