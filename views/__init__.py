"""The views of a warehouse: find a view, check its arguments and run it."""

from tracewh.storage.layout import TraceKeys
from tracewh.views.registry import ArgumentError, Call, Registry, UnknownViewError, ViewError
from tracewh.views.spec import GROUPS, SIZES, Column, HeaderError, Param, Spec

__all__ = [
    "GROUPS",
    "SIZES",
    "ArgumentError",
    "Call",
    "Column",
    "HeaderError",
    "Param",
    "Registry",
    "Spec",
    "TraceKeys",
    "UnknownViewError",
    "ViewError",
]
