"""Azure Blob Storage: its URL forms and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from tracewh.storage.remote.location import Location, bucket_and_path, environ, url_error

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

#: The fixed account and key of the emulator Azurite.
AZURITE = "devstoreaccount1"
_AZURITE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


def container_url(url: str, split: SplitResult) -> Location:
    """az://CONTAINER/PATH, and abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH."""
    key = bucket_and_path(url, split)
    container, _, path = key.partition("/")
    container, _, host = container.partition("@")
    if not host:
        return Location(_filesystem(url, _settings(None)), key, f"{split.scheme}://")
    account, _, rest = host.partition(".")
    settings = {"BlobEndpoint": f"https://{account}.{rest.replace('dfs.', 'blob.', 1)}"}
    opened = _filesystem(url, settings | _settings(account))
    prefix = f"{split.scheme}://{container}@{host}"
    return Location(opened, f"{container}/{path}".rstrip("/"), prefix, named=container)


def blob_url(url: str, split: SplitResult) -> Location:
    """https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH, http://HOST/devstoreaccount1/..."""
    key = unquote(split.path).strip("/")
    root = f"{split.scheme}://{split.netloc}"
    if ".blob." in split.netloc:
        account = split.netloc.partition(".")[0]
    else:
        account, _, key = key.partition("/")
        root = f"{root}/{account}"
    settings = {"BlobEndpoint": root}
    if split.query:
        settings["SharedAccessSignature"] = split.query
    opened = _filesystem(url, _settings(account) | settings)
    return Location(opened, key, f"{root}/", escaped=True)


def _settings(account: str | None) -> dict[str, str]:
    """Connection settings from a connection string, or from the variables of the Azure CLI and adlfs."""
    connection = environ("AZURE_STORAGE_CONNECTION_STRING") or ""
    found = dict(part.strip().split("=", 1) for part in connection.split(";") if "=" in part)
    if found.pop("UseDevelopmentStorage", "").lower() == "true":
        found = {"BlobEndpoint": f"http://127.0.0.1:10000/{AZURITE}", "AccountName": AZURITE}
    if not found:
        named = {
            "AccountName": environ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME"),
            "AccountKey": environ("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"),
            "SharedAccessSignature": environ("AZURE_STORAGE_SAS_TOKEN"),
        }
        found = {name: value for name, value in named.items() if value}
    if account:
        if found.get("AccountName", account) != account:
            found = {}  # credentials of another account
        found["AccountName"] = account
    if found.get("AccountName") == AZURITE:
        found.setdefault("AccountKey", _AZURITE_KEY)
    return found


def _filesystem(url: str, settings: Mapping[str, str]) -> FileSystem:
    from pyarrow import fs

    endpoint = urlsplit(settings.get("BlobEndpoint", ""))
    account = settings.get("AccountName") or endpoint.netloc.partition(".blob.")[0]
    if not account:
        raise url_error(
            url,
            "the storage account is missing; set AZURE_STORAGE_CONNECTION_STRING or "
            "AZURE_STORAGE_ACCOUNT, or write https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH",
        )
    scheme = endpoint.scheme or settings.get("DefaultEndpointsProtocol", "https")
    suffix = settings.get("EndpointSuffix", "core.windows.net")
    # Arrow appends an authority that starts with a dot to the account's name.
    authority = endpoint.netloc.removeprefix(account) or f".blob.{suffix}"
    token = settings.get("SharedAccessSignature")
    return fs.AzureFileSystem(
        account,
        account_key=None if token else settings.get("AccountKey"),
        sas_token=token and "?" + token.removeprefix("?"),
        blob_storage_authority=authority,
        dfs_storage_authority=authority.replace(".blob.", ".dfs.", 1),
        blob_storage_scheme=scheme,
        dfs_storage_scheme=scheme,
    )
