-- block: traced_operations
-- since: 0.2
-- summary: Operations of a pipeline-parallel job from the traces of its ranks, or why they do not give them.
-- grain: one row per operation; of a job that is refused one row with the reason
-- uses: annotated_operations, traced_ranks
--
-- Steps that are not whole on all ranks are left out. Starts on different hosts are moved to one clock, as the view
-- collectives does.
--
-- With several chunks per stage, pipeline_matches needs a receive and a send for each computation. The first chunk of the
-- model receives nothing forward, and the last sends nothing. These get an operation of no duration, where the computation
-- starts or ends, in the order of the computations.
--
-- params
--   run
--   span
-- columns
--   run, worker, span
--   name      type     unit  meaning
--   fault     VARCHAR  -     Why the job is refused; NULL if it is not, and then the other columns have values.
--   dp_rank   BIGINT   -     Data-parallel rank.
--   stage     BIGINT   -     Pipeline stage.
--   rank      INTEGER  key   Global rank.
--   step      BIGINT   key   Step.
--   optype    VARCHAR  key   Type of the operation.
--   start_ns  BIGINT   ns    Its start, on one clock.
--   end_ns    BIGINT   ns    Its end.
--   seq_id    BIGINT   key   Number among those of its type, step and rank, in order of start, from 0.
--   mc        BIGINT   -     Model chunk within the stage, of computations and collectives; or -1.
--   mb_id     BIGINT   -     Microbatch of a computation; or -1.
--   gmc       BIGINT   -     Model chunk of a computation within the whole model; or -1.
CREATE MACRO traced_operations(run VARCHAR := NULL, span VARCHAR := NULL) AS TABLE
    WITH
    _ranks AS MATERIALIZED (
        SELECT r.* FROM traced_ranks(run, span) AS r
    ),

    _counted AS (
        SELECT
            o.*,
            r."rank",
            r.stage,
            r.stages,
            r.model_chunks,
            r.dp_rank,
            CASE
                WHEN r.is_moved
                    THEN r.offset_ns + round(r.drift * (o.start_ns - r.at_ns))::BIGINT
                ELSE 0
            END AS ahead_ns
        FROM annotated_operations(run, span) AS o
        INNER JOIN _ranks AS r ON o.run = r.run AND o.worker = r.worker AND o.span = r.span
    ),

    _whole AS (
        SELECT c.run, c.span, c.step
        FROM _counted AS c
        INNER JOIN (
            SELECT r.run, r.span, count(*) AS ranks
            FROM _ranks AS r
            GROUP BY r.run, r.span
        ) AS r ON c.run = r.run AND c.span = r.span
        GROUP BY c.run, c.span, c.step
        HAVING count(DISTINCT c.worker) = max(r.ranks)
    ),

    _placed AS MATERIALIZED (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.event_id,
            c.name,
            c.step,
            c.optype,
            c.gmc,
            c.mb_id,
            c.is_double,
            c.does_communicate,
            c."rank",
            c.stage,
            c.stages,
            c.model_chunks,
            c.dp_rank,
            c.start_ns - c.ahead_ns AS start_ns,
            c.end_ns - c.ahead_ns AS end_ns
        FROM _counted AS c
        SEMI JOIN _whole AS w ON c.run = w.run AND c.span = w.span AND c.step = w.step
    ),

    _computed AS (
        SELECT
            p.*,
            split_part(p.optype, '-', 1) AS direction,
            row_number() OVER (
                PARTITION BY p.run, p.worker, p.span, p.step, p.optype
                ORDER BY p.start_ns, p.event_id
            ) AS turn
        FROM _placed AS p
        WHERE p.optype IN ('forward-compute', 'backward-compute')
    ),

    -- The receive and the send of each computation.
    _slots AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            c.name,
            c.step,
            c."rank",
            c.stage,
            c.dp_rank,
            c.turn,
            c.gmc,
            c.mb_id,
            c.direction || '-' || k.kind AS optype,
            c.model_chunks > c.stages AS is_needed,
            c.gmc
            + CASE WHEN (k.kind = 'send') = (c.direction = 'forward') THEN 1 ELSE -1 END
            BETWEEN 0 AND c.model_chunks - 1 AS has_peer,
            c.start_ns AS compute_start_ns,
            c.end_ns AS compute_end_ns
        FROM _computed AS c
        CROSS JOIN (VALUES ('recv'), ('send')) AS k (kind)
    ),

    _filled AS MATERIALIZED (
        SELECT
            s.*,
            p.event_id,
            p.start_ns,
            p.end_ns,
            max(p.start_ns) OVER (
                of_type ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before_ns,
            min(p.start_ns) OVER (
                of_type ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) AS after_ns
        FROM _slots AS s
        LEFT JOIN _placed AS p
            ON
                s.run = p.run AND s.worker = p.worker AND s.span = p.span AND s.step = p.step
                AND s.optype = p.optype AND s.gmc = p.gmc AND s.mb_id = p.mb_id
        WINDOW of_type AS (
            PARTITION BY s.run, s.worker, s.span, s.step, s.optype ORDER BY s.turn, p.event_id
        )
    ),

    _faults AS (
        SELECT
            r.run,
            r.span,
            1 AS place,
            CASE
                WHEN count(*) > count(DISTINCT r."rank")
                    THEN
                        'Ranks are not comparable: a trace does not tell its rank, or a rank has '
                        || 'several traces.'
                WHEN max(r.world_size) IS NULL
                    THEN
                        'Ranks are not comparable: no trace tells how many ranks the job has, so '
                        || 'some may be missing.'
                ELSE
                    'Ranks are not comparable: ' || count(*) || ' of ' || max(r.world_size)
                    || ' have a trace with annotations such as PP:0F0. Record all ranks.'
            END AS message
        FROM _ranks AS r
        GROUP BY r.run, r.span
        HAVING
            count(*) > count(DISTINCT r."rank")
            OR coalesce(count(*) < max(r.world_size), TRUE)
        UNION ALL
        SELECT
            r.run,
            r.span,
            2,
            'Ranks are not comparable: no collective tells how the clocks of their hosts differ. '
            || 'The view clocks says why.'
        FROM _ranks AS r
        GROUP BY r.run, r.span
        HAVING
            count(DISTINCT r.clock_id) > 1
            AND (count(r.offset_ns) < count(*) OR count(DISTINCT r.component) > 1)
        UNION ALL
        SELECT
            r.run,
            r.span,
            3,
            'Rank ' || r."rank" || ' has model chunks ' || r.chunks::VARCHAR
            || '. Stage s of ' || r.stages || ' must have chunks s, s + ' || r.stages
            || ', ..., and all stages must have equally many ranks.'
        FROM _ranks AS r
        INNER JOIN (
            SELECT d.run, d.span, min(d.dp_ranks) AS dp_ranks
            FROM _ranks AS d
            GROUP BY d.run, d.span
        ) AS d ON r.run = d.run AND r.span = d.span
        WHERE
            r.chunks IS DISTINCT FROM range(r.stage, r.model_chunks, r.stages)
            OR r.dp_ranks > d.dp_ranks
        UNION ALL
        SELECT
            p.run,
            p.span,
            4,
            p.name || ' of rank ' || p."rank"
            || CASE
                WHEN p.is_double
                    THEN ' is two actions at once, and the device does not tell them apart.'
                ELSE
                    ' is half of a backward pass, and the model of a pipeline has whole ones only.'
            END
        FROM _placed AS p
        WHERE p.is_double OR p.optype IN ('backward-input', 'backward-weight')
        UNION ALL
        SELECT
            p.run,
            p.span,
            5,
            p.name || ' of rank ' || p."rank"
            || CASE
                WHEN p.optype LIKE '%-compute' OR p.optype = 'optimizer'
                    THEN ' launched no work of a device, so its time is not known.'
                ELSE
                    ' launched no transfer of a device: it runs on the host, or several sends and '
                    || 'receives were launched together.'
            END
        FROM _placed AS p
        WHERE p.start_ns IS NULL
        UNION ALL
        SELECT
            p.run,
            p.span,
            6,
            p.name || ' of rank ' || p."rank" || ' has collectives inside: with tensor '
            || 'parallelism, or parameters that are gathered by layer, the table cannot be made.'
        FROM _placed AS p
        WHERE p.optype = 'forward-compute' AND p.does_communicate
        UNION ALL
        SELECT
            f.run,
            f.span,
            7,
            f.name || ' of rank ' || f."rank"
            || CASE
                WHEN f.event_id IS NULL THEN ' has no annotation of its ' || f.optype || '.'
                ELSE ' and its ' || f.optype || ' are not in the same order as others.'
            END
        FROM _filled AS f
        WHERE (f.event_id IS NULL AND f.has_peer) OR f.start_ns < f.before_ns
        UNION ALL
        SELECT
            p.run,
            p.span,
            8,
            p.name || ' of rank ' || p."rank" || ' has no computation in its step.'
        FROM _placed AS p
        ANTI JOIN _filled AS f
            ON
                p.run = f.run AND p.worker = f.worker AND p.span = f.span
                AND p.event_id = f.event_id
        WHERE p.optype IN ('forward-send', 'forward-recv', 'backward-send', 'backward-recv')
        UNION ALL
        SELECT
            r.run,
            r.span,
            9,
            CASE
                WHEN count(p.event_id) = 0
                    THEN 'No step, which is an annotation ProfilerStep#, is whole on all ranks.'
                ELSE
                    'A rank has a step without an annotation Optimizer.step#, which ends a step.'
            END
        FROM _ranks AS r
        LEFT JOIN _placed AS p
            ON r.run = p.run AND r.worker = p.worker AND r.span = p.span
        GROUP BY r.run, r.span
        HAVING
            count(DISTINCT row(p.worker, p.step)) FILTER (WHERE p.optype = 'optimizer')
            < count(DISTINCT row(p.worker, p.step)) FILTER (WHERE p.optype IS NOT NULL)
            OR count(p.event_id) = 0
    ),

    _first_faults AS MATERIALIZED (
        SELECT f.run, f.span, arg_min(f.message, (f.place, f.message)) AS fault
        FROM _faults AS f
        GROUP BY f.run, f.span
    ),

    _rows AS (
        SELECT
            p.run,
            p.worker,
            p.span,
            p.dp_rank,
            p.stage,
            p."rank",
            p.step,
            p.optype,
            p.start_ns,
            p.end_ns,
            p.event_id AS turn,
            coalesce(p.gmc // p.stages, -1) AS mc,
            coalesce(p.mb_id, -1) AS mb_id,
            CASE WHEN p.mb_id IS NULL THEN -1 ELSE p.gmc END AS gmc
        FROM _placed AS p
        WHERE p.optype NOT IN ('forward-send', 'forward-recv', 'backward-send', 'backward-recv')
        UNION ALL
        SELECT
            f.run,
            f.worker,
            f.span,
            f.dp_rank,
            f.stage,
            f."rank",
            f.step,
            f.optype,
            CASE
                WHEN f.event_id IS NOT NULL THEN f.start_ns
                WHEN f.optype LIKE '%-recv' THEN least(f.compute_start_ns, f.after_ns)
                ELSE greatest(f.compute_end_ns, f.before_ns)
            END AS start_ns,
            f.end_ns,
            f.turn,
            -1,
            -1,
            -1
        FROM _filled AS f
        WHERE f.event_id IS NOT NULL OR (f.is_needed AND NOT f.has_peer)
    )

    SELECT
        r.run,
        r.worker,
        r.span,
        NULL AS fault,
        r.dp_rank,
        r.stage,
        r."rank",
        r.step,
        r.optype,
        r.start_ns,
        coalesce(r.end_ns, r.start_ns) AS end_ns,
        row_number() OVER (
            PARTITION BY r.run, r.worker, r.span, r.step, r.optype ORDER BY r.start_ns, r.turn
        ) - 1 AS seq_id,
        r.mc,
        r.mb_id,
        r.gmc
    FROM _rows AS r
    ANTI JOIN _first_faults AS f ON r.run = f.run AND r.span = f.span
    UNION ALL
    SELECT
        f.run,
        r.worker,
        f.span,
        f.fault,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL
    FROM _first_faults AS f
    INNER JOIN (
        SELECT k.run, k.span, min(k.worker) AS worker
        FROM _ranks AS k
        GROUP BY k.run, k.span
    ) AS r ON f.run = r.run AND f.span = r.span;
