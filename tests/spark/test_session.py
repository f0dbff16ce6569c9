"""What keeps a session from starting is said in one line, before anything is started."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tracewh.cli.app import main

SAMPLES = str(Path(__file__).parents[2] / "samples" / "ddp_gloo")


def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, *words: str) -> tuple[int, str]:
    code = main(["ingest", SAMPLES, "-w", str(tmp_path / "wh"), *words])
    out, err = capsys.readouterr()
    assert (out, list(tmp_path.glob("wh/data/*"))) == ("", [])
    return code, err


def test_options_that_do_not_go_together(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = {
        ("--engine", "sprak"): "--engine: unknown engine 'sprak'; did you mean 'spark'?",
        ("--master", "local[2]"): "--master needs --engine spark",
        ("--engine", "spark", "--jobs", "2"): (
            "--jobs applies to --engine local only; for Spark set spark.cores.max"
        ),
        ("--engine", "spark", "-"): ("Spark cannot read standard input (-); leave out --engine"),
    }
    for words, line in said.items():
        assert refused(capsys, tmp_path, *words) == (2, f"tracewh: {line}\n")


def test_there_is_no_pyspark(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert refused(capsys, tmp_path, "--engine", "spark") == (
        1,
        "tracewh: --engine spark needs PySpark: pip install 'tracewh[spark]'\n",
    )


def test_there_is_no_java(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need, remedy = "Spark needs Java 17 or later, and", "install a JDK, or set JAVA_HOME"
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert refused(capsys, tmp_path, "--engine", "spark") == (
        1,
        f"tracewh: {need} JAVA_HOME=/nowhere has no bin/java: {remedy}\n",
    )
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(capsys, tmp_path, "--engine", "spark") == (
        1,
        f"tracewh: {need} java is not in PATH: {remedy}\n",
    )


def test_no_master_answers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # and nobody listens there
        master = f"spark://127.0.0.1:{probe.getsockname()[1]}"
        code, said = refused(capsys, tmp_path, "--engine", "spark", "--master", master)
    assert (code, said) == (
        1,
        f"tracewh: cannot reach a Spark master at {master} (connection refused): "
        + "check --master, and that it runs\n",
    )
