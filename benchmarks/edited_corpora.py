"""What becomes of labels in corpora that are edited by a script: found, found elsewhere, lost that had to be found.

    python benchmarks/edited_corpora.py [--edits handbook=40 boilerplate=200 templates=150] [--first 100]

The edits are those of `tests/labelling/test_reanchor_edits.py`, with other seeds: paragraphs are moved, words changed,
sections deleted, files renamed, and pages of one template exchange their names. Each character carries where it came
from, so nothing is searched. "of unique texts" counts labels found elsewhere whose texts stood nowhere else.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from labelling.test_reanchor_edits import labelled, of_unique_texts, wrong_and_missing
from rag_evaluation_framework.demo import load_handbook
from support.edited_corpus import from_template, with_boilerplate

KINDS: dict[str, tuple[Callable[[int], Any], int]] = {
    "handbook": (lambda _: load_handbook().corpus, 150),
    "boilerplate": (lambda seed: with_boilerplate(seed, 2 + seed % 13), 60),
    "templates": (lambda seed: from_template(seed, 2 + seed % 13), 60),
}


def main() -> None:
    """Print what became of the labels of each kind of corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", nargs="+", default=["handbook=40", "boilerplate=200", "templates=150"])
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    options = parser.parse_args()
    print("corpora       edits  labels   found  elsewhere  of unique texts   lost")
    for edits in options.edits:
        kind, _, times = edits.partition("=")
        print(f"{kind:12} {times:>6} {measured(kind, options.first, int(times))}", flush=True)


def measured(kind: str, first: int, times: int) -> str:
    """Return what became of the labels of so many edited corpora of a kind, as a row."""
    make, count = KINDS[kind]
    labels = found = elsewhere = of_unique = lost = 0
    for seed in tqdm(range(first, first + times), desc=kind, disable=None, leave=False):
        corpus = make(seed)
        spans = labelled(corpus, seed, count)
        wrong, missing, stands = wrong_and_missing(corpus, seed, spans)
        labels, found, lost = labels + len(spans), found + stands, lost + len(missing)
        elsewhere, of_unique = elsewhere + len(wrong), of_unique + len(of_unique_texts(wrong))
    return f"{labels:>7} {found:>7} {elsewhere:>10} {of_unique:>16} {lost:>6}"


if __name__ == "__main__":
    main()
