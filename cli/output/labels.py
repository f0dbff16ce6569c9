"""Shorten names that are too long for their column: cut the parts they share, keep where they differ.

    void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(Params)
    void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x6_tn_align8>(Params)

start and end the same. In 40 cells they become

    void cutlass::Kernel2<cutl…64x6…(Params)
    void cutlass::Kernel2<cutl…32x6…(Params)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise

from rich.cells import cell_len

ELLIPSIS = "…"
#: If names begin to differ within a word, this many of its characters are shown on either side.
LONGEST_WORD = 12


def shorten(text: str, width: int, ellipsis: str = ELLIPSIS) -> str:
    """Cut the middle of a text: a kernel's name says most at its start, and its type at its end."""
    if cell_len(text) <= width:
        return text
    room = max(width - cell_len(ellipsis), 1)
    end = room // 3
    return _head(text, room - end) + ellipsis + _tail(text, end)


def distinct(texts: Iterable[str], width: int, ellipsis: str = ELLIPSIS) -> dict[str, str]:
    """Shorten the texts of a column to a width, and keep different texts different.

    Texts with the same start and end also show the words in which they differ. If these do not fit, a
    number distinguishes them, if the width has room for it.
    """
    whole = dict.fromkeys(texts)
    found = {text: text for text in whole if cell_len(text) <= width}
    taken = set(found)
    alike = defaultdict(list)
    for text in whole:
        if text not in found:
            alike[shorten(text, width, ellipsis)].append(text)
    for label, group in sorted(alike.items(), key=lambda item: len(item[1])):
        branches = _branches(group) if len(group) > 1 else {}
        for text in group:
            labels = _labels(text, branches[text], width, ellipsis) if branches else [label]
            fitting = (each for each in labels if cell_len(each) <= width and each not in taken)
            found[text] = next(fitting, None) or _numbered(text, width, ellipsis, taken)
            taken.add(found[text])
    return found


def _branches(group: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions in each text where another text with the same prefix begins to differ."""
    texts = sorted(group)
    found: dict[str, set[int]] = {text: set() for text in texts}
    for order in (texts, texts[::-1]):
        places: list[int] = []  # where earlier texts, in that order, begin to differ from this one
        for before, text in pairwise(order):
            shared = _same(before, text)
            places = [*(place for place in places if place < shared), shared]
            found[text].update(places)
    return {text: sorted(places) for text, places in found.items()}


def _labels(text: str, branches: Sequence[int], width: int, ellipsis: str) -> Iterator[str]:
    """Yield ways to shorten a text and keep its branches, best first: whole words, long ends."""
    for in_words, least in ((True, width // 4), (False, 1)):
        kept = [_word(text, place) if in_words else (place, place + 1) for place in branches]
        for head in range(2 * width // 3, least - 1, -1):
            ends = [(0, head), (len(text) - head // 3, len(text))]
            yield _joined(text, sorted([*kept, *ends]), len(ellipsis), ellipsis)


def _joined(text: str, kept: Sequence[tuple[int, int]], gap: int, ellipsis: str) -> str:
    """Join parts of a text with ellipses; a gap is cut only if it is longer than the ellipsis."""
    shown, end = "", 0
    for start, stop in kept:
        if start - end > gap:
            shown += ellipsis
            end = start
        shown += text[end : max(stop, end)]
        end = max(stop, end)
    return shown


def _word(text: str, place: int) -> tuple[int, int]:
    """Return start and end of the word around a position."""
    start, stop = place, place + 1
    while start > max(place - LONGEST_WORD, 0) and text[start - 1].isalnum():
        start -= 1
    while (
        stop < min(place + LONGEST_WORD, len(text))
        and text[place].isalnum()
        and text[stop].isalnum()
    ):
        stop += 1
    return start, stop


def _same(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _numbered(text: str, width: int, ellipsis: str, taken: set[str]) -> str:
    """Return the start of a text with a number that makes the label unique."""
    for number in count(1):
        mark = f"{ellipsis}({number})"
        label = _head(text, max(width - cell_len(mark), 0)) + mark
        if label not in taken:
            return label if cell_len(label) <= width else shorten(text, width, ellipsis)
    raise AssertionError


def _head(text: str, cells: int) -> str:
    """Return the longest start of a text that fits into the cells; some characters take two."""
    head = text[: max(cells, 0)]
    while cell_len(head) > max(cells, 0):
        head = head[:-1]
    return head


def _tail(text: str, cells: int) -> str:
    """Return the longest end of a text that fits into the cells."""
    tail = text[len(text) - min(max(cells, 0), len(text)) :]
    while cell_len(tail) > max(cells, 0):
        tail = tail[1:]
    return tail
