"""What a URL and the environment make of each other, without a server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pyarrow import fs

import tracewh
from tracewh.errors import IngestError
from tracewh.ingest.sources.discover import discover
from tracewh.storage.remote import is_url, locate, readable_errors

TRACE = b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}]}'
KEY = "c2VjcmV0"


def made(url: str) -> dict[str, Any]:
    """What the file system of a URL was made with, as Arrow would pickle it."""
    place = locate(url)
    _, (options, *_) = place.filesystem.__reduce__()
    assert isinstance(options, dict)
    return {**options, "key": place.key, "url": place.url}


def some(found: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(found[name] for name in names)


def test_what_is_a_url() -> None:
    assert is_url("s3://bucket/key")
    assert is_url("https://account.blob.core.windows.net/c")
    for path in ("logs", "./s3:/x", "C:\\logs", "C:/logs", Path("/a"), "-", "a//b"):
        assert not is_url(path)


S3 = ("scheme", "endpoint_override", "region", "tls_ca_file_path", "key", "url")


@pytest.mark.parametrize(
    ("environ", "want"),
    [
        ({"AWS_REGION": "eu-west-1"}, ("https", "", "eu-west-1", "")),
        ({"AWS_DEFAULT_REGION": "eu-west-2"}, ("https", "", "eu-west-2", "")),
        ({"S3_ENDPOINT": "http://minio:9000"}, ("http", "minio:9000", "us-east-1", "")),
        ({"S3_ENDPOINT": "https://minio:9000/"}, ("https", "minio:9000", "us-east-1", "")),
        ({"S3_ENDPOINT": "minio:9000"}, ("https", "minio:9000", "us-east-1", "")),
        (
            {"S3_ENDPOINT": "minio:9000", "S3_USE_HTTPS": "0", "AWS_REGION": "here"},
            ("http", "minio:9000", "here", ""),
        ),
        (
            {"AWS_ENDPOINT_URL": "http://a:1", "AWS_ENDPOINT_URL_S3": "http://b:2"},
            ("http", "b:2", "us-east-1", ""),
        ),
        (
            {"AWS_REGION": "here", "AWS_CA_BUNDLE": "/etc/ca.pem"},
            ("https", "", "here", "/etc/ca.pem"),
        ),
    ],
)
def test_s3(environ: dict[str, str], want: tuple[str, ...], monkeypatch: Any) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    found = made("s3://bucket/a?b#c/d/")
    assert some(found, *S3) == (*want, "bucket/a?b#c/d", "s3://bucket/a?b#c/d")


AZURE = ("account_name", "blob_storage_authority", "dfs_storage_authority", "blob_storage_scheme")
PUBLIC = (".blob.core.windows.net", ".dfs.core.windows.net", "https")
DEVELOPMENT = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
CONNECTION = f"DefaultEndpointsProtocol=https;AccountName=acc;AccountKey={KEY};EndpointSuffix="


@pytest.mark.parametrize(
    ("url", "environ", "want", "key", "token"),
    [
        pytest.param(
            "az://c/p",
            {"AZURE_STORAGE_CONNECTION_STRING": f"{CONNECTION}core.windows.net"},
            ("acc", *PUBLIC),
            KEY,
            "",
            id="connection string",
        ),
        pytest.param(
            "https://acc.blob.core.windows.net/c/p",
            {"AZURE_STORAGE_CONNECTION_STRING": f"{CONNECTION}core.windows.net"},
            ("acc", *PUBLIC),
            KEY,
            "",
            id="connection string and account",
        ),
        pytest.param(
            "https://other.blob.core.windows.net/c/p",
            {"AZURE_STORAGE_CONNECTION_STRING": f"{CONNECTION}core.windows.net"},
            ("other", *PUBLIC),
            "",
            "",
            id="another account's connection string",
        ),
        pytest.param(
            "az://c/p",
            {"AZURE_STORAGE_CONNECTION_STRING": f"{CONNECTION}core.chinacloudapi.cn"},
            ("acc", ".blob.core.chinacloudapi.cn", ".dfs.core.chinacloudapi.cn", "https"),
            KEY,
            "",
            id="another cloud",
        ),
        pytest.param(
            "az://c/p",
            {
                "AZURE_STORAGE_CONNECTION_STRING": "BlobEndpoint=https://acc.blob.core.windows.net/;"
                "SharedAccessSignature=sv=1&sig=2"
            },
            ("acc", *PUBLIC),
            "",
            "?sv=1&sig=2",
            id="connection string with a token",
        ),
        pytest.param(
            "az://c/p",
            {"AZURE_STORAGE_CONNECTION_STRING": "UseDevelopmentStorage=true"},
            ("devstoreaccount1", "127.0.0.1:10000", "127.0.0.1:10000", "http"),
            DEVELOPMENT,
            "",
            id="development",
        ),
        pytest.param(
            "abfss://c/p",
            {"AZURE_STORAGE_ACCOUNT": "acc", "AZURE_STORAGE_KEY": KEY},
            ("acc", *PUBLIC),
            KEY,
            "",
            id="the command line's variables",
        ),
        pytest.param(
            "abfs://c@acc.dfs.core.windows.net/p",
            {"AZURE_STORAGE_ACCOUNT_NAME": "acc", "AZURE_STORAGE_SAS_TOKEN": "sv=1"},
            ("acc", *PUBLIC),
            "",
            "?sv=1",
            id="the variables of adlfs",
        ),
        pytest.param(
            "https://acc.blob.core.windows.net/c/p?sv=3&sig=4",
            {"AZURE_STORAGE_KEY": KEY},
            ("acc", *PUBLIC),
            "",
            "?sv=3&sig=4",
            id="token in the URL",
        ),
    ],
)
def test_azure(
    url: str, environ: dict[str, str], want: tuple[str, ...], key: str, token: str, monkeypatch: Any
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    found = made(url)
    assert some(found, *AZURE) == want
    assert (found["account_key"] or "", found["sas_token"] or "") == (key, token)
    # A token is a secret, and no part of what is shown and stored.
    assert some(found, "key", "url") == ("c/p", url.partition("?")[0])


def test_google_cloud(monkeypatch: Any) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "localhost:9023")
    for url in ("gs://bucket/a b/", "gcs://bucket/a b"):
        found = made(url)
        names = ("anonymous", "scheme", "endpoint_override", "key", "url")
        want = (True, "http", "localhost:9023", "bucket/a b", "gs://bucket/a b")
        assert some(found, *names) == want


def refused(url: str) -> str:
    with pytest.raises(IngestError) as error:
        discover([url])
    return str(error.value)


def test_urls_that_lead_nowhere(monkeypatch: Any) -> None:
    for scheme in ("s3", "gs", "az"):
        said = f"{scheme}://: the bucket is missing: {scheme}://BUCKET/PATH"
        assert refused(f"{scheme}://") == said
    said = "webhdfs:///x: the host is missing: webhdfs://HOST:PORT/PATH"
    assert refused("webhdfs:///x") == said
    assert locate("https://example.com/a/x.json").url == "https://example.com/a/x.json"
    assert refused("foo://x/y") == "foo://x/y: unknown scheme foo://"
    said = refused("dropbox://x/y")
    assert said.startswith("dropbox://x/y: dropbox:// needs another package: ")
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    said = "webhdfs://x/y: webhdfs:// needs fsspec: pip install 'tracewh[cloud]'"
    assert refused("webhdfs://x/y") == said


def test_a_bucket_is_named_once() -> None:
    place = locate("memory://bucket/run")
    assert place.url_of(place.key + "/w.json") == "memory://bucket/run/w.json"


def test_a_password_in_a_url_is_not_shown(monkeypatch: Any) -> None:
    place = locate("memory://user:secret@host/x")
    assert "secret" not in place.url_of("x")


def test_hdfs_without_its_client(monkeypatch: Any, tmp_path: Path) -> None:
    for name in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert refused("hdfs://namenode:9000/logs") == (
        "hdfs://namenode:9000/logs: hdfs:// needs Java and Hadoop's native client: set JAVA_HOME, "
        "HADOOP_HOME and CLASSPATH=$(hadoop classpath --glob); or use webhdfs://, which needs neither"
    )


NO_LOGIN = (
    "google::cloud::Status(UNAVAILABLE: Retry policy exhausted, with a last message of Could not "
    "create a OAuth2 access token to authenticate the request."
)
NO_KEY = (
    "Check for Hierarchical Namespace support on 'https://a.blob.core.windows.net/c' failed: "
    "St13runtime_error: Unexpected end of Base64 encoded string."
)


@pytest.mark.parametrize(
    ("url", "said", "want"),
    [
        (
            "gs://b/k",
            NO_LOGIN,
            "the store denies access; check GOOGLE_APPLICATION_CREDENTIALS, or ",
        ),
        (
            "https://a.blob.core.windows.net/c/k",
            NO_KEY,
            "the store denies access; check AZURE_STORAGE_CONNECTION_STRING, or ",
        ),
        (
            "https://example.com/k",
            "Cannot connect to host example.com:443",
            "the store cannot be reached; check the host in the URL",
        ),
        ("s3://b/k", "something\n else", "something else"),
    ],
)
def test_what_clients_say_without_a_server(url: str, said: str, want: str) -> None:
    """Errors of the real clients, seen where no emulator gives them."""
    with pytest.raises(OSError) as error, readable_errors(url):
        raise OSError(said)
    assert str(error.value.strerror).startswith(want)
    assert error.value.filename == url


@pytest.mark.parametrize(
    ("host", "want"),
    [
        ("namenode", {"host": "namenode", "port": 8020, "user": None}),
        ("me@namenode:9000", {"host": "namenode", "port": 9000, "user": "me"}),
        ("", {"host": "default", "port": 0, "user": None}),
    ],
)
def test_hdfs_on_a_stub(host: str, want: dict[str, Any], tmp_path: Path, monkeypatch: Any) -> None:
    """Shows which host is asked and which path; a local folder answers, and no Hadoop."""
    (tmp_path / "dfs" / "logs" / "run").mkdir(parents=True)
    (tmp_path / "dfs" / "logs" / "run" / "w.json").write_bytes(TRACE)
    asked: list[dict[str, Any]] = []

    def hadoop(host: str, port: int = 8020, user: str | None = None) -> fs.FileSystem:
        asked.append({"host": host, "port": port, "user": user})
        return fs.SubTreeFileSystem(str(tmp_path / "dfs"), fs.LocalFileSystem())

    monkeypatch.setattr(fs, "HadoopFileSystem", hadoop)
    [outcome] = tracewh.ingest(f"hdfs://{host}/logs", tmp_path / "wh")
    assert (outcome.status, outcome.run, outcome.worker) == ("ingested", "run", "w")
    assert str(outcome.source).endswith("/logs/run/w.json")
    assert asked == [want]


class NameNode(BaseHTTPRequestHandler):
    """Answers three requests of WebHDFS's as its documentation shows them."""

    FILES = {"/logs/run/w.json": TRACE, "/logs/run/notes.txt": b""}  # noqa: RUF012

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        split = urlsplit(self.path)
        path = "/" + split.path.removeprefix("/webhdfs/v1").strip("/")
        kind = parse_qs(split.query)["op"][0]
        below = {p for p in self.FILES if p.startswith(f"{path}/".replace("//", "/"))}
        if path not in self.FILES and not below:
            said = {"exception": "FileNotFoundException", "message": "File does not exist"}
            return self.answer(404, json.dumps({"RemoteException": said}).encode())
        if kind == "OPEN":
            return self.answer(200, self.FILES[path])
        if kind == "GETFILESTATUS":
            return self.answer(200, json.dumps({"FileStatus": self.status(path, "")}).encode())
        start = path.rstrip("/") + "/"
        names = sorted({p.removeprefix(start).partition("/")[0] for p in below})
        found = [self.status(start + name, name) for name in names]
        text = json.dumps({"FileStatuses": {"FileStatus": found}})
        return self.answer(200, text.encode())

    def status(self, path: str, suffix: str) -> dict[str, Any]:
        file = path in self.FILES
        return {
            "pathSuffix": suffix,
            "type": "FILE" if file else "DIRECTORY",
            "length": len(self.FILES.get(path, b"")),
            "modificationTime": 1320171722771,
        }

    def answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def name_node() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), NameNode)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"webhdfs://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_webhdfs_on_a_stub(name_node: str, tmp_path: Path) -> None:
    """fsspec's client over HTTP; the server is ours, and knows no redirect to a data node."""
    [outcome] = tracewh.ingest(f"{name_node}/logs", tmp_path / "wh")
    assert (outcome.status, outcome.reason) == ("ingested", "")
    assert (outcome.run, outcome.worker, outcome.source_bytes) == ("run", "w", len(TRACE))
    assert str(outcome.source) == f"{name_node}/logs/run/w.json"
    [again] = tracewh.ingest(str(outcome.source), tmp_path / "wh")
    assert again.status == "unchanged"
    assert refused(f"{name_node}/none") == f"{name_node}/none: no such file or folder"
    assert refused("webhdfs://127.0.0.1:1/x") == (
        "webhdfs://127.0.0.1:1/x: the store cannot be reached; check the host in the URL"
    )
