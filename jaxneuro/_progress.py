"""A progress bar for what takes long: building a network and simulating it."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from types import TracebackType


def is_shown(progress: bool | None) -> bool:
    """Whether to show a bar; by default if stderr is a terminal, and in a notebook."""
    if progress is not None:
        return progress
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return sys.stderr.isatty() or hasattr(shell, "kernel")


class Progress:
    """Shows progress: with tqdm if it is installed, else as one line on stderr.

    `doing` is the label, `total` the amount of work, in `unit`.
    """

    def __init__(self, doing: str, total: float, unit: str, show: bool):
        self._doing, self._total, self._unit = doing, total, unit
        self._done, self._bar = 0.0, None
        self._show = show and total > 0
        if not self._show:
            return
        try:
            with warnings.catch_warnings():  # without ipywidgets a notebook shows a line of text
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            return
        form = f"{{l_bar}}{{bar}}| {{n:.6g}}/{{total:.6g}} {unit} [{{elapsed}}<{{remaining}}]"
        self._bar = tqdm(total=total, desc=doing, bar_format=form)

    def advance(self, amount: float) -> None:
        """Adds an `amount` to what is done."""
        if not self._show:
            return
        self._done += amount
        if self._bar is not None:
            self._bar.update(amount)
            return
        percent = 100.0 * self._done / self._total
        line = f"\r{self._doing}: {percent:3.0f} % of {self._total:g} {self._unit}"
        print(line, end="", file=sys.stderr)

    @contextlib.contextmanager
    def meanwhile(self, doing: str) -> Iterator[None]:
        """Says so while something else is done first, such as compiling."""
        self._say(doing)
        try:
            yield
        finally:
            self._say(self._doing)

    def _say(self, doing: str) -> None:
        if self._bar is not None:
            self._bar.set_description(doing)
        elif self._show:
            print(f"\r{doing:{len(self._doing)}}: ", end="", file=sys.stderr)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._show:
            print(file=sys.stderr)
