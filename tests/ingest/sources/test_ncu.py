"""CSV output of Nsight Compute, drawn after the documentation: the details page, the raw page, and damage."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tracewh
from tracewh.cli.commands.ingest import summarize

Rows = list[tuple[Any, ...]]


def rows(warehouse: tracewh.Warehouse, sql: str) -> Rows:
    return warehouse.sql(sql).fetchall()


LAUNCH = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    '"Device","CC"'
)
DETAILS = f"""==PROF== Connected to process 41 (/home/hunter2-ncu/train)
"loss 0.5, accuracy 7
==PROF== Profiling "gemm" - 0: 0%....50%....100% - 9 passes
==PROF== Disconnected from process 41
{LAUNCH},"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","us","2,848.50","","",""
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","GPU Speed Of Light Throughput","Memory Throughput","%","45.7",
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","Memory Workload Analysis","Memory Throughput","Gbyte/s","1,500","","",""
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","Memory Workload Analysis","L2 Hit Rate","%","61.25","","",""
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","Memory Workload Analysis","L1/TEX Hit Rate","%","n/a","","",""
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","Launch Statistics","Registers Per Thread","register/thread","168","","",""
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","Launch Statistics","Waves Per SM","","0.97","","",""
"0","41","hunter2-ncu","node7-hunter2","void gemm<float, 2>(float *, int)","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","SpeedOfLight","","","","SOLBottleneck","OPT","hunter2-ncu: memory is used more, than compute"
"1","41","hunter2-ncu","node7-hunter2","add(float *)","1","7","(64, 1, 1)","(2, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","ns","2,848","","",""
"""
#: 2 + 4 operations per cycle on 1 GHz for 10 us are 60,000, of which a fused one counts twice.
RAW = (
    LAUNCH
    + ',"device__attribute_display_name","device__attribute_multiprocessor_count","gpu__time_duration.sum",'
    '"dram__bytes_read.sum","dram__bytes_write.sum","l1tex__t_sector_hit_rate.pct","lts__t_sector_hit_rate.pct",'
    '"smsp__cycles_elapsed.avg.per_second","smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",'
    '"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed",'
    '"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed"\n'
    '"","","","","","","","","","","","","","us","Mbyte","Kbyte","%","%","Ghz","inst/cycle","inst/cycle","inst/cycle"\n'
    '"0","41","app","host","gemm","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0","NVIDIA H100 80GB HBM3","132","10",'
    '"1.5","500","12.5","75","1","2","4","0"\n'
    '"1","41","app","host","add","1","7","(64, 1, 1)","(2, 1, 1)","0","9.0","NVIDIA H100 80GB HBM3","132","2",'
    '"n/a","500","n/a","75","1","2","4","0"\n'
)


def ingest(tmp_path: Path, text: str, name: str = "report.csv") -> tracewh.FileResult:
    path = tmp_path / "logs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    [result] = tracewh.ingest([path.parent], tmp_path / "warehouse")
    return result


@pytest.fixture(scope="module")
def details(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    top = tmp_path_factory.mktemp("details")
    assert ingest(top, DETAILS).status == "ingested"
    with tracewh.open(top / "warehouse") as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tracewh.Warehouse]:
    top = tmp_path_factory.mktemp("raw")
    assert ingest(top, RAW).status == "ingested"
    with tracewh.open(top / "warehouse") as warehouse:
        yield warehouse


def test_launches_have_no_times(details: tracewh.Warehouse) -> None:
    sql = """
        SELECT event_id, category, kind, name, device_id, stream_id, grid, block, registers_per_thread,
            start_ns, duration_ns
        FROM device_events ORDER BY event_id
    """
    gemm = "void gemm<float, 2>(float *, int)"
    assert rows(details, sql) == [
        (0, "cuda_profiler_range", "annotation", gemm, 0, 7, [128, 4, 1], [256, 1, 1], 168, None, None),
        (1, "cuda_profiler_range", "annotation", "add(float *)", 0, 7, [2, 1, 1], [64, 1, 1], None, None, None),
    ]  # fmt: skip
    facts = "SELECT source, generation, start_ns, end_ns, skipped_reasons FROM traces"
    assert rows(details, facts) == [("ncu", "ncu-details", None, None, '{"no_times": 1}')]


def test_counters_of_the_details_page(details: tracewh.Warehouse) -> None:
    sql = (
        "SELECT counters, duration_us FROM kernel_counters() WHERE starts_with(kernel_name, 'void')"
    )
    [(counters, duration_us)] = rows(details, sql)
    assert counters == {
        "gpu__time_duration.sum": 2_848_500,
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 45.7,
        "dram__bytes.sum.per_second": 1.5e12,
        # 1,500 GB/s for 2,848.5 us
        "dram__bytes.sum": pytest.approx(4_272_750_000),
        "lts__t_sector_hit_rate.pct": 61.25,
        "launch__registers_per_thread": 168,
        "Launch Statistics: Waves Per SM": 0.97,
    }
    assert duration_us == 2848.5


def test_counters_of_the_raw_page(raw: tracewh.Warehouse) -> None:
    sql = "SELECT counters FROM kernel_counters() WHERE kernel_name = 'gemm'"
    [(counters,)] = rows(raw, sql)
    assert counters["dram__bytes_read.sum"] == 1.5e6
    assert counters["dram__bytes_write.sum"] == 5e5
    assert counters["l1tex__t_sector_hit_rate.pct"] == 12.5
    assert counters["smsp__cycles_elapsed.avg.per_second"] == 1e9
    assert counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] == pytest.approx(40_000)
    assert "device__attribute_display_name" not in counters
    sql = "SELECT map_contains(counters, 'l1tex__t_sector_hit_rate.pct') FROM kernel_counters() WHERE kernel_name = 'add'"
    assert rows(raw, sql) == [(False,)]


def test_roofline(raw: tracewh.Warehouse) -> None:
    sql = """
        SELECT name, device_name, flops, dram_bytes, intensity, duration_us, bound FROM roofline()
        ORDER BY name DESC
    """
    # 2 additions and 4 fused multiply-adds per cycle: 10 operations, for 10,000 cycles.
    assert rows(raw, sql) == [
        ("gemm", "NVIDIA H100 80GB HBM3", pytest.approx(100_000), 2e6, pytest.approx(0.05), 10.0, "memory"),
        ("add", "NVIDIA H100 80GB HBM3", pytest.approx(20_000), None, None, 2.0, None),
    ]  # fmt: skip


def test_no_view_has_a_time_of_it(raw: tracewh.Warehouse) -> None:
    assert rows(raw, "FROM timeline()") == []
    assert rows(raw, "FROM gpu_time()") == []
    assert rows(raw, "FROM kernel_stats()") == []


@pytest.mark.parametrize(
    ("value", "others", "number"),
    [
        ("2,848", ["61.25"], 2848),
        ("2,848", [], 2848),
        ("1,215,000,000.50", [], 1_215_000_000.5),
        ("2.848", ["61,25"], 2848),
        ("1.215.000,5", [], 1_215_000.5),
        ("1\u202f215\u202f000,5", [], 1_215_000.5),
        ("1'215.5", [], 1215.5),
        ("0,38", [], 0.38),
        ("2.848", [], 2.848),
        ("1.5e+10", [], 1.5e10),
    ],
)
def test_numbers_of_locales(tmp_path: Path, value: str, others: list[str], number: float) -> None:
    row = '"0","1","a","h","k","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics"'
    lines = [f'{row},"m__{n}.sum","","{text}"' for n, text in enumerate([value, *others])]
    ingest(
        tmp_path,
        "\n".join(
            [f'{LAUNCH},"Section Name","Metric Name","Metric Unit","Metric Value"', *lines, ""]
        ),
    )
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, "SELECT value FROM counters WHERE counter = 'm__0.sum'") == [
            (number,)
        ]


UNITS = {
    "nsecond": 1, "us": 1e3, "msecond": 1e6, "s": 1e9, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6,
    "Gbyte/second": 1e9, "cycle/nsecond": 1e9, "Mhz": 1e6, "%": 1, "inst": 1, "register/thread": 1,
    "Kbyte/block": 1e3, "": 1,
}  # fmt: skip


def test_units(tmp_path: Path) -> None:
    row = '"0","1","a","h","k","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics"'
    header = f'{LAUNCH},"Section Name","Metric Name","Metric Unit","Metric Value"'
    lines = [f'{row},"m__{n:02}.sum","{unit}","2.50"' for n, unit in enumerate(UNITS)]
    ingest(tmp_path, "\n".join([header, *lines, ""]))
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        found = [
            value for (value,) in rows(warehouse, "SELECT value FROM counters ORDER BY counter")
        ]
    assert dict(zip(UNITS, found, strict=True)) == {unit: 2.5 * f for unit, f in UNITS.items()}


def test_one_worker_per_process(tmp_path: Path) -> None:
    """None of them is the rank that the name of the file has."""
    path = tmp_path / "report_rank1.csv"
    path.write_text(DETAILS.replace('"1","41"', '"1","42"'))
    found = tracewh.ingest([path], tmp_path / "warehouse")
    assert [(each.worker, each.events) for each in found] == [
        ("report_rank1_pid41", 1),
        ("report_rank1_pid42", 1),
    ]
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, "SELECT DISTINCT t.rank FROM traces AS t") == [(None,)]


@pytest.mark.parametrize("pid", ["41", "42"])
def test_several_tables(tmp_path: Path, pid: str) -> None:
    """Each ncu numbers its launches from 0, and chooses units of its own: the second table has ms in place of us.

    In containers, processes often have the same id. The third table has other columns, and line 10 is damaged.
    """
    second = RAW.replace('"us"', '"ms"').replace('"41"', f'"{pid}"').replace('"add"', '"add",')
    third = DETAILS.replace('"loss', "loss")
    path = tmp_path / "report.csv"
    path.write_text(RAW + "1%\r2%\nloss, 7\n" + second + third, newline="")
    workers = ["report_pid41", "report_pid42"] if pid == "42" else ["report"]
    assert [each.worker for each in tracewh.ingest([path], tmp_path / "warehouse")] == workers
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(
            warehouse,
            "SELECT d.worker, d.name, c.value FROM device_events AS d INNER JOIN counters AS c"
            " USING (worker, event_id) WHERE c.counter = 'gpu__time_duration.sum'"
            " ORDER BY d.worker, d.event_id",
        ) == sorted(
            [
                (workers[0], "gemm", 10_000.0),
                (workers[0], "add", 2_000.0),
                (workers[-1], "gemm", 10_000_000.0),
                (workers[0], "void gemm<float, 2>(float *, int)", 2_848_500.0),
                (workers[0], "add(float *)", 2_848.0),
            ],
            key=lambda row: row[0],
        )
        [(named,)] = rows(
            warehouse, "SELECT DISTINCT t.metadata ->> '$.damagedRows' FROM traces AS t"
        )
        assert named == '["report.csv, line 10: it has more columns than the header"]'


def test_the_id_of_a_process_is_a_text_and_never_a_statement(tmp_path: Path) -> None:
    written = tmp_path / "written.csv"
    process = f"1'; COPY (SELECT 42) TO '{written}'; --"
    path = tmp_path / "report.csv"
    path.write_text(DETAILS.replace('"1","41"', f'"1","{process}"'))
    found = tracewh.ingest([path], tmp_path / "warehouse")
    assert not written.exists()
    assert [(each.worker, each.events) for each in found] == [
        ("report_pid41", 1),
        (f"report_pid{process}", 1),
    ]
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, "SELECT worker, name FROM device_events ORDER BY name") == [
            (f"report_pid{process}", "add(float *)"),
            ("report_pid41", "void gemm<float, 2>(float *, int)"),
        ]


#: Names as Kineto and Nsight Compute write them, and the operator that launched the kernel.
NAMES = [
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int)",
        "void native::vectorized_elementwise_kernel<4, native::FillFunctor<float>, std::array<char *, 1>>(int)",
        "aten::fill_",
    ),
    (
        "void at::native::vectorized_elementwise_kernel<8, at::native::copy(at::Base&)::{lambda(float)#1}>(int)",
        "void native::vectorized_elementwise_kernel<8, native::copy(at::Base &)::[lambda(float) (instance 1)]>(int)",
        "aten::copy_",
    ),
    (
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<float>(float*, float const*)",
        "void native::<unnamed>::cunn_SoftMaxForward<float>(T1 *, const T1 *)",
        "aten::_log_softmax",
    ),
    ("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",) * 2 + ("aten::mm",),
]


def test_the_page_joins_counters_to_the_operators_of_a_trace(tmp_path: Path) -> None:
    """The first two kernels have the same base name, grid and block: their order tells them apart."""
    events: list[dict[str, Any]] = []
    lines = [f'{LAUNCH},"Section Name","Metric Name","Metric Unit","Metric Value"']
    for number, (traced, counted, operator) in enumerate(NAMES):
        start = 100 * number
        host = {"ph": "X", "pid": 7, "tid": 7}
        events += [
            {**host, "cat": "cpu_op", "name": operator, "ts": start, "dur": 50},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 20, "dur": 5,
             "args": {"correlation": number + 1}},
            {"ph": "X", "cat": "kernel", "name": traced, "pid": 0, "tid": 7, "ts": start + 30, "dur": 9,
             "args": {"correlation": number + 1, "device": 0, "stream": 7, "grid": [128, 4, 1],
                      "block": [256, 1, 1]}},
        ]  # fmt: skip
        lines.append(
            f'"{number}","41","app","host","{counted}","1","7","(256, 1, 1)","(128, 4, 1)","0","9.0",'
            f'"Memory Workload Analysis","L2 Hit Rate","%","{61.25 + number}"'
        )
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": events}))
    (tmp_path / "report.csv").write_text("\n".join([*lines, ""]))
    tracewh.ingest(
        [tmp_path / "trace.json", tmp_path / "report.csv"], tmp_path / "warehouse", run="my_run"
    )
    grid = [128, 4, 1]
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, sql_of_the_page()) == [
            ("aten::_log_softmax", "cunn_SoftMaxForward", grid, 1, 63.25),
            ("aten::copy_", "vectorized_elementwise_kernel", grid, 1, 62.25),
            ("aten::fill_", "vectorized_elementwise_kernel", grid, 1, 61.25),
            ("aten::mm", "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", grid, 1, 64.25),
        ]


def test_the_page_finds_the_operator_of_every_kernel_of_the_sample(
    all_samples: tracewh.Warehouse,
) -> None:
    found = rows(all_samples, sql_of_the_page())
    assert sum(calls for *_, calls, _ in found) == 166
    assert {operator for operator, kernel, *_ in found if kernel.startswith("nvjet")} == {
        "aten::addmm",
        "aten::mm",
    }
    assert all(operator and 0 < hits <= 100 for operator, *_, hits in found)


def sql_of_the_page() -> str:
    page = Path(__file__).parents[3] / "docs" / "sources" / "nsight-compute.md"
    return page.read_text().partition("```sql\n")[2].partition("```")[0].rstrip().rstrip(";")


def test_damaged_rows(tmp_path: Path) -> None:
    lines = DETAILS.splitlines()
    lines[6] += ',"a","column","too","many"'
    text = "\n".join(lines)
    result = ingest(tmp_path, text[: text.rindex("2,848") + 3])
    assert (result.status, result.skipped_events) == ("ingested", 2)
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        [(named,)] = rows(warehouse, "SELECT metadata ->> '$.damagedRows' FROM traces")
        assert "report.csv, line 7: it has more columns than the header" in named
        assert "report.csv, line 14: a quote is missing" in named


def test_values_without_units_are_left_out(tmp_path: Path) -> None:
    """The row of units is damaged. The next row has no units, and no value can be read without."""
    result = ingest(tmp_path, RAW.replace('"inst/cycle"\n', '"inst/cycle","more"\n', 1))
    assert (result.events, result.repairs) == (2, {"no_times": 1, "damaged_rows": 1})
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, "SELECT name FROM device_events ORDER BY event_id") == [
            ("gemm",),
            ("add",),
        ]
        assert rows(warehouse, "SELECT counter, value FROM counters") == []


def test_a_table_without_rows(tmp_path: Path) -> None:
    result = ingest(
        tmp_path, f'{LAUNCH},"Section Name","Metric Name","Metric Unit","Metric Value"\n'
    )
    assert result.reason == (
        "it has no kernels; export it again with: ncu --import FILE.ncu-rep --page raw --csv"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_program_may_print_much_and_a_progress_bar(tmp_path: Path, end: str) -> None:
    """Line 20,006 of what follows is that of kernel add. Each part of the bar is no line of its own.

    The last line may end in another way than those of the table.
    """
    printed = ["==PROF== Connected to process 41 (/x/train)", *["loss 0.5"] * 20_000, "1%\r2%\r3%"]
    table = RAW.replace('"n/a"', '"n/a","one","too","many"', 1).split("\n")
    result = ingest(tmp_path, end.join([*printed, *table, "4%\r5%", "bye\n"]))
    assert (result.status, result.events, result.skipped_events) == ("ingested", 1, 1)
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, "SELECT name FROM device_events") == [("gemm",)]
        [(named,)] = rows(warehouse, "SELECT metadata ->> '$.damagedRows' FROM traces")
        assert named == '["report.csv, line 20006: it has more columns than the header"]'


def test_a_report_names_the_command(tmp_path: Path) -> None:
    path = tmp_path / "qwen 2.5.ncu-rep"
    path.write_bytes(b"NVR\0\1\2")
    [result] = tracewh.ingest([path], tmp_path / "warehouse")
    assert result.reason == (
        "a report of Nsight Compute, which only ncu reads; export its counters, and ingest them: "
        "ncu --import 'qwen 2.5.ncu-rep' --page raw --csv > 'qwen 2.5.csv'"
    )


def test_a_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "qwen2.5.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(RAW.encode()))
    [result] = tracewh.ingest([path.parent], tmp_path / "warehouse")
    assert (result.status, result.worker, result.events) == ("ingested", "qwen2.5", 2)


def test_a_thousand_metrics_fit_into_the_memory_of_a_job(tmp_path: Path) -> None:
    """`--set full` has more than a thousand metrics, and each row was in memory once for each of them."""
    metrics = [f"sm__some_rather_long_name_of_a_metric_{number}.sum" for number in range(1200)]
    lines = [f"{LAUNCH},{','.join(metrics)}", ",".join([""] * 11 + ["byte"] * len(metrics))]
    for launch in range(170):
        values = ",".join(str(launch * number) for number in range(len(metrics)))
        lines.append(f'{launch},41,app,host,gemm,1,7,"(256, 1, 1)","(128, 4, 1)",0,9.0,{values}')
    path = tmp_path / "report.csv"
    path.write_text("\n".join(lines))
    [result] = tracewh.ingest([path], tmp_path / "warehouse", jobs=2)
    assert (result.status, result.reason) == ("ingested", "")
    with tracewh.open(tmp_path / "warehouse") as warehouse:
        assert rows(warehouse, "SELECT count(*), sum(value) FROM counters") == [
            (170 * 1200, sum(range(170)) * sum(range(1200)))
        ]


def test_the_summary_of_an_ingest_has_no_problem_to_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = ingest(tmp_path, RAW)
    assert result.repairs == {"no_times": 1}
    summarize([result], 1.0)
    shown = capsys.readouterr()
    assert shown.out.startswith("run ") and "times" not in shown.out
