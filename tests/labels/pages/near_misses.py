"""Quotes changed by one thing that matters: a locator that accepts one of them would label what is not there."""

import random
import re

from tests.labels.pages.folding import letters

NEGATE = re.compile(r"\b(is|are|can|must|should|will|does|may|was|has)\b(?! not)(?= [a-z])")
COMPARED = re.compile(r"(?<![-=<>!~|&])(<=|>=|==|!=|<|>|≤|≥)(?![-=<>/!])")
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<", "==": "!=", "!=": "==", "≤": "≥", "≥": "≤"}


def _replaced(quote, match, new):
    return quote[: match.start()] + new + quote[match.end() :]


def _pick(pattern, quote, rng):
    found = list(re.finditer(pattern, quote))
    return rng.choice(found) if found else None


def word(quote, rng, others, rows):
    match = _pick(r"(?<![\w-])[A-Za-z]{4,}(?![\w-])", quote, rng)
    if match is None:
        return None
    return _replaced(quote, match, rng.choice([w for w in others if w.casefold() != match[0].casefold()]))


def word_left_out(quote, rng, others, rows):
    match = _pick(r"(?<=\w )[A-Za-z]{3,} (?=\w)", quote, rng)
    return match and _replaced(quote, match, "")


def digit(quote, rng, others, rows):
    match = _pick(r"(?<!\n)(?<=.)\d(?![.)]\s)", quote, rng)
    return match and _replaced(quote, match, rng.choice([d for d in "0123456789" if d != match[0]]))


def sign(quote, rng, others, rows):
    match = _pick(r"(?<=[ (\[])(--?|\+)(?=\w)", quote, rng)
    return match and _replaced(quote, match, {"--": "-", "-": "--", "+": "-"}[match[0]])


def sign_gone(quote, rng, others, rows):
    match = _pick(r"(?<=[ (=])[-+](?=\d)", quote, rng)
    return match and _replaced(quote, match, "")


def comparison(quote, rng, others, rows):
    match = _pick(COMPARED, quote, rng)
    return match and _replaced(quote, match, TURNED[match[0]])


def decimal(quote, rng, others, rows):
    match = _pick(r"(?<=\d)[.,](?=\d)", quote, rng)
    return match and _replaced(quote, match, rng.choice(["", "," if match[0] == "." else "."]))


def negation(quote, rng, others, rows):
    match = _pick(r"\b(?:not|never|no) (?=[a-z])|n['’]t\b", quote, rng)
    if match:
        return _replaced(quote, match, "")
    match = _pick(NEGATE, quote, rng)
    return match and _replaced(quote, match, match[0] + " not")


def order(quote, rng, others, rows):
    if " … " in quote:
        first, second = quote.split(" … ", 1)
        return f"{second} … {first}"
    match = _pick(r"(?<![\w-])([A-Za-z]{2,}) ([A-Za-z]{2,})(?![\w-])", quote, rng)
    return match and _replaced(quote, match, f"{match[2]} {match[1]}")


def row(quote, rng, others, rows):
    if "\t" not in quote or "\n" in quote:
        return None
    *cells, last = quote.split("\t")
    ends = [other.split("\t")[-1] for other in rows if other.count("\t") == len(cells)]
    ends = [end for end in ends if letters(end) != letters(last) and letters(end)]
    return "\t".join([*cells, rng.choice(ends)]) if ends and letters("".join(cells)) else None


RARE = (comparison, decimal, sign_gone, sign, row, digit)
COMMON = (word, word_left_out, negation, order)


def near_miss(quote: str, rng: random.Random, others: list[str], rows: list[str]) -> tuple[str, str] | None:
    """A near miss of the quote and the name of its change; what is rare is tried first in two of three."""
    ways = list(rng.sample(COMMON, len(COMMON)))
    rare = list(rng.sample(RARE, len(RARE)))
    for way in rare + ways if rng.random() < 0.67 else ways + rare:
        changed = way(quote, rng, others, rows)
        if changed and changed != quote:
            return changed, way.__name__.replace("_", " ")
    return None
