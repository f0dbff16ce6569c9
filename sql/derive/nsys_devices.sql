-- derive: nsys_devices
-- since: 0.1
-- summary: The devices of an Nsight Systems export as a JSON list, with the keys of Kineto's deviceProperties.
SELECT
    to_json(
        list(
            {
                'id': g.device_id,
                'name': g.name,
                'totalGlobalMem': g."totalMemory",
                'computeMajor': g."computeMajor",
                'computeMinor': g."computeMinor",
                'maxThreadsPerBlock': g."maxThreadsPerBlock",
                'maxThreadsPerMultiprocessor': g."maxWarpsPerSm" * g."threadsPerWarp",
                'regsPerBlock': g."maxRegistersPerBlock",
                'warpSize': g."threadsPerWarp",
                'sharedMemPerBlock': g."maxShmemPerBlock",
                'numSms': g."smCount",
                'regsPerMultiprocessor': g."maxRegistersPerSm",
                'sharedMemPerBlockOptin': g."maxShmemPerBlockOptin",
                'sharedMemPerMultiprocessor': g."maxShmemPerSm",
                'maxBlocksPerMultiprocessor': g."maxBlocksPerSm",
                'l2CacheSize': g."l2CacheSize",
                'memoryBandwidth': g."memoryBandwidth",
                'clockRate': g."clockRate",
                'chipName': g."chipName"
            } ORDER BY g.device_id
        )
    )::VARCHAR
FROM nsys_gpus AS g
