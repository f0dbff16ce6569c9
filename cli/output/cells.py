"""Pad and wrap text by the cells that it takes on a terminal: a character of Chinese takes two."""

from __future__ import annotations

from textwrap import TextWrapper

from rich.cells import cell_len


def pad(text: str, width: int) -> str:
    """Return a text with spaces behind it, so that it takes that many cells."""
    return text + " " * (width - cell_len(text))


def wrap(text: str, width: int, *, break_long_words: bool = True) -> list[str]:
    """Return the lines of a text, as `textwrap.wrap` does; a line ends at blanks, and not at hyphens."""
    wrapper = _Wrapper(width, break_on_hyphens=False, break_long_words=break_long_words)
    return wrapper.wrap(text)


class _Chunk(str):
    """A part of a text whose length is its number of cells."""

    __slots__ = ()

    def __len__(self) -> int:
        return cell_len(str(self))


class _Wrapper(TextWrapper):
    """A wrapper that counts cells."""

    def _split(self, text: str) -> list[str]:
        return [_Chunk(chunk) for chunk in super()._split(text)]

    def _handle_long_word(
        self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int
    ) -> None:
        """Put as much of a word that is longer than a line as fits into the line."""
        if not self.break_long_words:
            super()._handle_long_word(reversed_chunks, cur_line, cur_len, width)
            return
        word = str(reversed_chunks.pop())
        end = 0
        while end < len(word) and cell_len(word[: end + 1]) <= width - cur_len:
            end += 1
        if not cur_line:
            end = max(end, 1)  # a line has at least one character, even if it is too wide
        if end:
            cur_line.append(_Chunk(word[:end]))
        if word[end:]:
            reversed_chunks.append(_Chunk(word[end:]))
