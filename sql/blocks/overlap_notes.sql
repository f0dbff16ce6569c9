-- block: overlap_notes
-- since: 0.2
-- summary: Traces whose collectives ran on the host beside no kernels, and what that means for comm_overlap, as sentences.
-- grain: one row per such trace
-- uses: is_wanted
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   message  VARCHAR  key  What is wrong with the figures, and why.
CREATE MACRO overlap_notes(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    SELECT
        a.run,
        a.worker,
        a.span,
        'It has no kernels. On the host, what starts a collective and waits for it counts as '
        || 'computation, so overlap_us is too high.' AS message
    FROM step_activity AS a
    WHERE is_wanted(a.run, a.worker, a.span, run, worker, span)
    GROUP BY a.run, a.worker, a.span
    HAVING bool_or(a.host_communication) AND NOT bool_or(a.kernel OR a.device_communication);
