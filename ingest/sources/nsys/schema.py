"""The tables and columns of an export that are read. Nothing else is.

Exports differ by version: a table without rows is missing, and so are columns that a version did not have. A
missing column is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NsysTable:
    """A table of an export.

    Attributes:
        name: Its name.
        numbers: Its columns of whole numbers.
        texts: Its columns of texts.
        owner: The column that tells the process of a row: a globalPid or globalTid; '' if there is none.
    """

    name: str
    numbers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    owner: str = ""


def _table(name: str, numbers: str, texts: str = "", owner: str = "") -> NsysTable:
    return NsysTable(name, tuple(numbers.split()), tuple(texts.split()), owner)


_TABLES = (
    _table("StringIds", "id", "value"),
    _table("META_DATA_EXPORT", "", "name value"),
    _table("EXPORT_META_DATA", "", "name value"),
    _table("TARGET_INFO_SESSION_START_TIME", "utcEpochNs"),
    _table("PROCESSES", "globalPid", "name", "globalPid"),
    _table("ThreadNames", "globalTid nameId", "", "globalTid"),
    _table(
        "TARGET_INFO_GPU",
        "id totalMemory computeMajor computeMinor smCount threadsPerWarp maxThreadsPerBlock"
        " maxWarpsPerSm maxRegistersPerBlock maxRegistersPerSm maxShmemPerBlock maxShmemPerSm"
        " maxShmemPerBlockOptin maxBlocksPerSm l2CacheSize memoryBandwidth clockRate",
        "name chipName",
    ),
    _table("TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid"),
    _table(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "start end eventClass globalTid correlationId nameId returnValue",
        "name",
        "globalTid",
    ),
    _table(
        "NVTX_EVENTS",
        "start end eventType category globalTid endGlobalTid textId domainId jsonTextId uint64Value"
        " int64Value uint32Value int32Value",
        "text jsonText doubleValue floatValue",
        "globalTid",
    ),
    _table("OSRT_API", "start end eventClass globalTid nameId returnValue", "", "globalTid"),
    _table("PROFILER_OVERHEAD", "start end globalTid nameId overheadType", "", "globalTid"),
    _table(
        "CUPTI_ACTIVITY_KIND_OVERHEAD",
        "start end globalTid correlationId nameId overheadType",
        "",
        "globalTid",
    ),
    _table(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "start end deviceId contextId streamId correlationId globalPid demangledName launchType"
        " registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory"
        " dynamicSharedMemory localMemoryTotal graphId graphNodeId clusterX clusterY clusterZ",
        "",
        "globalPid",
    ),
    _table(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "start end deviceId contextId streamId correlationId globalPid bytes copyKind srcKind"
        " dstKind srcDeviceId dstDeviceId graphNodeId",
        "",
        "globalPid",
    ),
    _table(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "start end deviceId contextId streamId correlationId globalPid bytes memKind graphNodeId",
        "",
        "globalPid",
    ),
    _table(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "start end deviceId contextId streamId correlationId globalPid syncType",
        "",
        "globalPid",
    ),
    _table(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        "start end deviceId contextId streamId correlationId globalPid graphId",
        "",
        "globalPid",
    ),
    _table("TARGET_INFO_CUDA_CONTEXT_INFO", "processId contextId deviceId"),
    _table(
        "CUDA_GPU_MEMORY_USAGE_EVENTS",
        "start globalPid deviceId contextId address bytes memKind memoryOperationType correlationId",
        "",
        "globalPid",
    ),
    _table("GPU_METRICS", "timestamp typeId metricId", "value"),
    _table("TARGET_INFO_GPU_METRICS", "typeId metricId", "metricName"),
    _table("COMPOSITE_EVENTS", "start cpu globalTid", "", "globalTid"),
    _table("SCHED_EVENTS", "start cpu isSchedIn globalTid", "", "globalTid"),
    _table("ENUM_CUPTI_OVERHEAD_TYPE", "id", "label"),
)
TABLES = {table.name: table for table in _TABLES}

#: The tables whose rows make a process a trace: those of CUDA and NVTX, or, if there are none, all others.
#: Several processes with work on a GPU may be ranks.
DEVICE_WORK = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
)
MAIN = ("CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")
OTHER = ("OSRT_API", "COMPOSITE_EVENTS", "SCHED_EVENTS")
