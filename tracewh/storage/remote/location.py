"""A URL taken apart, and what taking one apart needs."""

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
    """A URL taken apart.

    Args:
        filesystem: Where it leads.
        key: The path there, without a slash at its end.
        prefix: What stands before a key in a URL.
        named: The part of each key that the prefix says already.
        escaped: Whether keys are percent-encoded in URLs.
    """

    filesystem: FileSystem
    key: str
    prefix: str
    named: str = ""
    escaped: bool = False

    @property
    def url(self) -> str:
        """What users see of it."""
        return self.url_of(self.key)

    def url_of(self, key: str) -> str:
        """The URL of another key of the same file system, without a password or a token."""
        key = key.removeprefix(self.named)
        return self.prefix + (quote(key) if self.escaped else key)


def environ(*names: str) -> str | None:
    """The first of several variables that is set to something."""
    return next((value for name in names if (value := os.environ.get(name))), None)


def refused(url: str, reason: str) -> OSError:
    """The error for a URL that cannot be used, with the reason."""
    return OSError(errno.EINVAL, reason, url)


def bucket_and_path(url: str, split: SplitResult) -> str:
    """Bucket and path. They stand in the URL as they are: a `?` or a `#` is a part of the name."""
    key = url.partition("://")[2].strip("/")
    if not split.netloc:
        raise refused(url, f"there is no bucket in it: {split.scheme}://BUCKET/PATH")
    return key
