"""The three evaluation types by brute force, with lists, sets and loops. Nothing here comes from the package.

A place is a tuple (document, start, end); texts are given as {document: text}. A ranking is a list of places, best
first. A unit of document level is the document, one of chunk level the text of the chunk, as equal texts are one chunk.
"""

from math import log2


def characters(places):
    return {(document, position) for document, start, end in places for position in range(start, end)}


def text_of(place, texts):
    document, start, end = place
    return texts[document][start:end]


# --- cutoffs ----------------------------------------------------------------------------------------------------------


def bought(ranking, budget, whole):
    """Return the places of which a budget in characters buys anything, and what it buys of each.

    That is all of it; of the last only a part, or nothing if only `whole` ones are bought.
    """
    left, taken = budget, []
    for document, start, end in ranking:
        if left == 0:
            break
        if end - start > left:
            if not whole:
                taken.append(((document, start, end), (document, start, start + left)))
            break
        if end > start:
            taken.append(((document, start, end), (document, start, end)))
        left -= end - start
    return taken


def cuts(ranking, ks, budgets):
    """Return, by the cutoff's name, what is left of a ranking, the part of each place that is read, and k if any."""
    found = {str(k): (ranking[:k], ranking[:k], k) for k in ks}
    for name in budgets:
        taken = bought(ranking, int(name.partition("ch")[0]), name.endswith("_whole"))
        found[name] = ([place for place, _ in taken], [part for _, part in taken], None)
    return found


# --- token level ------------------------------------------------------------------------------------------------------


def token_scores(places, truth, chunks):
    relevant, found = characters(truth), characters(places)
    shared = relevant & found
    raw = sum(end - start for _, start, end in places)
    recall = len(shared) / len(relevant)
    precision = len(shared) / len(found) if found else 0.0
    dcg, seen = 0.0, set()
    for rank, place in enumerate(places, start=1):
        new = characters([place]) - seen
        seen |= new
        dcg += len(new & relevant) / len(relevant) / log2(rank + 1)
    oracle = characters([chunk for chunk in chunks if characters([chunk]) & relevant])
    return {
        "span_recall": recall,
        "span_precision": precision,
        "span_iou": len(shared) / len(relevant | found),
        "span_f1": 2 * recall * precision / (recall + precision) if shared else 0.0,
        "span_hit": 1.0 if shared else 0.0,
        "span_dcg": dcg,
        "span_precision_raw": len(shared) / raw if raw else 0.0,
        "span_iou_raw": len(shared) / (raw + len(relevant - found)),
        "precision_omega": len(oracle & relevant) / len(oracle) if oracle else 0.0,
    }


# --- identities -------------------------------------------------------------------------------------------------------


def rank_scores(units, relevant, k):
    """Score the units of a ranking that was cut at `k` results, or at none of its own (None)."""
    depth = len(units) if k is None else k
    ideal = len(relevant) if k is None else min(k, len(relevant))
    ranking = []
    for unit in units[:depth]:
        if unit not in ranking:
            ranking.append(unit)
    found = [unit for unit in ranking if unit in relevant]
    mrr = average = gain = 0.0
    for rank, unit in enumerate(ranking, start=1):
        if unit in relevant:
            mrr = mrr or 1 / rank
            average += len([above for above in ranking[:rank] if above in relevant]) / rank
            gain += 1 / log2(rank + 1)
    best = sum(1 / log2(rank + 1) for rank in range(1, ideal + 1))
    return {
        "hit": 1.0 if found else 0.0,
        "recall": len(found) / len(relevant),
        "precision": len(found) / depth if depth else 0.0,
        "f1": 2 * len(found) / (len(relevant) + depth),
        "mrr": mrr,
        "map": average / len(relevant),
        "ndcg": gain / best if best else 0.0,
        "r_precision": len([unit for unit in ranking[: len(relevant)] if unit in relevant]) / len(relevant),
    }


def set_scores(units, relevant):
    retrieved = set(units)
    shared = len(retrieved & relevant)
    return {
        "chunk_recall": shared / len(relevant),
        "chunk_precision": shared / len(retrieved) if retrieved else 0.0,
        "chunk_f1": 2 * shared / (len(retrieved) + len(relevant)),
    }


def documents(truth):
    return {document for document, _, _ in truth}


def chunks_holding(span, chunks):
    """Return the chunks that are relevant to a span: none if no chunk touches it."""
    inside = characters([span])
    held = [(len(characters([chunk]) & inside), chunk) for chunk in chunks]
    halves = [
        chunk
        for shared, chunk in held
        if shared and (shared >= len(inside) / 2 or shared >= len(characters([chunk])) / 2)
    ]
    if halves:
        return halves
    most = max((shared for shared, _ in held), default=0)
    return [chunk for shared, chunk in held if shared == most][:1] if most else []


def relevant_texts(truth, chunks, texts):
    relevant = set()
    for span in truth:
        holding = chunks_holding(span, chunks)
        relevant |= {text_of(chunk, texts) for chunk in holding}
        if not holding:
            relevant.add(("never retrieved", *span))
    return relevant


# --- all three --------------------------------------------------------------------------------------------------------


def scores(ranking, truth, chunks, texts, ks, budgets):
    """Return every score of one question by level and then by name, as in `span_recall@5`; none without an answer."""
    levels = {"token-level": {}, "document-level": {}, "chunk-level": {}}
    if not truth:
        return levels
    right_documents, right_texts = documents(truth), relevant_texts(truth, chunks, texts)
    for cutoff, (places, parts, k) in cuts(ranking, ks, budgets).items():
        found = [document for document, _, _ in places]
        texts_found = [text_of(chunk, texts) for chunk in places]
        at = {
            "token-level": token_scores(parts, truth, chunks),
            "document-level": rank_scores(found, right_documents, k),
            "chunk-level": rank_scores(texts_found, right_texts, k) | set_scores(texts_found, right_texts),
        }
        for level, values in at.items():
            levels[level] |= {f"{name}@{cutoff}": value for name, value in values.items()}
    return levels
