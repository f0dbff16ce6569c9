"""What a file system says, as one line with a remedy."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

#: What is wrong where nothing can be written because there is nothing to write to.
NO_BUCKET = "there is no such bucket; make it, or name another"


@contextmanager
def readable_errors(url: str, missing: str = "no such file or folder") -> Iterator[None]:
    """Turn what a file system raises into an OSError with one line for a person.

    Args:
        url: What was asked for.
        missing: What to say where it is not there.
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
            raise  # it is readable already
        raise OSError(errno.EIO, _explanation(url, str(error)), url) from None
    except Exception as error:  # noqa: BLE001  # each of fsspec's file systems has its own
        said = f"{type(error).__name__}: {error}"
        raise OSError(errno.EIO, _explanation(url, said), url) from None


def _explanation(url: str, said: str) -> str:
    scheme = url.partition("://")[0].lower()
    azure = scheme in ("abfs", "abfss") or re.search(r"\.blob\.|/devstoreaccount1/", url)
    store = "az" if azure else {"gcs": "gs"}.get(scheme, scheme)
    where, who = _REMEDIES.get(store, ("the host in the URL", "the credentials of this store"))
    if re.search("NO_SUCH_BUCKET|ContainerNotFound", said):
        return NO_BUCKET
    for sign, about in _SIGNS:
        if re.search(sign, said):
            return f"{about}; check {where if about == _UNREACHED else who}"
    return " ".join(said.split())[:300]


_UNREACHED, _FORBIDDEN = "the store cannot be reached", "the store gives no access"
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
#: What says where a store is, and who is asking.
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
