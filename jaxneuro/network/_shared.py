"""`Shared`: a receptor or a release that has a name of its own."""

from typing import NamedTuple


class Shared(NamedTuple):
    """A receptor or a release with a name of its own.

    **Fields** `name`; `kind` ("receptor" or "release"); `senders` names of the projections,
    stimulations and couplings that use it, in alphabetical order.
    """

    name: str
    kind: str
    senders: tuple[str, ...]
