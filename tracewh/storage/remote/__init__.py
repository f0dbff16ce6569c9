"""Files in S3, Azure, Google Cloud, HDFS and any file system of fsspec, by URL.

Arrow's file systems do the work. This package creates one from a URL and from the environment
variables that other tools use too, and turns its errors into one line with a remedy.
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
from tracewh.storage.remote.location import Location, bucket_and_path, environ, url_error

__all__ = ["SETTINGS", "Location", "is_url", "is_writable", "locate", "readable_errors"]

#: Prefixes of the environment variables for the addresses and credentials of stores.
SETTINGS = ("S3_", "AWS_", "AZURE_", "GOOGLE_", "STORAGE_EMULATOR_HOST")

#: How long Google's client retries a connection; its default is 15 minutes.
GCS_RETRY = timedelta(seconds=15)

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL. A drive letter is not a scheme."""
    return bool(_URL.match(os.fspath(path)))


def locate(url: str) -> Location:
    """Create the file system for a URL. Most errors occur only when it is first used.

    Raises:
        OSError: The URL is invalid, or a required package or setting is missing.
    """
    split = urlsplit(url)
    with readable_errors(url):
        return _opener(url, split)(url, split)


def is_writable(url: str) -> bool:
    """Whether tracewh can write a warehouse at a URL: in S3, Google Cloud and Azure only."""
    return _opener(url, urlsplit(url)) not in (_hdfs, _fsspec)


def _opener(url: str, split: SplitResult) -> Callable[[str, SplitResult], Location]:
    scheme = url.partition("://")[0].lower()
    if ".blob." in split.netloc or split.path.startswith(f"/{azure.AZURITE}/"):
        scheme = "blob"
    return _SCHEMES.get(scheme, _fsspec)


def _s3(url: str, split: SplitResult) -> Location:
    from pyarrow import fs

    key = bucket_and_path(url, split)
    endpoint = environ("S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    region = environ("AWS_REGION", "AWS_DEFAULT_REGION")
    # Write a small object in one request, and do not hold a large one in memory.
    options: dict[str, Any] = {"allow_delayed_open": True, "background_writes": False}
    if endpoint:
        scheme, _, host = endpoint.rpartition("://")
        plain = (environ("S3_USE_HTTPS") or "1").lower() in ("0", "false")
        options["scheme"] = scheme or ("http" if plain else "https")
        options["endpoint_override"] = host.rstrip("/")
        region = region or "us-east-1"  # such stores have no region, but the signature needs one
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
        if "OAuth2 access token" in str(error):  # no credentials: the bucket may be public
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
        raise url_error(
            url,
            "hdfs:// needs Java and Hadoop's native client: set JAVA_HOME, HADOOP_HOME and "
            "CLASSPATH=$(hadoop classpath --glob); or use webhdfs://, which needs neither",
        ) from None
    return Location(opened, split.path.rstrip("/") or "/", f"hdfs://{split.netloc}")


def _fsspec(url: str, split: SplitResult) -> Location:
    """A file system of fsspec: webhdfs:// and every scheme with an installed package."""
    try:
        import fsspec
    except ImportError:
        raise url_error(
            url, f"{split.scheme}:// needs fsspec: pip install 'tracewh[cloud]'"
        ) from None
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    if split.scheme == "webhdfs" and not split.netloc:
        raise url_error(url, "the host is missing: webhdfs://HOST:PORT/PATH")
    try:
        opened, key = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise url_error(url, f"{split.scheme}:// needs another package: {error}") from None
    except ValueError as error:
        if "not known" not in str(error):
            raise
        raise url_error(url, f"unknown scheme {split.scheme}://") from None
    if is_url(key):  # e.g. for http
        return Location(PyFileSystem(FSSpecHandler(opened)), key, "")
    host = split.netloc.rpartition("@")[2]
    named = f"{split.scheme}://{host}"
    if key.strip("/").partition("/")[0] == host:  # a bucket: the path already contains it
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
