"""What Ctrl-C raises in a run."""

from ._result import Result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run; `result` holds what was recorded until then.

    A `KeyboardInterrupt`, so that it also ends a loop over runs. To keep the result:
    `except jn.Interrupted as stop: result = stop.result`; in a notebook, after the cell has ended,
    `sys.last_value.result`.

    **Fields** `result`: the `Result` up to the last chunk that was finished. A run goes on from it:
    `simulate(net, rest, state=result)`.
    """

    result: Result

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result
