"""What it costs to carry labels through edits: CPU seconds of alignment and carrying, and peak memory.

    python benchmarks/labels.py [--documents 2000] [--labels 5000] [--changed 0.1]

Documents of 3 kB, and one of 2 MB, are made of random words of a vocabulary of 20,000; a tenth of the words is then
changed. Beside it, an unchanged corpus: carrying costs what hashing its texts does.
"""

import argparse
import random
import resource
from hashlib import sha256
from time import process_time

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.labels import relabel

_WORDS = [
    f"{first}{second}{third}" for first in "bdfgklmnprst" for second in ("a", "e", "io", "u") for third in range(417)
]
_LINE = 12  # words


def written(words: list[str]) -> str:
    """Return words in lines of twelve."""
    return "\n".join(" ".join(words[at : at + _LINE]) for at in range(0, len(words), _LINE))


def made(documents: int, labels: int, changed: float) -> tuple[Dataset[CharacterSpan], Corpus, Corpus]:
    """Return a dataset in a corpus, the same corpus read again, and the corpus after the edits."""
    chance = random.Random(0)
    mean = sum(map(len, _WORDS)) / len(_WORDS) + 1
    sizes = [3_000] * documents + [2_000_000]
    texts = [chance.choices(_WORDS, k=int(size / mean)) for size in sizes]
    edited = [[chance.choice(_WORDS) if chance.random() < changed else word for word in words] for words in texts]

    def corpus(all_words: list[list[str]]) -> Corpus:
        return Corpus(Document(DocumentId(f"{number}.txt"), written(words)) for number, words in enumerate(all_words))

    before = corpus(texts)
    entries = []
    for number in range(labels):
        document = before.documents[-1 if number % 10 == 0 else chance.randrange(documents)]
        start = document.content.index(" ", chance.randrange(len(document.content) - 200)) + 1
        end = document.content.rindex(" ", start, start + 60)
        span = CharacterSpan(document.id, start, end, document.content[start:end])
        query = Query(QueryId(f"q{number}"), QueryText(f"What is number {number}?"))
        entries.append(TokenLevelGroundTruth(query, (span,)))
    return Dataset(entries, TOKEN, corpus=before), corpus(texts), corpus(edited)


def main() -> None:
    """Carry the labels, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--labels", type=int, default=5000)
    parser.add_argument("--changed", type=float, default=0.1, help="the share of words that are changed")
    options = parser.parse_args()
    dataset, same, edited = made(options.documents, options.labels, options.changed)
    began = process_time()
    for document in same:
        sha256(document.content.encode()).digest()
    hashed = process_time()
    unchanged = relabel(dataset, same)
    carried = process_time()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{'corpus':10} {'CPU s':>6} {'peak MB':>8}  labels")
    print(f"{'hashing':10} {hashed - began:>6.2f}")
    print(f"{'unchanged':10} {carried - hashed:>6.2f} {held / 1024:>8.0f}  {unchanged.counted()}", flush=True)
    began = process_time()
    found = relabel(dataset, edited)
    spent, peak = process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{'edited':10} {spent:>6.2f} {peak / 1024:>8.0f}  {found.counted()}")


if __name__ == "__main__":
    main()
