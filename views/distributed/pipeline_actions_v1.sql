-- view: pipeline_actions
-- version: 1
-- since: 0.2
-- summary: What each rank of a pipeline did when, by the annotations of torch.distributed.pipelining.
-- grain: one row per action of a rank; two for an action that is two at once
-- distributes: run
-- order: run, worker, span, start_ns, event_id, gmc, action
-- empty: No trace has an annotation such as PP:2F0 or PP:2RECV_F0: torch.distributed.pipelining writes them for schedules with several stages per rank, such as Interleaved1F1B. A schedule with one stage per rank, such as 1F1B, writes none, and the annotations of GPipe, such as Forward 0, do not name the stage.
-- uses: is_wanted
-- example: drawn
--
-- An annotation names the model chunk, the action and the microbatch: PP:2F0 is the forward pass of microbatch 0
-- through chunk 2. PP:(2F1;0B0)OVERLAP_F_B is two actions at once, with one time for both.
--
-- Times are those of the annotation on the host. A forward or backward pass includes waiting for what it receives.
-- Sends and receives only start what they name, so their annotations are short: c10d::send and collectives on the
-- device have the transfer. range_gpu_projection has the device work of an annotation, but for a backward pass it misses
-- what the autograd thread launches.
--
-- Starts of different ranks compare only if all ranks are there, and on one host or with clocks that agree.
-- is_complete tells whether the run has a trace of each rank of the job; a pipeline is not comparable without.
--
-- These rows do not make the table pipeline_operations, which needs the times of transfers, and the end of each
-- step. The timers of Megatron-LM have both.
--
-- params
--   name  type    unit  default  meaning
--   run, worker, span
--   step  BIGINT  -     NULL     Number of a step as recorded: only actions that start inside it; NULL reports all.
-- columns
--   run, worker, span
--   name         type     unit  meaning
--   rank         INTEGER  -     Rank of the worker; NULL if the trace does not tell.
--   step         BIGINT   -     Step in which the action starts; NULL outside of steps.
--   gmc          BIGINT   key   Model chunk within the whole model, from 0.
--   action       VARCHAR  key   'forward', 'forward-recv', 'forward-send', 'backward', 'backward-recv', 'backward-send', 'unshard', 'reshard', 'reduce-grad'; 'backward-input' and 'backward-weight' are halves.
--   mb_id        BIGINT   -     Microbatch, from 0; NULL for an action on parameters.
--   start_ns     BIGINT   ns    When it started, nanoseconds since the epoch.
--   duration_us  DOUBLE   us    How long it took on the host.
--   is_double    BOOLEAN  -     Whether the annotation is of two actions at once.
--   is_complete  BOOLEAN  -     Whether the run has traces of all ranks of the job; NULL if no trace tells how many there are.
--   event_id     BIGINT   key   Row of the annotation in host_events.
CREATE MACRO pipeline_actions_v1(
    run VARCHAR := NULL, worker VARCHAR := NULL, span VARCHAR := NULL, step BIGINT := NULL
) AS TABLE
    WITH
    -- All workers of the run count.
    jobs AS (
        SELECT
            t.run,
            t.span,
            count(DISTINCT t."rank") >= max(t.world_size) AS is_complete
        FROM traces AS t
        WHERE (run IS NULL OR t.run = run) AND (span IS NULL OR t.span = span)
        GROUP BY t.run, t.span
    ),

    annotated AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.start_ns,
            h.duration_ns,
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

    named AS (
        SELECT
            a.*,
            try_cast(regexp_extract(a.text, '^(\d+)[A-Z_]+(\d*)$', 1) AS BIGINT) AS gmc,
            regexp_extract(a.text, '^\d+([A-Z_]+)\d*$', 1) AS code,
            try_cast(regexp_extract(a.text, '^(\d+)[A-Z_]+(\d*)$', 2) AS BIGINT) AS mb_id
        FROM annotated AS a
    ),

    actions AS (
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
        FROM named AS n
    )

    SELECT
        a.run,
        a.worker,
        a.span,
        t."rank",
        s.step,
        a.gmc,
        a.action,
        a.mb_id,
        a.start_ns,
        a.duration_ns / 1000.0 AS duration_us,
        a.is_double,
        j.is_complete,
        a.event_id
    FROM actions AS a
    INNER JOIN traces AS t ON a.run = t.run AND a.worker = t.worker AND a.span = t.span
    INNER JOIN jobs AS j ON a.run = j.run AND a.span = j.span
    LEFT JOIN steps AS s
        ON
            a.run = s.run AND a.worker = s.worker AND a.span = s.span
            AND a.start_ns >= s.start_ns AND a.start_ns < s.end_ns
    WHERE a.action IS NOT NULL AND a.gmc IS NOT NULL AND (step IS NULL OR s.step = step)
    ORDER BY
        a.run ASC, a.worker ASC, a.span ASC, a.start_ns ASC, a.event_id ASC, a.gmc ASC,
        a.action ASC;
