"""What becomes of labels in corpora that are edited by a script: survived, found of these, found elsewhere.

    python benchmarks/edited_corpora.py [--edits handbook=40 boilerplate=40 templates=40] [--first 1000]

The edits are those of `tests/labels/test_edited_corpora.py`, with other seeds: paragraphs are moved, words changed,
sections deleted, files renamed, and pages of one template exchange their names. Each character carries where it came
from, so nothing is searched. Labels without a word are not drawn. CPU seconds are those of alignment and carrying.
"""

import argparse
import sys
from pathlib import Path
from time import process_time

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this folder has a labels.py, too

from tests.labels.test_edited_corpora import outcome


def main() -> None:
    """Print what became of the labels of each kind of corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", nargs="+", default=["handbook=40", "boilerplate=40", "templates=40"])
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    options = parser.parse_args()
    print("corpora       edits  survived   found  share  elsewhere  CPU s")
    for edits in options.edits:
        kind, _, times = edits.partition("=")
        began = process_time()
        totals: tuple[int, ...] = (0, 0, 0)
        for seed in tqdm(range(options.first, options.first + int(times)), desc=kind, disable=None, leave=False):
            totals = tuple(map(sum, zip(totals, outcome(kind, seed), strict=True)))
        left, found, elsewhere = totals
        spent = process_time() - began
        print(
            f"{kind:12} {times:>6} {left:>9} {found:>7} {found / left:>6.3f} {elsewhere:>10} {spent:>6.1f}", flush=True
        )


if __name__ == "__main__":
    main()
