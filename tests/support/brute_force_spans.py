"""Every span metric by brute force: by counting characters. Nothing here comes from the package.

A passage, retrieved or relevant, is the list of the characters it covers, each a pair (document, position).
"""

import re
from fractions import Fraction
from math import log2


def characters(document, start, end):
    return [(document, position) for position in range(start, end)]


def union(passages):
    return {character for passage in passages for character in passage}


def raw_length(passages):
    return sum(len(passage) for passage in passages)


def recall(retrieved, truth):
    relevant = union(truth)
    return len(union(retrieved) & relevant) / len(relevant) if relevant else 0.0


def precision(retrieved, truth):
    found = union(retrieved)
    return len(found & union(truth)) / len(found) if found else 0.0


def iou(retrieved, truth):
    either = union(retrieved) | union(truth)
    return len(union(retrieved) & union(truth)) / len(either) if either else 1.0


def f1(retrieved, truth):
    r, p = recall(retrieved, truth), precision(retrieved, truth)
    return 2 * r * p / (r + p) if r + p else 0.0


def hit(retrieved, truth):
    return 1.0 if union(retrieved) & union(truth) else 0.0


def precision_raw(retrieved, truth):
    return len(union(retrieved) & union(truth)) / raw_length(retrieved) if raw_length(retrieved) else 0.0


def iou_raw(retrieved, truth):
    shared = union(retrieved) & union(truth)
    below = raw_length(retrieved) + len(union(truth) - shared)
    return len(shared) / below if below else 1.0


def dcg(retrieved, truth):
    relevant, seen, total = union(truth), set(), 0.0
    for rank, passage in enumerate(retrieved, start=1):
        new = set(passage) - seen
        seen |= new
        if relevant:
            total += len(new & relevant) / len(relevant) / log2(rank + 1)
    return total


def u(retrieved, truth, budget):
    """The mean of recall over all budgets up to this one, over the same of reading the truth first."""
    relevant = union(truth)
    ideal = _recall_at_all_budgets(sorted(relevant), relevant, budget)
    trail = [character for passage in retrieved for character in passage]
    return float(_recall_at_all_budgets(trail, relevant, budget) / ideal) if relevant else 0.0


def _recall_at_all_budgets(trail, relevant, budget):
    found = (len(set(trail[:size]) & relevant) for size in range(1, budget + 1))
    return Fraction(sum(found), max(len(relevant), 1) * budget)


METRICS = {
    "span_recall": recall,
    "span_precision": precision,
    "span_iou": iou,
    "span_f1": f1,
    "span_hit": hit,
    "span_precision_raw": precision_raw,
    "span_iou_raw": iou_raw,
    "span_dcg": dcg,
}


def words(text):
    """Cut a text into words, each with the blanks behind it and the first also with those before it."""
    return re.findall(r"^\s*\S+\s*|\S+\s*", text)


def spend(ranking, budget, tokens, whole):
    """Return the passages that a budget buys, from the top, the last one cut or, if `whole`, left out.

    A result of the ranking is a pair of its text and the passage; `tokens` cuts a text into what costs 1 each.
    """
    bought = []
    for text, passage in ranking:
        if budget == 0:
            break
        price = tokens(text)
        if not price:
            continue
        if len(price) > budget:
            if not whole:
                bought.append(passage[: len("".join(price[:budget]))])
            break
        bought.append(passage)
        budget -= len(price)
    return bought
