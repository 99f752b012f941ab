"""The class of the figures, which a notebook shows without pyplot."""

import io

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A matplotlib `Figure` that a notebook shows as the value of a cell."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png")
        return png.getvalue()
