"""Files in S3, Azure, Google Cloud and HDFS, and wherever fsspec reaches, by URL.

Arrow's own file systems do the work. What is here turns a URL and the environment variables that
people have set for other tools into one of them, and its errors into a line with a remedy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from tracewh.storage.remote import azure
from tracewh.storage.remote.errors import readable_errors
from tracewh.storage.remote.location import Location, bucket_and_path, environ, refused

__all__ = ["SETTINGS", "Location", "is_url", "is_writable", "locate", "readable_errors"]

#: How the variables begin that say where a store is, and who is asking.
SETTINGS = ("S3_", "AWS_", "AZURE_", "GOOGLE_", "STORAGE_EMULATOR_HOST")

#: How long Google's client tries again where it cannot connect; its own choice is 15 minutes.
GCS_RETRY = timedelta(seconds=15)

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL: a drive letter is no scheme."""
    return bool(_URL.match(os.fspath(path)))


def locate(url: str) -> Location:
    """Find the file system of a URL. Most errors show only when it is first used.

    Raises:
        OSError: Nothing can be made of the URL, or what it takes is not installed or not set.
    """
    split = urlsplit(url)
    with readable_errors(url):
        return _opener(url, split)(url, split)


def is_writable(url: str) -> bool:
    """Whether a warehouse can be written there: in S3, Google Cloud or Azure, as tests show."""
    return _opener(url, urlsplit(url)) not in (_hdfs, _anything)


def _opener(url: str, split: SplitResult) -> Callable[[str, SplitResult], Location]:
    scheme = url.partition("://")[0].lower()
    if ".blob." in split.netloc or split.path.startswith(f"/{azure.AZURITE}/"):
        scheme = "blob"
    return _SCHEMES.get(scheme, _anything)


def _s3(url: str, split: SplitResult) -> Location:
    from pyarrow import fs

    key = bucket_and_path(url, split)
    endpoint = environ("S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    region = environ("AWS_REGION", "AWS_DEFAULT_REGION")
    # A small object is one request, and a large one does not wait in memory for its parts.
    options: dict[str, Any] = {"allow_delayed_open": True, "background_writes": False}
    if endpoint:
        scheme, _, host = endpoint.rpartition("://")
        plain = (environ("S3_USE_HTTPS") or "1").lower() in ("0", "false")
        options["scheme"] = scheme or ("http" if plain else "https")
        options["endpoint_override"] = host.rstrip("/")
        region = region or "us-east-1"  # such stores have none, and its signature must name one
    if bundle := environ("AWS_CA_BUNDLE"):
        options["tls_ca_file_path"] = bundle
    if not region:
        region = _region(key.partition("/")[0])
    return Location(fs.S3FileSystem(region=region, **options), key, "s3://")


@cache
def _region(bucket: str) -> str:
    from pyarrow import fs

    return str(fs.resolve_s3_region(bucket))


def _gcs(url: str, split: SplitResult) -> Location:
    from pyarrow import fs

    key = bucket_and_path(url, split)
    if emulator := environ("STORAGE_EMULATOR_HOST"):
        scheme, _, host = emulator.rpartition("://")
        opened = fs.GcsFileSystem(
            anonymous=True,
            scheme=scheme or "http",
            endpoint_override=host.rstrip("/"),
            retry_time_limit=GCS_RETRY,
        )
        return Location(opened, key, "gs://")
    opened = fs.GcsFileSystem(retry_time_limit=GCS_RETRY)
    try:
        opened.get_file_info(key.partition("/")[0])
    except OSError as error:
        if "OAuth2 access token" in str(error):  # nobody is logged in: the bucket may be public
            opened = fs.GcsFileSystem(anonymous=True, retry_time_limit=GCS_RETRY)
    return Location(opened, key, "gs://")


def _hdfs(url: str, split: SplitResult) -> Location:
    from pyarrow import fs

    try:
        opened = fs.HadoopFileSystem(
            split.hostname or "default",
            split.port or (8020 if split.hostname else 0),
            user=split.username,
        )
    except OSError as error:
        if "Unable to load" not in str(error):
            raise
        raise refused(
            url,
            "hdfs:// needs Java and Hadoop's native client: set JAVA_HOME, HADOOP_HOME and "
            "CLASSPATH=$(hadoop classpath --glob); or use webhdfs://, which needs neither",
        ) from None
    return Location(opened, split.path.rstrip("/") or "/", f"hdfs://{split.netloc}")


def _anything(url: str, split: SplitResult) -> Location:
    """What fsspec knows: webhdfs:// and everything that somebody wrote a package for."""
    try:
        import fsspec
    except ImportError:
        raise refused(
            url, f"{split.scheme}:// needs fsspec: pip install 'tracewh[cloud]'"
        ) from None
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    if split.scheme == "webhdfs" and not split.netloc:
        raise refused(url, "there is no host in it: webhdfs://HOST:PORT/PATH")
    try:
        opened, key = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise refused(url, f"{split.scheme}:// needs another package: {error}") from None
    except ValueError as error:
        if "not known" not in str(error):
            raise
        raise refused(url, f"no store is known by {split.scheme}://") from None
    if is_url(key):  # as of http
        return Location(PyFileSystem(FSSpecHandler(opened)), key, "")
    host = split.netloc.rpartition("@")[2]
    named = f"{split.scheme}://{host}"
    if key.strip("/").partition("/")[0] == host:  # a bucket, which is part of the path
        named = f"{split.scheme}:/" if key.startswith("/") else f"{split.scheme}://"
    return Location(PyFileSystem(FSSpecHandler(opened)), key.rstrip("/"), named)


_SCHEMES: dict[str, Callable[[str, SplitResult], Location]] = {
    "s3": _s3,
    "gs": _gcs,
    "gcs": _gcs,
    "az": azure.container_url,
    "abfs": azure.container_url,
    "abfss": azure.container_url,
    "blob": azure.blob_url,
    "hdfs": _hdfs,
}
