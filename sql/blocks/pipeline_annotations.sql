-- block: pipeline_annotations
-- since: 0.2
-- summary: Annotations of torch.distributed.pipelining, with the model chunk, the action and the microbatch that they name.
-- grain: one row per action; two for an annotation that is two at once
-- uses: is_wanted
--
-- PP:2F0 is the forward pass of microbatch 0 through chunk 2. PP:(2F1;0B0)OVERLAP_F_B is two actions at once.
--
-- params
--   run, worker, span
-- columns
--   run, worker, span
--   event_id   BIGINT   key  Row of the annotation in host_events.
--   name       VARCHAR  -    Its name.
--   pid        VARCHAR  -    Its process.
--   tid        VARCHAR  -    Its thread.
--   start_ns   BIGINT   ns   Its start.
--   end_ns     BIGINT   ns   Its end.
--   is_double  BOOLEAN  -    Whether it is of two actions at once.
--   gmc        BIGINT   key  Model chunk within the whole model, from 0.
--   action     VARCHAR  key  As in pipeline_actions.
--   mb_id      BIGINT   -    Microbatch, from 0; NULL for an action on parameters.
CREATE MACRO pipeline_annotations(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL
) AS TABLE
    WITH
    _annotated AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.name,
            h.pid,
            h.tid,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns,
            contains(h.name, ';') AS is_double,
            unnest(
                string_split(
                    replace(replace(replace(h.name, 'PP:', ''), '(', ''), ')OVERLAP_F_B', ''), ';'
                )
            ) AS text
        FROM host_events AS h
        WHERE
            h.category = 'user_annotation'
            AND starts_with(h.name, 'PP:')
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    _named AS (
        SELECT
            a.*,
            try_cast(regexp_extract(a.text, '^(\d+)[A-Z_]+(\d*)$', 1) AS BIGINT) AS gmc,
            regexp_extract(a.text, '^\d+([A-Z_]+)\d*$', 1) AS code,
            try_cast(regexp_extract(a.text, '^(\d+)[A-Z_]+(\d*)$', 2) AS BIGINT) AS mb_id
        FROM _annotated AS a
    ),

    _actions AS (
        SELECT
            n.*,
            CASE n.code
                WHEN 'F' THEN 'forward'
                WHEN 'B' THEN 'backward'
                WHEN 'I' THEN 'backward-input'
                WHEN 'W' THEN 'backward-weight'
                WHEN 'SEND_F' THEN 'forward-send'
                WHEN 'RECV_F' THEN 'forward-recv'
                WHEN 'SEND_B' THEN 'backward-send'
                WHEN 'RECV_B' THEN 'backward-recv'
                WHEN 'UNSHARD' THEN 'unshard'
                WHEN 'RESHARD' THEN 'reshard'
                WHEN 'REDUCE_GRAD' THEN 'reduce-grad'
            END AS action
        FROM _named AS n
    )

    SELECT
        a.run,
        a.worker,
        a.span,
        a.event_id,
        a.name,
        a.pid,
        a.tid,
        a.start_ns,
        a.end_ns,
        a.is_double,
        a.gmc,
        a.action,
        a.mb_id
    FROM _actions AS a
    WHERE a.action IS NOT NULL AND a.gmc IS NOT NULL;
