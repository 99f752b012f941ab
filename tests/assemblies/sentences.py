"""Sentences with their dependencies, from the tree that a sentence is made of.

It imports nothing of the package. A tree is written down from what English and Russian mean, as
arcs between places of words; the words come out in the order in which they are said.
"""

import dataclasses

import numpy as np

NOUNS = ("dogs", "cats", "mice", "people", "man", "woman", "wolf")
PLACES = ("houses", "gardens", "cities")
DETERMINERS = ("the", "a")
ADJECTIVES = ("big", "bad", "old", "small", "happy")
TRANSITIVE = ("chase", "love", "bite", "see")
INTRANSITIVE = ("run", "fly", "sleep")
ADVERBS = ("quickly", "slowly", "often")
PREPOSITIONS = ("of", "in", "with")


@dataclasses.dataclass
class Said:
    """Words so far, and arcs (head, dependent, relation) between their places."""

    words: list
    arcs: list

    def say(self, word):
        self.words.append(word)
        return len(self.words) - 1

    def link(self, head, dependent, relation):
        self.arcs.append((head, dependent, relation))

    @property
    def text(self):
        return " ".join(self.words)

    @property
    def dependencies(self):
        """Arcs with words, sorted."""
        return sorted((self.words[h], self.words[d], r) for h, d, r in self.arcs)


class English:
    """Draws sentences: `features` are counted, so that a test knows what it has seen."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.features = {}

    def one(self, words):
        return words[self.rng.integers(len(words))]

    def chance(self, p, feature):
        yes = self.rng.random() < p
        if yes:
            self.features[feature] = self.features.get(feature, 0) + 1
        return yes

    def noun_phrase(self, said, nouns=NOUNS):
        """[determiner] adjectives* noun: the place of the noun."""
        before = []
        if self.chance(0.5, "determiner"):
            before.append((said.say(self.one(DETERMINERS)), "DET"))
        count = int(self.rng.choice(4, p=(0.5, 0.2, 0.2, 0.1)))
        if count > 1:
            self.features["several adjectives"] = self.features.get("several adjectives", 0) + 1
        for word in self.rng.permutation(ADJECTIVES)[:count]:
            before.append((said.say(str(word)), "ADJ"))
        noun = said.say(self.one(nouns))
        for place, relation in before:
            said.link(noun, place, relation)
        return noun

    def phrase(self, said, head, depth=0):
        """A prepositional phrase of a head, and perhaps one of its noun."""
        preposition = said.say(self.one(PREPOSITIONS))
        noun = self.noun_phrase(said, PLACES)
        said.link(noun, preposition, "PREP")
        said.link(head, noun, "PREP_P")
        if depth == 0 and self.chance(0.2, "phrase in a phrase"):
            self.phrase(said, noun, 1)

    def verb_phrase(self, said, gap=None, clause=None):
        """[adverb] verb [object or predicate] [adverb] [phrase]: the place of the verb.

        `gap`: the noun that is the object, which is therefore not said. `clause`: the chance that
        the object has a clause.
        """
        kinds = ("transitive", "intransitive", "copula")
        kind = "transitive" if gap is not None else self.one(kinds)
        self.features[kind] = self.features.get(kind, 0) + 1
        adverb = said.say(self.one(ADVERBS)) if self.chance(0.2, "adverb before") else None
        words = {"transitive": TRANSITIVE, "intransitive": INTRANSITIVE, "copula": ("are", "is")}
        verb = said.say(self.one(words[kind]))
        if adverb is not None:
            said.link(verb, adverb, "ADVERB")
        last, ended = verb, False
        if gap is not None:
            said.link(verb, gap, "OBJ")
        elif kind == "transitive" or (kind == "copula" and self.chance(0.5, "noun predicate")):
            last = self.noun_phrase(said)
            said.link(verb, last, "OBJ")
            if clause and self.chance(clause, "clause of the object"):
                self.clause(said, last, inner=True)
                ended = True
        elif kind == "copula":
            count = int(self.rng.integers(1, 3))
            for word in self.rng.permutation(ADJECTIVES)[:count]:
                said.link(verb, said.say(str(word)), "ADJ")
        if ended:
            return verb
        if kind != "copula" and self.chance(0.2, "adverb after"):
            said.link(verb, said.say(self.one(ADVERBS)), "ADVERB")
        if self.chance(0.2, "phrase after"):
            self.phrase(said, last)
        return verb

    def clause(self, said, noun, inner=False):
        """ "that" and what is said of a noun, which is subject or object of the clause."""
        said.say("that")
        if self.chance(0.5, "clause with a subject"):
            subject = self.noun_phrase(said)
            verb = self.verb_phrase(said, gap=noun)
            said.link(verb, subject, "SUBJ")
        else:
            verb = self.verb_phrase(said)
            said.link(verb, noun, "SUBJ")
        said.link(noun, verb, "DEP_CLAUSE")
        return inner

    def sentence(self):
        """A sentence with its arcs."""
        said = Said([], [])
        subject = self.noun_phrase(said)
        if self.chance(0.2, "phrase of the subject"):
            self.phrase(said, subject)
        if self.chance(0.3, "clause of the subject"):
            self.clause(said, subject)
            said.say(",")  # so that an adverb that follows is of the verb that follows
        verb = self.verb_phrase(said, clause=0.3)
        said.link(verb, subject, "SUBJ")
        return said


RUSSIAN_NOUNS = {
    "kot": {"NOM": "kot", "ACC": "kota", "DAT": "kotu", "INS": "kotom"},
    "sobaka": {
        **{"NOM": "sobaka", "ACC": "sobaku", "DAT": "sobake"},
        **{"INS": "sobakoy", "GEN": "sobaki"},
    },
    "mama": {"NOM": "mama", "ACC": "mamu", "DAT": "mame", "INS": "mamoy", "GEN": "mamy"},
    "kniga": {"NOM": "kniga", "ACC": "knigu", "DAT": "knige", "INS": "knigoy", "GEN": "knigi"},
}
RUSSIAN_VERBS = ("vidit", "lyubit", "dayet", "pishet")


class Russian:
    """Draws sentences in any order; dependencies have the nominatives of nouns."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.orders = set()

    def sentence(self):
        """A text, and its dependencies, sorted."""
        verb = RUSSIAN_VERBS[self.rng.integers(len(RUSSIAN_VERBS))]
        cases = ["NOM", *(c for c in ("ACC", "DAT", "INS") if self.rng.random() < 0.6)]
        parts, found = [[verb]], []
        order = ["VERB"]
        for case in cases:
            lemma = str(self.rng.choice(list(RUSSIAN_NOUNS)))
            words = [RUSSIAN_NOUNS[lemma][case]]
            found.append((verb, lemma, case))
            while self.rng.random() < 0.25 and len(words) < 3:
                owners = [x for x in RUSSIAN_NOUNS if "GEN" in RUSSIAN_NOUNS[x]]
                owner = str(self.rng.choice(owners))
                words.append(RUSSIAN_NOUNS[owner]["GEN"])
                found.append((lemma, owner, "GEN"))
                lemma = owner
            parts.append(words)
            order.append(case)
        shuffled = self.rng.permutation(len(parts))
        self.orders.add(tuple(order[i] for i in shuffled))
        return " ".join(word for i in shuffled for word in parts[i]), sorted(found)
