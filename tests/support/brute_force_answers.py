"""Answers with alternative places by brute force: by sets of characters, in fractions. Nothing here is of the package.

A place is a list of parts (document, start, end); an answer is a list of places, the first being the reference; a
corpus is a dict of texts, from which it is read which places are copies of each other; without it, none is.
"""

from collections import defaultdict
from fractions import Fraction
from math import log2


def characters(place):
    return [(document, position) for document, start, end in place for position in range(start, end)]


def wordings(answer, corpus):
    """The places of an answer, those with the same texts together, in order."""
    groups = defaultdict(list)
    for number, place in enumerate(answer):
        groups[number if corpus is None else tuple(corpus[name][start:end] for name, start, end in place)].append(place)
    return list(groups.values())


class Truth:
    def __init__(self, answers, corpus=None):
        self.answers = answers
        self.wordings = [wordings(answer, corpus) for answer in answers]
        self.reference = {one for answer in answers for one in characters(answer[0])}
        self.any_place = {one for answer in answers for place in answer for one in characters(place)}
        self.originals = {one for groups in self.wordings for group in groups for one in characters(group[0])}
        self.echoes = defaultdict(set)
        for groups in self.wordings:
            for original, *copies in groups:
                for copy in copies:
                    for one, other in zip(characters(copy), characters(original), strict=True):
                        self.echoes[one].add(other)
        needed = defaultdict(set)
        for number, answer in enumerate(answers):
            for one in characters(answer[0]):
                needed[one].add(number)
        self.regions = defaultdict(set)
        for one, by in needed.items():
            self.regions[frozenset(by)].add(one)

    def said(self, read):
        return set(read).union(*(self.echoes[one] for one in read if one in self.echoes))

    @staticmethod
    def _share(place, said):
        return Fraction(len(said & {*characters(place)}), len(characters(place)))

    def credit(self, read):
        said = self.said(read)
        shares = [
            max((self._share(group[0], said) for group in groups[1:]), default=Fraction(0)) for groups in self.wordings
        ]
        return sum(
            max(Fraction(len(region & said)), len(region) * min(shares[number] for number in needing))
            for needing, region in self.regions.items()
        )


def scores(truth, ranking):
    """Every span metric of a ranking of (document, start, end)."""
    read, length, before, dcg = set(), 0, Fraction(0), 0.0
    for rank, (document, start, end) in enumerate(ranking, 1):
        read |= {*characters([(document, start, end)])}
        length += end - start
        credit = truth.credit(read)
        dcg, before = dcg + float(credit - before) / log2(rank + 1), credit
    whole, credit = len(truth.reference), before
    relevant = len(read & truth.any_place)
    once = min(relevant, len(truth.said(read) & truth.originals))
    surplus = (len(read) - relevant) * credit / relevant if relevant else Fraction(len(read))
    again = (length - once) * credit / once if once else Fraction(length)
    return {
        "span_recall": _ratio(credit, whole),
        "span_precision": _ratio(relevant, len(read)),
        "span_iou": _ratio(credit, whole + surplus),
        "span_f1": _ratio(2 * credit, whole + credit + surplus),
        "span_hit": float(relevant > 0),
        "span_dcg": dcg / whole,
        "span_precision_raw": _ratio(once, length),
        "span_iou_raw": _ratio(credit, whole + again),
    }


def u(truth, ranking, budget):
    """The mean of recall over all budgets up to this one, over the same of reading the reference places first."""
    trail = [one for document, start, end in ranking for one in characters([(document, start, end)])]
    read, credit, total = set(), Fraction(0), Fraction(0)
    for position in range(budget):
        if position < len(trail) and trail[position] not in read:
            read.add(trail[position])
            credit = truth.credit(read) if trail[position] in truth.any_place else credit
        total += credit
    first = min(len(truth.reference), budget)
    return min(1.0, float(total / (first * budget - Fraction(first * (first - 1), 2))))


def omega(truth, chunks):
    sets = [{*characters([chunk])} for chunk in chunks]

    def touching(place):
        return set().union(*(chunk for chunk in sets if chunk & {*characters(place)}))

    held = set()
    for answer in truth.answers:

        def rate(number, answer=answer):
            place, around = {*characters(answer[number])}, touching(answer[number])
            useful = Fraction(len(around & truth.any_place), len(around)) if around else 0
            return Fraction(len(place & around), len(place)), useful, -number

        held |= touching(answer[max(range(len(answer)), key=rate)])
    return _ratio(len(held & truth.any_place), len(held))


def cut(ranking, budget):
    """The first characters of a ranking, as many as the budget."""
    found, left = [], budget
    for document, start, end in ranking:
        if left > 0:
            found.append((document, start, min(end, start + left)))
        left -= end - start
    return found


def world(chance, copies=True, alternatives=3, size=60):
    """A small corpus, answers of up to three places, of one or two parts, that may overlap, and a ranking."""
    corpus = {name: "".join(chance.choice("abcdefgh") for _ in range(size)) for name in ("d0", "d1", "d2", "d3")}
    answers = [answer for _ in range(chance.randint(1, 3)) if (answer := _answer(chance, corpus, copies, alternatives))]
    ranking = []
    for _ in range(chance.randint(0, 7)):
        start = chance.randint(0, size - 2)
        ranking.append((chance.choice([*corpus]), start, min(size, start + chance.randint(1, 25))))
    return corpus, answers, ranking


def _answer(chance, corpus, copies, alternatives):
    parts = chance.choice([1, 1, 2])
    first = _place(chance, corpus, parts)
    if first is None:
        return None
    places = [first]
    for _ in range(chance.randint(0, alternatives)):
        place = _copy(chance, corpus, first) if copies and chance.random() < 0.5 else _place(chance, corpus, parts)
        places += [place] if place else []
    return places


def _place(chance, corpus, parts):
    name, at, found = chance.choice([*corpus]), 0, []
    size = len(corpus[name])
    for _ in range(parts):
        length = chance.randint(2, 12)
        at = chance.randint(at, max(at, size - length * parts - 2))
        if at >= size:
            return None
        found.append((name, at, min(size, at + length)))
        at = found[-1][2]
    return found


def _copy(chance, corpus, place):
    """Write the text of a place into another document, at most three characters farther ahead or behind."""
    other, shift = chance.choice([name for name in corpus if name != place[0][0]]), chance.randint(-3, 3)
    found = [(other, start + shift, end + shift) for _, start, end in place]
    text = list(corpus[other])
    if found[0][1] < 0 or found[-1][2] > len(text):
        return None
    for (name, start, end), (_, first, last) in zip(place, found, strict=True):
        text[first:last] = corpus[name][start:end]
    corpus[other] = "".join(text)
    return found


def _ratio(above, below):
    return float(Fraction(above) / Fraction(below)) if below else 0.0


def unit_ranks(answers, ranking):
    """The rank at which each unit of the first places is accounted for, and the units of all places.

    Answers are lists of places, these are sets of units; a ranking has each unit once, ranks begin at 1.
    """
    at = {unit: rank for rank, unit in enumerate(ranking, start=1)}
    never = float("inf")
    complete = [[max(at.get(unit, never) for unit in place) for place in answer] for answer in answers]
    units = {unit for answer in answers for unit in answer[0]}
    ranks = {}
    for unit in units:
        others = [
            min(ends[1:], default=never) for answer, ends in zip(answers, complete, strict=True) if unit in answer[0]
        ]
        ranks[unit] = min(at.get(unit, never), max(others))
    return ranks, {unit for answer in answers for place in answer for unit in place}


def id_scores(answers, results, k=None, gains=None):
    """Every metric of ids; `results` may repeat a unit, and k, if there is one, counts them with their repeats."""
    top = results if k is None else results[:k]
    ranking = list(dict.fromkeys(top))
    ranks, useful = unit_ranks(answers, ranking)
    gains = dict.fromkeys(ranks, 1.0) | (gains or {})
    places = len(top) if k is None else k
    found = [rank for rank, unit in enumerate(ranking, start=1) if unit in useful]
    credited = {unit: rank for unit, rank in ranks.items() if rank <= len(ranking)}
    recall, precision = Fraction(len(credited), len(ranks)), Fraction(len(found), places) if places else Fraction(0)
    weight = Fraction(len(credited), len(found)) if found else Fraction(1)
    best = sorted((gains[unit] for unit in ranks), reverse=True)[:k]
    ideal = sum(gain / log2(rank + 1) for rank, gain in enumerate(best, start=1))
    gained = sum(gains[unit] / log2(rank + 1) for unit, rank in credited.items())
    return {
        "hit": float(bool(found)),
        "recall": float(recall),
        "precision": float(precision),
        "f1": _ratio(2 * len(credited), len(ranks) + places * weight),
        "mrr": 1 / found[0] if found else 0.0,
        "map": float(sum(Fraction(sum(one <= rank for one in found), rank) for rank in credited.values()) / len(ranks)),
        "ndcg": min(1.0, gained / ideal),
        "r_precision": sum(rank <= len(ranks) for rank in credited.values()) / len(ranks),
        "chunk_recall": float(recall),
        "chunk_precision": _ratio(len(found), len(ranking)),
        "chunk_f1": _ratio(2 * len(credited), len(ranks) + len(ranking) * weight),
    }


def world_of_ids(chance, units=8, alternatives=2):
    """Answers of up to three places, of one or two units, that may overlap; and results, some of them repeated."""
    names = [f"u{number}" for number in range(units)]

    def place():
        return set(chance.sample(names, chance.choice([1, 1, 2])))

    answers = [[place() for _ in range(1 + chance.randint(0, alternatives))] for _ in range(chance.randint(1, 3))]
    results = chance.sample(names, chance.randint(0, units))
    if results and chance.random() < 0.3:
        results.insert(chance.randint(1, len(results)), chance.choice(results))
    return answers, results
