"""Stores to test against: the servers that people use in the place of S3, Azure and Google Cloud.

Each is a process of its own on loopback, filled and read through Arrow's file systems.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyarrow import fs

from tracewh.storage.remote import SETTINGS

BUCKET = "traces"


@dataclass(frozen=True, slots=True)
class Store:
    """A server with one bucket in it, and the environment in which tracewh finds it."""

    filesystem: fs.FileSystem
    environ: Mapping[str, str]
    url: str
    endpoint: str
    log: Path

    def put(self, key: str, content: bytes) -> None:
        """Store an object in the bucket."""
        with self.filesystem.open_output_stream(f"{BUCKET}/{key}") as file:
            file.write(content)

    def put_folder(self, folder: Path, key: str) -> None:
        """Store the files of a folder. (What Arrow's `copy_files` cannot store it leaves out unsaid.)"""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(folder).as_posix()}", path.read_bytes())

    def requests(self) -> list[str]:
        """What the server was asked so far, where it logs that."""
        return [line for line in self.log.read_text("utf-8").splitlines() if "HTTP/1.1" in line]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(command: Callable[[int], list[str]], folder: Path) -> Iterator[tuple[int, Path]]:
    """Run a server until the tests are done; its port and what it prints."""
    port = free_port()
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(command(port), stdout=out, stderr=out, cwd=folder)
    try:
        deadline = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None and time.monotonic() < deadline, log.read_text("utf-8")
            time.sleep(0.1)
        yield port, log
    finally:
        server.terminate()
        server.wait(30)


def program(name: str) -> str | None:
    """A program of this environment, or one on the path."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which(name, path=beside)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:  # whatever the machine has set must not decide a test
        if name.startswith(SETTINGS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """moto's server: it takes any keys."""
    folder = tmp_path_factory.mktemp("s3")
    command = [sys.executable, "-c", MOTO, "-H", "127.0.0.1", "-p"]
    with serving(lambda port: [*command, str(port)], folder) as (port, log):
        opened = fs.S3FileSystem(
            access_key="id",
            secret_key="secret",
            region="us-east-1",
            scheme="http",
            endpoint_override=f"127.0.0.1:{port}",
            allow_bucket_creation=True,
        )
        opened.create_dir(BUCKET)
        endpoint = f"http://127.0.0.1:{port}"
        environ = {
            "S3_ENDPOINT": endpoint,
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        yield Store(opened, environ, f"s3://{BUCKET}", endpoint, log)


#: For each request moto lists the folders of all services that it knows, to find the one that is asked: that takes
#: longer than most of its answers. Here it keeps what it found.
MOTO = """
import functools
from moto.moto_server.werkzeug_app import DomainDispatcherApplication as Dispatcher
from moto.server import main

Dispatcher.get_backend_for_host = functools.cache(Dispatcher.get_backend_for_host)
main()
"""


@pytest.fixture(scope="session")
def azure_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Azurite, which checks keys. Arrow asks for a newer API than it knows."""
    azurite = program("azurite-blob")
    if azurite is None:
        pytest.skip("needs Azurite: npm install azurite, and node_modules/.bin in PATH")
    folder = tmp_path_factory.mktemp("azure")
    command = [azurite, "--skipApiVersionCheck", "--disableTelemetry", "--location", str(folder)]
    with serving(lambda port: [*command, "--blobPort", str(port)], folder) as (port, log):
        account, key = "devstoreaccount1", AZURITE_KEY
        host = f"127.0.0.1:{port}"
        opened = fs.AzureFileSystem(
            account,
            account_key=key,
            blob_storage_authority=host,
            dfs_storage_authority=host,
            blob_storage_scheme="http",
            dfs_storage_scheme="http",
        )
        opened.create_dir(BUCKET)
        endpoint = f"http://{host}/{account}"
        connection = (
            f"DefaultEndpointsProtocol=http;AccountName={account};AccountKey={key};"
            f"BlobEndpoint={endpoint};"
        )
        environ = {"AZURE_STORAGE_CONNECTION_STRING": connection}
        yield Store(opened, environ, f"az://{BUCKET}", endpoint, log)


AZURITE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


@pytest.fixture(scope="session")
def gcs_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """gcp-storage-emulator."""
    folder = tmp_path_factory.mktemp("gcs")
    options = ["start", "--host", "127.0.0.1", "-M", "--default-bucket", BUCKET]
    command = [sys.executable, "-c", GCS_EMULATOR, *options]
    with serving(lambda port: [*command, "--port", str(port)], folder) as (port, log):
        host = f"127.0.0.1:{port}"
        opened = fs.GcsFileSystem(anonymous=True, scheme="http", endpoint_override=host)
        environ = {"STORAGE_EMULATOR_HOST": f"http://{host}"}
        yield Store(opened, environ, f"gs://{BUCKET}", f"http://{host}", log)


#: The emulator serves one request at a time and refuses the sixth that waits. A client that was refused asks
#: how much of its file has arrived; the emulator says one byte where nothing has, and the upload fails.
GCS_EMULATOR = """
from http.server import HTTPServer
from gcp_storage_emulator.__main__ import main
from gcp_storage_emulator.handlers import objects

def incomplete(response, storage, upload_id, fallback_end=0):
    response.status = objects.GoogleHTTPStatus.RESUME_INCOMPLETE
    if received := storage.get_resumable_byte_count(upload_id):
        response["Range"] = f"bytes=0-{received - 1}"

objects._resumable_incomplete = incomplete
HTTPServer.request_queue_size = 128
main()
"""


def within(monkeypatch: pytest.MonkeyPatch, store: Store) -> Store:
    for name, value in store.environ.items():
        monkeypatch.setenv(name, value)
    return store


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch, clean: None, s3_server: Store) -> Store:
    return within(monkeypatch, s3_server)


@pytest.fixture
def azure(monkeypatch: pytest.MonkeyPatch, clean: None, azure_server: Store) -> Store:
    return within(monkeypatch, azure_server)


@pytest.fixture
def gcs(monkeypatch: pytest.MonkeyPatch, clean: None, gcs_server: Store) -> Store:
    return within(monkeypatch, gcs_server)


@pytest.fixture(params=["s3", "azure", "gcs"])
def store(request: pytest.FixtureRequest) -> Store:
    """Each of them."""
    found: Store = request.getfixturevalue(request.param)
    return found
