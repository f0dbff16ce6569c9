"""Open a warehouse for writing, by its path or URL."""

from __future__ import annotations

import os
from pathlib import Path

from tracewh.errors import IngestError
from tracewh.files import printable
from tracewh.storage import layout
from tracewh.storage.local_store import LocalStore
from tracewh.storage.object_store import ObjectStore, as_store_error
from tracewh.storage.remote import is_url, is_writable, locate
from tracewh.storage.store import Store


def open_store(warehouse: str | os.PathLike[str]) -> Store:
    """Open the warehouse in a folder or at a URL.

    Raises:
        IngestError: tracewh cannot write a warehouse at that URL.
    """
    if not os.fspath(warehouse):
        raise IngestError("the path of the warehouse is empty; name a folder")
    if not is_url(warehouse):
        if problem := layout.tilde_problem(os.fspath(warehouse)):
            raise IngestError(f"{warehouse}: {problem}")
        if (path := os.path.abspath(warehouse)) != printable(path):
            raise IngestError(f"{printable(path)}: the path of a warehouse must be UTF-8")
        store = LocalStore(Path(warehouse))
        if problem := layout.place_problem(store.name):
            raise IngestError(f"{store.name}: {problem}")
        return store
    url = os.fspath(warehouse)
    if not is_writable(url):
        raise IngestError(
            f"{url}: tracewh can only read a warehouse there; write it to a folder and copy that, or to "
            "S3, Google Cloud or Azure"
        )
    with as_store_error():
        return ObjectStore(locate(url))
