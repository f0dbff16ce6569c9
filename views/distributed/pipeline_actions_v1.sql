-- view: pipeline_actions
-- version: 1
-- since: 0.2
-- summary: What each rank of a pipeline did when, by the annotations of torch.distributed.pipelining.
-- grain: one row per action of a rank; two for an action that is two at once
-- distributes: run
-- order: run, worker, span, start_ns, event_id, gmc, action
-- empty: No trace has an annotation such as PP:2F0 or PP:2RECV_F0: torch.distributed.pipelining writes them for schedules with several stages per rank, such as Interleaved1F1B. A schedule with one stage per rank, such as 1F1B, writes none, and the annotations of GPipe, such as Forward 0, do not name the stage.
-- uses: pipeline_annotations
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
-- The view pipeline_operation_table adds the times on the device, from which the views on stragglers are computed.
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
        (a.end_ns - a.start_ns) / 1000.0 AS duration_us,
        a.is_double,
        j.is_complete,
        a.event_id
    FROM pipeline_annotations(run, worker, span) AS a
    INNER JOIN traces AS t ON a.run = t.run AND a.worker = t.worker AND a.span = t.span
    INNER JOIN jobs AS j ON a.run = j.run AND a.span = j.span
    LEFT JOIN steps AS s
        ON
            a.run = s.run AND a.worker = s.worker AND a.span = s.span
            AND a.start_ns >= s.start_ns AND a.start_ns < s.end_ns
    WHERE step IS NULL OR s.step = step
    ORDER BY
        a.run ASC, a.worker ASC, a.span ASC, a.start_ns ASC, a.event_id ASC, a.gmc ASC,
        a.action ASC;
