"""Pictures of a warehouse in a notebook; `Warehouse` has them as methods."""

from tracewh.notebook.pictures import Page, PictureError, chart, draw_relations, report

__all__ = ["Page", "PictureError", "chart", "draw_relations", "report"]
