"""Corpora whose markup and typography are edited by a script: what is shown as it was is found, and nothing else."""

import random
import re

import pytest

from rag_evaluation_framework import CharacterSpan
from rag_evaluation_framework.labels.alignment import word_places
from rag_evaluation_framework.labels.relabelling import Carrier
from support.edited_corpus import delete_file, delete_section, marked, move_paragraph, move_section, rename, unmarked
from support.markup_edits import MARKUP, MARKUP_EDITS, NEAR_MISSES, marked_up

MOVES = (move_paragraph, delete_section, move_section, rename, delete_file)


def labelled(corpus, seed, count):
    """Spans as people label them: some words, lines, and paragraphs; none ends within the address of a link."""
    chance, spans = random.Random(seed), []
    for _ in range(count):
        document = chance.choice(corpus.documents)
        units = [
            found.span() for form in (r"[^\n]+", r"(?:[^\n]+\n?)+") for found in re.finditer(form, document.content)
        ]
        start, end = chance.choice(units)
        words = [word.span() for word in re.finditer(r"(?:< )?\S+", document.content[start:end])]
        first, last = 0, len(words) - 1
        if chance.random() < 0.5:
            first = chance.randrange(len(words))
            last = chance.randrange(first, len(words))
        start, end = start + words[first][0], start + words[last][1]
        spans.append(CharacterSpan(document.id, start, end, document.content[start:end]))
    return spans


def edited(corpus, seed, times):
    """Return the marked texts of a corpus after so many edits, and the characters that are gone as markup."""
    chance, texts, dropped = random.Random(seed), marked(corpus), set()
    for _ in range(times):
        kind = chance.random()
        if kind < 0.15:
            chance.choices(MOVES, (6, 2, 2, 2, 1))[0](texts, chance)
        else:
            edits = MARKUP_EDITS if kind < 0.75 else NEAR_MISSES
            chance.choice(edits)(texts[chance.choice(sorted(texts))], dropped, chance)
    return texts, dropped


def survived(texts):
    return {
        mark.origin: (name, place)
        for name, marks in texts.items()
        for place, mark in enumerate(marks)
        if mark.origin not in (None, MARKUP)
    }


def place_as_shown(texts, now, dropped, doc_id, start, end):
    """Return document, first and last character of a span of which all that is shown survived side by side."""
    origins = [(doc_id, offset) for offset in range(start, end) if (doc_id, offset) not in dropped]
    places = [now.get(origin) for origin in origins]
    if not places or None in places or len({name for name, _ in places}) > 1:
        return None
    name, first, last = places[0][0], places[0][1], places[-1][1]
    there = [mark.origin for mark in texts[name][first : last + 1] if mark.origin != MARKUP]
    return (name, first, last + 1) if there == origins else None


def letters(marks):
    """Return where the letters and digits came from, and what is written between them that no renderer hides."""
    return [mark.origin for mark in marks if mark.sign.isalnum() and mark.origin != MARKUP]


def outcomes(seed, boilerplate=False, documents=4, spans=60):
    """Return how many labels with a word survived, how many of these were found, and those found where they are not."""
    corpus = marked_up(seed, documents, boilerplate)
    times = random.Random(seed).randrange(5, 60)
    labels = labelled(corpus, seed, spans)
    texts, dropped = edited(corpus, seed, times)
    now, after = survived(texts), unmarked(texts)
    carrier, left, found, wrong = Carrier(corpus, after), 0, 0, []
    for label in labels:
        if not any(word_places(label.text)):
            continue
        where = place_as_shown(texts, now, dropped, label.doc_id, label.start, label.end)
        result = carrier.carry(label)
        left += where is not None
        if result.span is None:
            continue
        found += 1
        expected = where and letters(texts[where[0]][where[1] : where[2]])
        if expected != letters(texts[result.span.doc_id][result.span.start : result.span.end]):
            wrong.append((result, where))
    return left, found, wrong


@pytest.mark.no_cover
@pytest.mark.parametrize("boilerplate", [False, True])
@pytest.mark.parametrize("first", [0, 8, 16])
def test_what_is_shown_as_it_was_is_found_and_nothing_else(first, boilerplate):
    survivors = places = 0
    for seed in range(first, first + 8):
        left, found, wrong = outcomes(seed, boilerplate)
        assert wrong == [], seed
        survivors, places = survivors + left, places + found
    assert places >= (0.97 if boilerplate else 0.99) * survivors
