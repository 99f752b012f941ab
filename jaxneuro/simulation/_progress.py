"""A progress bar over biological time."""

import sys
from types import TracebackType


class Progress:
    """Shows how far a run is: tqdm where it is installed, else one line on stderr."""

    def __init__(self, total_ms: float, show: bool):
        self._total, self._done, self._bar = total_ms, 0.0, None
        self._show = show and total_ms > 0
        if not self._show:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        form = "{l_bar}{bar}| {n:.0f}/{total:.0f} ms of biological time [{elapsed}<{remaining}]"
        self._bar = tqdm(total=total_ms, desc="simulating", bar_format=form)

    def advance(self, ms: float) -> None:
        """Another `ms` of biological time are done."""
        if not self._show:
            return
        self._done += ms
        if self._bar is not None:
            self._bar.update(ms)
            return
        percent = 100.0 * self._done / self._total
        print(f"\rsimulating: {percent:3.0f} % of {self._total:g} ms", end="", file=sys.stderr)

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
