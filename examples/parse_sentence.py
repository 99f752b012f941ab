# %% [markdown]
# A brain of assemblies that parses sentences (Mitropolsky, Collins and Papadimitriou 2021,
# doi:10.1162/tacl_a_00432). Each word fires its neurons in a lexicon and opens and closes areas and
# fibres; assemblies form and are linked. What depends on what is then read from the synapses. Run
# it: `python examples/parse_sentence.py [--sentence "dogs run"] [--out parse_sentence.png]`

# %%
import argparse

import matplotlib

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")

ENGLISH = jn.assemblies.parser.english.grammar()
SENTENCE = "the big bad wolf that chases mice, often sees the cats in gardens"


# %% Words that the grammar does not have yet
def grammar() -> jn.assemblies.parser.Grammar:
    return ENGLISH.with_words(jn.assemblies.parser.english.transitive("sees"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentence", default=SENTENCE)
    parser.add_argument("--neurons", type=int, default=10_000, help="in each area")
    parser.add_argument("--key", type=int, default=1, help="the seed of the synapses")
    parser.add_argument("--out", default="parse_sentence.png", help="the figure")
    args = parser.parse_args()

    # %% Hear the sentence, and read who depends on whom
    k = max(args.neurons // 100, 50)
    parse = jn.assemblies.parser.parse(grammar(), args.sentence, key=args.key, n=args.neurons, k=k)
    print(parse)
    areas = parse.brain.area_names
    sizes = {x: int(parse.brain.support(parse.state, x)) for x in areas}
    print("neurons that fired:", ", ".join(f"{x} {n}" for x, n in sizes.items() if n))
    jn.plot.parse_tree(parse).savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
