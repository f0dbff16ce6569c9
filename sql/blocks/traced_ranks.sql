-- block: traced_ranks
-- since: 0.2
-- summary: Stage, data-parallel rank and clock of each rank of a pipeline-parallel job, from annotations of its traces.
-- grain: one row per trace with annotations of a pipeline
-- uses: aligned_clocks, matched_collectives, pipeline_annotations
--
-- Ranks with the same model chunks are of the same stage. There are as many stages as different sets of chunks. The
-- stage is the lowest chunk modulo their number. Ranks of a stage are numbered as data-parallel ranks.
--
-- params
--   run
--   span
-- columns
--   run, worker, span
--   name          type      unit  meaning
--   chunks        BIGINT[]  -     Its model chunks, in order.
--   stages        BIGINT    -     Number of stages of the job.
--   model_chunks  BIGINT    -     Number of chunks of the model.
--   stage         BIGINT    -     Its stage.
--   rank          INTEGER   -     Its rank in the job; NULL if it is not recorded.
--   world_size    INTEGER   -     Number of ranks of the job; NULL if it is not recorded.
--   clock_id      BIGINT    -     Number of its clock; this and the next columns as in aligned_clocks.
--   component     BIGINT    -     Number of the component of its clock.
--   offset_ns     BIGINT    ns    How far its clock is ahead at at_ns; NULL if that is not known.
--   drift         DOUBLE    -     How much faster its clock runs, as a share.
--   at_ns         BIGINT    ns    Instant of its clock for which the offset holds.
--   is_moved      BOOLEAN   -     Whether its times are to be moved.
--   dp_rank       BIGINT    -     Its data-parallel rank, from 0.
--   dp_ranks      BIGINT    -     Number of ranks of its stage.
CREATE MACRO traced_ranks(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _held AS MATERIALIZED (
        SELECT
            a.run,
            a.worker,
            a.span,
            list_sort(list(DISTINCT a.gmc)) AS chunks
        FROM pipeline_annotations(run, NULL, span) AS a
        GROUP BY a.run, a.worker, a.span
    ),

    _jobs AS MATERIALIZED (
        SELECT
            h.run,
            h.span,
            count(DISTINCT h.chunks) AS stages,
            max(list_max(h.chunks)) + 1 AS chunks
        FROM _held AS h
        GROUP BY h.run, h.span
    ),

    _matched AS MATERIALIZED (
        SELECT m.* FROM matched_collectives(run, NULL, span) AS m
    ),

    _clocks AS MATERIALIZED (
        SELECT c.* FROM aligned_clocks('_matched', run, span) AS c
    )

    SELECT
        h.run,
        h.worker,
        h.span,
        h.chunks,
        j.stages,
        j.chunks AS model_chunks,
        h.chunks[1] % j.stages AS stage,
        t."rank",
        t.world_size,
        c.clock_id,
        c.component,
        c.offset_ns,
        c.drift,
        c.at_ns,
        c.is_moved,
        row_number() OVER (PARTITION BY h.run, h.span, h.chunks ORDER BY t."rank") - 1
            AS dp_rank,
        count(*) OVER (PARTITION BY h.run, h.span, h.chunks) AS dp_ranks
    FROM _held AS h
    INNER JOIN _jobs AS j ON h.run = j.run AND h.span = j.span
    INNER JOIN traces AS t ON h.run = t.run AND h.worker = t.worker AND h.span = t.span
    INNER JOIN _clocks AS c ON h.run = c.run AND h.worker = c.worker AND h.span = c.span;
