"""Where text was lost, by brute force: sets of characters, one step after the other. Nothing here is of the package.

Places, answers and rankings are those of `brute_force_answers`, which says what a set of characters is worth.
"""

from itertools import combinations, permutations

from support.brute_force_answers import Truth, characters, cut

CAUSES = (
    "not_in_corpus",
    "in_no_chunk",
    "not_retrieved",
    "not_a_candidate",
    "beyond_cutoff",
    "dropped_by_reranker",
    "not_placed",
)


def losses(answers, corpus, chunks, deep, candidates, given, read):
    """What each cause lost of the whole, and recall; rankings are lists of (document, start, end).

    `candidates` are those of the reranker or, without one, all of `deep`; `given` is what would be read of them in
    their first order.
    """
    truth = Truth(answers, corpus)
    own = [
        {(name, at) for name, text in corpus.items() for at in range(len(text))},
        {*characters(chunks)},
        {*characters(deep)},
        {*characters(candidates)},
        {*characters(given)},
        set(),
        {*characters(read)},
    ]
    steps = [set().union(*own[number:]) for number in range(len(own))]
    worth = [len(truth.reference), *map(truth.credit, steps)]
    whole = len(truth.reference)
    lost = {cause: float((worth[at] - worth[at + 1]) / whole) for at, cause in enumerate(CAUSES)}
    lost["not_asked_for"] = 0.0  # of every question a deep ranking is known
    return lost, float(worth[-1] / whole)


def best(answers, corpus, results, k):
    """The best recall of k of these results, by trying all."""
    truth = Truth(answers, corpus)
    some = combinations(results, min(k, len(results)))
    return max((float(truth.credit({*characters(chosen)}) / len(truth.reference)) for chosen in some), default=0.0)


def best_order(answers, corpus, results, budget):
    """The best recall of these results within a budget of characters, by trying all orders."""
    truth = Truth(answers, corpus)
    read = (cut(list(order), budget) for order in permutations(results))
    return max((float(truth.credit({*characters(some)}) / len(truth.reference)) for some in read), default=0.0)
