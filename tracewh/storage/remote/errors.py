"""One-line error messages with a remedy, for errors of file systems."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

#: Message for a write to a bucket that does not exist.
NO_BUCKET = "the bucket does not exist; create it, or name another"


@contextmanager
def readable_errors(url: str, missing: str = "no such file or folder") -> Iterator[None]:
    """Turn any error of a file system into an OSError with a one-line message.

    Args:
        url: The requested URL.
        missing: The message if nothing is there.
    """
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, missing, url) from None
    except InterruptedError:
        raise
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.filename == url:
            raise  # already converted by an inner `readable_errors`
        raise OSError(errno.EIO, _explanation(url, str(error)), url) from None
    except Exception as error:  # noqa: BLE001  # each fsspec file system has its own error classes
        text = f"{type(error).__name__}: {error}"
        raise OSError(errno.EIO, _explanation(url, text), url) from None


def _explanation(url: str, text: str) -> str:
    scheme = url.partition("://")[0].lower()
    azure = scheme in ("abfs", "abfss") or re.search(r"\.blob\.|/devstoreaccount1/", url)
    store = "az" if azure else {"gcs": "gs"}.get(scheme, scheme)
    where, who = _REMEDIES.get(store, ("the host in the URL", "the credentials of this store"))
    if re.search("NO_SUCH_BUCKET|ContainerNotFound", text):
        return NO_BUCKET
    for sign, about in _SIGNS:
        if re.search(sign, text):
            return f"{about}; check {where if about == _UNREACHED else who}"
    return " ".join(text.split())[:300]


_UNREACHED, _FORBIDDEN = "the store cannot be reached", "the store denies access"
_SIGNS = (
    (
        r"NETWORK_CONNECTION|CURL error|[Cc]ould not (connect|resolve)|Connection refused",
        _UNREACHED,
    ),
    (
        r"Max retries exceeded|NameResolution|Cannot connect|Fail to get a new connection",
        _UNREACHED,
    ),
    (r"OAuth2 access token|Failed to get token|CredentialsError|PermissionDenied", _FORBIDDEN),
    (r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|SIGNATURE_DOES_NOT_MATCH|EXPIRED_TOKEN", _FORBIDDEN),
    (r"Base64|InvalidAccessKeyId|AccessDenied|Forbidden|Unauthorized|\b40[13]\b", _FORBIDDEN),
)
#: The settings for the address of a store, and those for the credentials.
_REMEDIES = {
    "s3": (
        "S3_ENDPOINT and AWS_REGION",
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    ),
    "az": (
        "AZURE_STORAGE_CONNECTION_STRING or the host in the URL",
        (
            "AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or "
            "AZURE_STORAGE_SAS_TOKEN, or `az login`"
        ),
    ),
    "gs": (
        "the network, and STORAGE_EMULATOR_HOST where it is set",
        "GOOGLE_APPLICATION_CREDENTIALS, or `gcloud auth application-default login`",
    ),
}
