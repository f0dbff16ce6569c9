"""A drawn recording of the Ascend profiler: the folders and files of torch_npu, small enough to check by eye."""

from __future__ import annotations

import json
from pathlib import Path

#: Words that must not be in any byte of a warehouse.
SECRET = "hunter2-ascend"
#: The first microsecond of the recording.
START_US = 1_700_000_000_000_000
HEADER = (
    "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),"
    "Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,"
    "Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,aic_mac_ratio,"
    "cube_utilization(%)"
)


def at(us: float) -> str:
    """A time as trace_view.json writes it: text with three decimals."""
    whole, ns = divmod(round(us * 1000), 1000)
    return f"{START_US + whole}.{ns:03d}"


def _event(
    name: str, pid: int, tid: int, us: float, dur: float, **more: object
) -> dict[str, object]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": at(us), "dur": dur, **more}


def _named(pid: int, name: str, **threads: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    ]
    return rows + [
        {"ph": "M", "name": "thread_name", "pid": pid, "tid": int(tid[1:]), "args": {"name": said}}
        for tid, said in threads.items()
    ]


def _arrow(
    kind: str, number: int | str, start: tuple[int, int, float], end: tuple[int, int, float]
) -> list[dict[str, object]]:
    return [
        {
            "ph": ph,
            "bp": "e",
            "name": kind,
            "id": number,
            "cat": kind,
            "pid": pid,
            "tid": tid,
            "ts": at(us),
        }
        for ph, (pid, tid, us) in (("s", start), ("f", end))
    ]


def events(process: str = "Python") -> list[dict[str, object]]:
    """One step: a matmul through the queue, an all-reduce and a copy.

    us           0        10        20        30        40        50        60        70        80
    thread 7     |--------------------------- ProfilerStep#5 (0-70) ---------------|
                  |- mm (2-12) -|   |allreduce (14-20)|
                     |E 4-6|
    thread 8                |- Dequeue (9-18) -|
                              |launch 11-13|
    stream 2                                |- MatMul (22-32.5) -|            |memcpy 60-61|
    group                                                  |-- hcom 36-56 --|
    """
    return [
        *_named(100, process, t7="Thread 7", t8="Thread 8"),
        *_named(10002, "CANN", t8="Thread 8"),
        *_named(800, "Ascend Hardware", t2="Stream 2"),
        *_named(900, "Communication", t1="Group 99501 Communication", t2="Plane 0"),
        *_named(1100, "Overlap Analysis", t0="Computing", t3="Free"),
        _event("ProfilerStep#5", 100, 7, 0, 70, cat="user_annotation"),
        _event("aten::mm", 100, 7, 2, 10, cat="cpu_op", args={"Input Dims": [[4, 8], [8, 2]]}),
        _event("Enqueue", 100, 7, 4, 2, cat="enqueue", args={"correlation_id": 1}),
        _event("c10d::allreduce_", 100, 7, 14, 6, cat="cpu_op", args={}),
        _event("Dequeue@aclnnMm", 100, 8, 9, 9, cat="dequeue", args={"correlation_id": 1}),
        _event("Node@launch", 10002, 8, 11, 2, args={"Thread Id": 8, "level": "node", "connection_id": 31}),
        _event("aclnnMm_MatMul", 800, 2, 22, 10.5, args={"Task Type": "AI_CORE", "Stream Id": 2, "Task Id": 6, "connection_id": 31}),
        _event("MEMCPY_ASYNC", 800, 2, 60, 1, args={"Task Type": "MEMCPY_ASYNC", "Stream Id": 2, "Task Id": 9, "connection_id": -1}),
        _event("EVENT_WAIT", 800, 2, 34, 1, args={"Task Type": "EVENT_WAIT_SQE", "Stream Id": 2, "Task Id": 7, "connection_id": -1}),
        _event("hcom_allReduce__501_0_1", 900, 1, 36, 20, args={"connection_id": 40, "data_type": "FP32", "count": 256}),
        _event("Notify_Wait", 900, 2, 36, 5, args={"task type": "Notify Wait"}),
        _event("Computing", 1100, 0, 22, 10.5),
        _event("Free", 1100, 3, 32.5, 3.5),
        *_arrow("async_npu", 1_700_000_000_000_022_000, (100, 7, 2), (800, 2, 22)),
        *_arrow("async_npu", 1_700_000_000_000_036_000, (100, 7, 14), (900, 1, 36)),
        *_arrow("HostToDevice", str(31 << 32), (10002, 8, 11), (800, 2, 22)),
        *_arrow("async_task_queue", 1, (100, 7, 4), (100, 8, 9)),
    ]  # fmt: skip


def kernel_rows() -> list[str]:
    """kernel_details.csv: the matmul with a tab behind its start, the collective, and a kernel without an event."""
    return [
        (
            f'5,3,4294967295,6,2,aclnnMm_MatMul,MatMulV2,dynamic,AI_CORE,"{at(22)}\t",10.5,1.25,20,0,NO,'
            '"""4,8;8,2""",DT_BF16;DT_BF16,ND;ND,"""4,2""",DT_BF16,ND,N/A,0.5,81.25'
        ),
        (
            f"5,3,4294967295,N/A,N/A,hcom_allReduce__501_0_1,hcom_allReduce_,N/A,COMMUNICATION,{at(36)},20,"
            "3.5,0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A"
        ),
        (
            f"5,3,4294967295,8,2,aclnnAdd_Add,Add,dynamic,AI_VECTOR_CORE,{at(57)},2,1,48,0,NO,"
            '"""4,2;4,2""",FLOAT;FLOAT,ND;ND,"""4,2""",FLOAT,ND,N/A,0,0'
        ),
    ]


OPERATOR_MEMORY = [
    (
        "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
        "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
        "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
        "Release Total Active(MB),Stream Ptr,Device Type"
    ),
    f"aten::mm,2.5,{at(3)}\t,{at(33)}\t,{at(33)}\t,30,30,1.5,20,1.5,1.25,20,1.25,1,NPU:3",
    f"aten::add,1,{at(5)}\t,,,,,2,20,2,,,,1,NPU:3",
]
MEMORY_RECORD = [
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type",
    f"PTA,{at(3)}\t,1.5,20,1.5,1,NPU:3",
    f"PTA+GE,{at(3)}\t,2.5,30,1.5,1,NPU:3",
    f"PTA+GE,{at(33)}\t,2.25,30,1.25,1,NPU:3",
]
COMMUNICATION = {
    "step5": {
        "collective": {
            "hcom_allReduce__501_0_1@62972320501": {
                "Communication Time Info": {
                    "Start Timestamp(us)": START_US + 36.0,
                    "Elapse Time(ms)": 0.02,
                    "Transit Time(ms)": 0.0125,
                    "Wait Time(ms)": 0.005,
                    "Synchronization Time(ms)": 0.004,
                    "Idle Time(ms)": 0.0025,
                },
                "Communication Bandwidth Info": {
                    "HCCS": {"Transit Size(MB)": 0.001024, "Transit Time(ms)": 0.0125, "Bandwidth(GB/s)": 0.08}
                },
            },
            "Total Op Info@62972320501": {"Communication Time Info": {"Elapse Time(ms)": 0.02}},
        },
        "p2p": {},
    }
}  # fmt: skip


def write_recording(logs: Path, rank: int = 3, kind: str = "pt") -> Path:
    """Write the recording of a rank into a log folder, with secrets where real ones have them.

    Args:
        logs: The log folder.
        rank: The number of the rank.
        kind: 'pt' for torch_npu, 'ms' for MindSpore.

    Returns:
        The folder ASCEND_PROFILER_OUTPUT.
    """
    recording = logs / f"node1_{100 + rank}_20240101000000000_ascend_{kind}"
    output = recording / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    hidden = {"ENV_VARIABLES": {"TOKEN": SECRET}, "path": f"/home/{SECRET}"}
    (recording / f"profiler_info_{rank}.json").write_text(
        json.dumps({"config": hidden, "rank_id": rank})
    )
    (recording / "profiler_metadata.json").write_text(json.dumps(hidden))
    files = {
        "trace_view.json": json.dumps(events("Python" if kind == "pt" else "MindSpore")),
        "kernel_details.csv": "\n".join([HEADER, *kernel_rows(), ""]),
        "operator_memory.csv": "\n".join([*OPERATOR_MEMORY, ""]),
        "memory_record.csv": "\n".join([*MEMORY_RECORD, ""]),
        "communication.json": json.dumps(COMMUNICATION),
        "op_statistic.csv": f"Device_id,OP Type,{SECRET}\n",
    }
    for name, text in files.items():
        (output / name).write_text(text)
    return output
