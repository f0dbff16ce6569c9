"""A parsed URL of a store, and helpers for parsing one."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed URL of a store.

    Args:
        filesystem: Arrow's file system for the store.
        key: The path in it, without a trailing slash.
        prefix: The part of a URL before the key.
        named: The part of each key that `prefix` already contains.
        escaped: Whether keys are percent-encoded in URLs.
    """

    filesystem: FileSystem
    key: str
    prefix: str
    named: str = ""
    escaped: bool = False

    @property
    def url(self) -> str:
        """The URL, for messages."""
        return self.url_of(self.key)

    def url_of(self, key: str) -> str:
        """The URL of another key in the same file system, without a password or token."""
        key = key.removeprefix(self.named)
        return self.prefix + (quote(key) if self.escaped else key)


def environ(*names: str) -> str | None:
    """The value of the first environment variable that is set and not empty; None if none is."""
    return next((value for name in names if (value := os.environ.get(name))), None)


def url_error(url: str, reason: str) -> OSError:
    """An error for a URL that cannot be used, with the reason."""
    return OSError(errno.EINVAL, reason, url)


def bucket_and_path(url: str, split: SplitResult) -> str:
    """Bucket and path of a URL, unescaped: a `?` or a `#` is part of the name."""
    key = url.partition("://")[2].strip("/")
    if not split.netloc:
        raise url_error(url, f"the bucket is missing: {split.scheme}://BUCKET/PATH")
    return key
