"""Serve a folder as an S3 bucket with latency: python bench/bucket.py FOLDER PORT SECONDS

Requests wait in parallel, as in S3, where the cost of small files is latency and not bandwidth. The
server lists objects and returns whole objects and ranges. GET /counts returns the number of requests
since the previous GET /counts. It checks no signatures and is read-only: it exists to measure reading.
"""

import asyncio
import json
import os
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, unquote
from xml.sax.saxutils import escape

#: Where S3 ends a page of a listing.
PAGE = 1000
HEAD = "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nContent-Type: {type}\r\n{more}\r\n"


class Bucket:
    """The objects of a folder, listed when the bucket is created."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        self.stats = {
            path.relative_to(folder).as_posix(): path.stat()
            for path in folder.rglob("*")
            if path.is_file()
        }
        self.keys = sorted(self.stats)
        self.counts: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the requests of one connection."""
        try:
            while True:
                first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = first.split(" ")
                headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
                path, _, query = target.partition("?")
                if path == "/counts":
                    writer.write(answer("200 OK", json.dumps(self.counts).encode()))
                    self.counts.clear()
                else:
                    await asyncio.sleep(self.seconds)
                    key = unquote(path).strip("/").partition("/")[2]
                    writer.write(self.answer(method, key, parse_qs(query), headers.get("range")))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def answer(
        self, method: str, key: str, query: dict[str, list[str]], within: str | None
    ) -> bytes:
        """Return the response to one request."""
        if not key and method == "GET":
            self.counts["LIST"] += 1
            return answer("200 OK", self.listing(query), "application/xml")
        self.counts[method] += 1
        if key not in self.stats:
            return answer("200 OK" if not key else "404 Not Found", b"")
        stat = self.stats[key]
        start, end = 0, stat.st_size - 1
        if within:
            left, right = within.removeprefix("bytes=").split("-")
            start = int(left) if left else stat.st_size - int(right)
            end = min(end, int(right)) if left and right else end
        written = datetime.fromtimestamp(stat.st_mtime, UTC)
        more = f"Last-Modified: {written:%a, %d %b %Y %H:%M:%S GMT}\r\n"
        more += f"Content-Range: bytes {start}-{end}/{stat.st_size}\r\n" if within else ""
        if method == "HEAD":
            return answer("200 OK", b"", more=more, length=stat.st_size)
        with (self.folder / key).open("rb") as file:
            file.seek(start)
            content = file.read(end - start + 1)
        self.counts["bytes"] += len(content)
        return answer("206 Partial Content" if within else "200 OK", content, more=more)

    def listing(self, query: dict[str, list[str]]) -> bytes:
        """Return a page of a listing, recursive or of one level below a prefix."""
        prefix, delimiter = (query.get(name, [""])[0] for name in ("prefix", "delimiter"))
        after = query.get("continuation-token", [""])[0]
        at = bisect_right(self.keys, after) if after else bisect_left(self.keys, prefix)
        entries: list[str] = []
        while at < len(self.keys) and self.keys[at].startswith(prefix) and len(entries) < PAGE:
            key = self.keys[at]
            below, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            if found:
                folder = f"{prefix}{below}{delimiter}"
                entries.append(
                    f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>"
                )
                after = f"{folder}\U0010ffff"
                at = bisect_right(self.keys, after)
                continue
            stat = self.stats[key]
            written = datetime.fromtimestamp(stat.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            entries.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>{written}</LastModified>"
                f'<ETag>"0"</ETag><Size>{stat.st_size}</Size></Contents>'
            )
            after, at = key, at + 1
        more = at < len(self.keys) and self.keys[at].startswith(prefix)
        token = f"<NextContinuationToken>{escape(after)}</NextContinuationToken>" if more else ""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>'
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Prefix>{escape(prefix)}</Prefix><KeyCount>{len(entries)}</KeyCount>"
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{''.join(entries)}"
            "</ListBucketResult>"
        ).encode()


def answer(
    status: str, content: bytes, type: str = "text/plain", more: str = "", length: int | None = None
) -> bytes:
    """Return the bytes of an HTTP response."""
    length = len(content) if length is None else length
    return HEAD.format(status=status, length=length, type=type, more=more).encode() + content


async def main() -> None:
    """Read the command line and serve until killed."""
    bucket = Bucket(Path(sys.argv[1]).resolve(), float(sys.argv[3]))
    server = await asyncio.start_server(
        bucket.serve, "127.0.0.1", int(sys.argv[2]), backlog=1024, limit=1 << 20
    )
    print(os.getpid(), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
