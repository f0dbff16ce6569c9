-- view: blocking_calls
-- version: 1
-- since: 0.1
-- summary: Calls for which the host waits for the device, and copies that an asynchronous call cannot hide.
-- grain: one row per call, and per copy or memset of it
-- distributes: trace
-- order: duration_us DESC, run, worker, span, rule, event_id, device_event_id
-- carries: spark
-- empty: No call was found for which the host waits for the device.
-- uses: checked_choice, is_host_wait, is_wanted
-- example: samples --run resnet_gpu_workers_0 --span 1 --limit 4
-- reading: Copies of memory that is not pinned make the host wait until they are done.
--
-- The rules are those of Nsight Systems, which call them as follows:
--
--     synchronization    cuda_api_sync: a call in which the host waits for the device, such as
--                        cudaStreamSynchronize. duration_us is that of the call.
--     blocking_copy      cuda_memcpy_sync: a copy by a call that returns only when the copy is done. Copies of
--                        64,000 bytes or less to the device, and copies within a device, do not block.
--     pageable_copy      cuda_memcpy_async: a copy by an asynchronous call with pageable memory at one end.
--                        It runs as if it were not asynchronous; pinned memory avoids this.
--     blocking_memset    cuda_memset_sync: a memset of pinned or managed memory by a call that returns only
--                        when it is done.
--
-- duration_us of a copy or memset is its time on the device, as in Nsight Systems, and call_us the time of the
-- call. A call is asynchronous if it has Async in its name. Copies and memsets whose call was not
-- recorded are left out. recommendations reports what these calls cost per step.
--
-- params
--   run, worker, span
--   name  type     unit  default  meaning
--   rule  VARCHAR  -     'all'    'all', 'synchronization', 'blocking_copy', 'pageable_copy' or 'blocking_memset'.
-- columns
--   run, worker, span
--   name             type     unit   meaning
--   rule             VARCHAR  key    The rule that found the call.
--   event_id         BIGINT   key    The call in host_events.
--   name             VARCHAR  -      Name of the call.
--   operation        VARCHAR  -      Name of the copy or memset; NULL for a synchronization, like all columns of the device.
--   operator         VARCHAR  -      Operator or annotation directly around the call; NULL if there is none.
--   bytes            BIGINT   bytes  Size of the copy or memset.
--   duration_us      DOUBLE   us     Duration of the copy or memset, or of the synchronization.
--   call_us          DOUBLE   us     Duration of the call.
--   start_ns         BIGINT   ns     Start of the call, nanoseconds since the epoch.
--   tid              VARCHAR  -      Thread of the call.
--   device_id        INTEGER  -      Number of the device on its host.
--   stream_id        BIGINT   -      Stream that the copy or memset ran on.
--   device_event_id  BIGINT   key    The copy or memset in device_events.
CREATE MACRO blocking_calls_v1(
    run VARCHAR := NULL,
    worker VARCHAR := NULL,
    span VARCHAR := NULL,
    rule VARCHAR := 'all'
) AS TABLE
    WITH
    calls AS (
        SELECT
            h.run,
            h.worker,
            h.span,
            h.event_id,
            h.name,
            contains(h.name, 'Async') AS is_async,
            is_host_wait(h.name) AS is_synchronization,
            h.op_id,
            h.start_ns,
            h.duration_ns,
            h.tid
        FROM host_events AS h
        WHERE
            (
                SELECT c.is_allowed
                FROM checked_choice(
                    'rule',
                    rule,
                    ['all', 'synchronization', 'blocking_copy', 'pageable_copy', 'blocking_memset']
                ) AS c
            )
            AND (ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver'))
            AND is_wanted(h.run, h.worker, h.span, run, worker, span)
    ),

    found AS (
        SELECT
            c.run,
            c.worker,
            c.span,
            'synchronization' AS rule,
            c.event_id,
            c.name,
            NULL::VARCHAR AS operation,
            c.op_id,
            NULL::BIGINT AS bytes,
            c.duration_ns,
            c.duration_ns AS call_ns,
            c.start_ns,
            c.tid,
            NULL::INTEGER AS device_id,
            NULL::BIGINT AS stream_id,
            NULL::BIGINT AS device_event_id
        FROM calls AS c
        WHERE c.is_synchronization
        UNION ALL
        SELECT
            c.run,
            c.worker,
            c.span,
            -- A copy to the device whose size was not recorded is left out.
            CASE
                WHEN d.kind = 'memset'
                    THEN
                        CASE
                            WHEN NOT c.is_async AND regexp_matches(d.name, 'Pinned|Managed')
                                THEN 'blocking_memset'
                        END
                WHEN c.is_async
                    THEN CASE WHEN contains(d.name, 'Pageable') THEN 'pageable_copy' END
                WHEN
                    NOT regexp_matches(d.name, 'DtoD|DeviceToDevice')
                    AND NOT (
                        regexp_matches(d.name, 'HtoD|HostToDevice')
                        AND d.bytes <= 64000
                    )
                    THEN 'blocking_copy'
            END AS rule,
            c.event_id,
            c.name,
            d.name AS operation,
            c.op_id,
            d.bytes,
            d.duration_ns,
            c.duration_ns AS call_ns,
            c.start_ns,
            c.tid,
            d.device_id,
            d.stream_id,
            d.event_id AS device_event_id
        FROM device_events AS d
        INNER JOIN calls AS c
            ON
                d.run = c.run AND d.worker = c.worker AND d.span = c.span
                AND d.launch_id = c.event_id
        WHERE
            d.kind IN ('memcpy', 'memset')
            -- Not those of graphs, nor kernels that copy: the name of their call tells nothing.
            AND contains(lower(c.name), d.kind)
            AND is_wanted(d.run, d.worker, d.span, run, worker, span)
    )

    SELECT
        f.run,
        f.worker,
        f.span,
        f.rule,
        f.event_id,
        f.name,
        f.operation,
        o.name AS operator,
        f.bytes,
        f.duration_ns / 1000.0 AS duration_us,
        f.call_ns / 1000.0 AS call_us,
        f.start_ns,
        f.tid,
        f.device_id,
        f.stream_id,
        f.device_event_id
    FROM found AS f
    LEFT JOIN host_events AS o
        ON
            f.run = o.run AND f.worker = o.worker AND f.span = o.span AND f.op_id = o.event_id
            AND is_wanted(o.run, o.worker, o.span, run, worker, span)
    WHERE f.rule IS NOT NULL AND coalesce(rule = 'all' OR f.rule = rule, TRUE)
    ORDER BY
        f.duration_ns DESC,
        f.run ASC, f.worker ASC, f.span ASC,
        f.rule ASC, f.event_id ASC, f.device_event_id ASC;
