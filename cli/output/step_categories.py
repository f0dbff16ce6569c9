"""The categories of a step, as step_breakdown names them, and how people see them everywhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepCategory:
    """How a category is shown.

    Attributes:
        word: What it is called.
        letter: Its letter in a bar without colors.
        terminal_color: Its color of the 256 of a terminal.
        page_color: The name of its color in the style sheets of a page.
    """

    word: str
    letter: str
    terminal_color: int
    page_color: str


#: In the order of step_breakdown.
STEP_CATEGORIES = {
    "kernel": StepCategory("kernels", "K", 33, "kernel"),
    "memcpy": StepCategory("copies", "C", 98, "copy"),
    "memset": StepCategory("memsets", "M", 176, "memset"),
    "communication": StepCategory("communication", "X", 161, "communication"),
    "runtime": StepCategory("runtime calls", "R", 244, "runtime"),
    "dataloader": StepCategory("data loader", "D", 208, "dataloader"),
    "cpu_exec": StepCategory("operators", "O", 35, "operator"),
    "other": StepCategory("nothing recorded", ".", 250, "nothing"),
}
