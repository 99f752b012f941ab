"""What a word does to the areas: rules that open and close them, and phases of projection."""

import dataclasses

Place = tuple[str, ...]  # one area, or the two ends of a fibre

MODES = ("word", "form", "recall", "link")


@dataclasses.dataclass(frozen=True)
class Rule:
    """Opens or closes an area or a fibre, or forgets what fires in an area.

    **Fields** `action` "open", "close" or "forget"; `place` one area, or the two ends of a fibre
    (both its directions); `lock` which of its locks: an area or a fibre is open when none of its
    locks is closed; `when` places that must all be open, and `unless` those that must not all be
    open (none: no condition), for the rule to act.

    **Raises** `ValueError` for an unknown action, or a place that is neither one nor two names.

    **Source** Mitropolsky, Collins and Papadimitriou (2021), doi:10.1162/tacl_a_00432: rules and
    locks. Conditions are added here: an inhibitory population that is itself inhibited.
    """

    action: str
    place: Place
    lock: int = 0
    when: tuple[Place, ...] = ()
    unless: tuple[Place, ...] = ()

    def __post_init__(self) -> None:
        if self.action not in ("open", "close", "forget"):
            raise ValueError(
                f"the action of a rule must be 'open', 'close' or 'forget'; got {self.action!r}"
            )
        for place in (self.place, *self.when, *self.unless):
            if not isinstance(place, tuple) or len(place) not in (1, 2):
                raise ValueError(
                    "the place of a rule must be one area, or the two ends of a fibre; got "
                    f"{place!r}"
                )


def opens(*place: str, lock: int = 0, when: str | Place = (), unless: str | Place = ()) -> Rule:
    """The rule that opens a lock of an area (one name) or of a fibre (two names).

    `when`, `unless` an area or the two ends of a fibre: the condition of the rule.
    """
    return Rule("open", place, lock, places(when), places(unless))


def closes(*place: str, lock: int = 0, when: str | Place = (), unless: str | Place = ()) -> Rule:
    """The rule that closes a lock of an area (one name) or of a fibre (two names)."""
    return Rule("close", place, lock, places(when), places(unless))


def forgets(area: str) -> Rule:
    """The rule after which no assembly fires in an area."""
    return Rule("forget", (area,))


def places(given: str | Place) -> tuple[Place, ...]:
    """A condition as given by a user, an area or a fibre, as a tuple of places."""
    if isinstance(given, str):
        return ((given,),)
    return (given,) if given else ()


@dataclasses.dataclass(frozen=True)
class Phase:
    """Rules, rounds of projection, and rules again.

    **Fields** `pre` and `post` rules before and after the rounds; `mode` what the rounds do:

    * "word": the word fires in the lexicon, and the one area that it reaches gets a new assembly,
      which is linked with all assemblies from which an open fibre leads there.
    * "form": the same, with `target` as the area and without the lexicon.
    * "recall": the assembly in `target` that is linked with what fires elsewhere fires again.
    * "link": assemblies that fire are linked with that in `target`, and none is new.

    `target` the area ("word": none); `closed` areas that must be closed before `pre`, or the
    sentence is rejected; `when`, `unless` places as in a `Rule`: the condition of the phase.

    **Raises** `ValueError` for an unknown mode, or a target with "word" or none with another mode.
    """

    pre: tuple[Rule, ...] = ()
    post: tuple[Rule, ...] = ()
    mode: str = "word"
    target: str | None = None
    closed: tuple[str, ...] = ()
    when: tuple[Place, ...] = ()
    unless: tuple[Place, ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"the mode of a phase must be one of {MODES}; got {self.mode!r}")
        if (self.target is None) != (self.mode == "word"):
            raise ValueError(
                f"a phase of mode {self.mode!r} must have "
                f"{'no target: the open fibres decide' if self.mode == 'word' else 'a target'}; "
                f"got {self.target!r}"
            )


@dataclasses.dataclass(frozen=True)
class Word:
    """A word of the lexicon and what it does.

    **Fields** `name` as written; `phases` in their order; `lemma` the assembly of the lexicon that
    it fires (default: one of its own; forms of one word share theirs).

    **Raises** `ValueError` for an empty name or one with a space, or a word without a phase.
    """

    name: str
    phases: tuple[Phase, ...]
    lemma: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or len(self.name.split()) != 1:
            raise ValueError(f"the name of a word must be one word; got {self.name!r}")
        if not self.phases or not all(isinstance(x, Phase) for x in self.phases):
            raise ValueError(f"word {self.name!r} must have at least one Phase; got {self.phases}")
        object.__setattr__(self, "lemma", self.lemma or self.name)

    @property
    def heard(self) -> bool:
        """Whether it fires in the lexicon."""
        return any(phase.mode == "word" for phase in self.phases)
