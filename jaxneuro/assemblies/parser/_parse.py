"""`parse`: the dependencies of a sentence."""

from typing import Any

import equinox as eqx

from ..._checks import names_checked
from ..._help import DocumentedModule
from .._brain import Brain
from .._state import BrainState
from ._control import tasks_of, words_of
from ._grammar import Grammar
from ._parser import brain_of, check_sizes, hear
from ._readout import Arc, Dependency, Readout
from ._script import rounds_of, script_of


class Parse(eqx.Module, metaclass=DocumentedModule):
    """What `parse` returns.

    **Fields** `words` of the sentence; `dependencies` (head, dependent, relation), as lemmas, in
    the order of the dependents; `arcs` the same with places of words; `brain` and `state` after the
    sentence, for those who want to look; `grammar`.
    """

    words: tuple[str, ...] = eqx.field(static=True)
    dependencies: tuple[Dependency, ...] = eqx.field(static=True)
    arcs: tuple[Arc, ...] = eqx.field(static=True)
    grammar: Grammar = eqx.field(static=True)
    brain: Brain
    state: BrainState

    def __str__(self) -> str:
        return "\n".join(f"{d.head} - {d.dependent} ({d.relation})" for d in self.dependencies)


@names_checked()
def parse(
    grammar: Grammar,
    sentence: str,
    *,
    key: Any = 0,
    n: int = 10_000,
    k: int = 100,
    p: float = 0.1,
    beta: float | tuple[float, float, float] = (1.0, 0.5, 100.0),
    rounds: int = 20,
    lex_k: int = 20,
) -> Parse:
    """Has a brain hear a sentence, and reads its dependencies from the brain.

    `grammar` such as `parser.english.grammar()`; `sentence` words of the grammar, with spaces;
    `key` the seed of the brain's synapses, an integer or a JAX key; `n` neurons in each area, of
    which `k` fire; `p` the probability of each synapse; `beta` what a weight grows by in a round,
    of fibres with the lexicon, between other areas and of chains (one number: of all); `rounds` of
    each word; `lex_k` neurons of each word in the lexicon.

    A word fires in the lexicon, and its rules open areas and fibres. An assembly forms in the one
    area that the word reaches, in one round; neurons of earlier assemblies there are refracted, so
    each occurrence of a word is an assembly of its own. It is held in the other rounds, in which
    the open fibres link it, in both directions, with the assemblies that fire at their other ends.
    The readout knows only the branches of the grammar: it lets the assembly of the main verb fire,
    then those that are linked with it, and so on.

    A neuron needs some synapses from an assembly that it is linked with: with k * p below about 5,
    dependencies are missed.

    Sentences of up to 12 words share their program, and those of up to 24.

    **Raises** `ValueError` for a word that is not in the grammar, a sentence that the grammar
    rejects (with the word, and the areas and fibres that are closed or at war), or a size that is
    out of bounds.

    **Source** Mitropolsky, Collins and Papadimitriou (2021), doi:10.1162/tacl_a_00432; clauses:
    Mitropolsky, Ejaz, Shi, Yannakakis and Papadimitriou (2022), arXiv:2206.13217.

    **Differs** The published program projects a word until its assembly is stable, so a word has
    one assembly in an area however often it occurs there; it remembers which fibres were active,
    for the readout. It keeps one adjective of a noun, and a clause behind an object gets the
    subject of the sentence.
    """
    betas = check_sizes(grammar, n, k, lex_k, p, beta, rounds)
    words, tasks = words_of(grammar, sentence), tasks_of(grammar, sentence)
    brain = brain_of(
        grammar,
        n=n,
        k=k,
        lex_k=lex_k,
        p=p,
        beta=betas,
        rounds=rounds_of(tasks, rounds),
    )
    script = script_of(grammar, brain, tasks)
    state, heard = hear(brain, brain.init(key), script, rounds)
    found = Readout(grammar, brain, state, tasks, heard).all()
    if not found and len(words) > 1:
        raise ValueError(
            f"parse: no dependency can be read from {n} neurons with k = {k} and p = {p}: a neuron "
            "needs several synapses from an assembly; ask for k * p of 5 or more"
        )
    dependencies, arcs = tuple(d for d, _ in found), tuple(a for _, a in found)
    return Parse(words, dependencies, arcs, grammar, brain, state)
