"""Corpora that are edited by a script: labels whose text survived are found again, and hardly one elsewhere.

What survived is known by marks: each character carries where it came from through the edits, so nothing is searched.
"""

import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.labels.alignment import Alignment, word_places
from rag_evaluation_framework.labels.relabelling import Carrier
from support.edited_corpus import (
    change_word,
    delete_section,
    edited,
    from_template,
    marked,
    place_now,
    survivors,
    unmarked,
    with_boilerplate,
)
from support.edited_tables import EDITS, cells_of, edited_table, table_of

SENTENCES = re.compile(r"[^.\n]+\.|[^\n]+")
PARAGRAPHS = re.compile(r"(?:[^\n]+\n?)+")
KINDS = {
    "handbook": (lambda _: load_handbook().corpus, 150),
    "boilerplate": (lambda seed: with_boilerplate(seed, 2 + seed % 13), 60),
    "templates": (lambda seed: from_template(seed, 2 + seed % 13), 60),
}


def labelled(corpus, seed, count):
    """Spans as people label them: sentences, lines, paragraphs, and some that begin and end at any word."""
    chance, spans = random.Random(seed), []
    while len(spans) < count:
        document = chance.choice(corpus.documents)
        units = [found.span() for form in (SENTENCES, PARAGRAPHS) for found in form.finditer(document.content)]
        start, end = chance.choice(units)
        if chance.random() < 0.2:
            words = [word.span() for word in re.finditer(r"\S+", document.content[start:end])]
            first = chance.randrange(len(words))
            last = chance.randrange(first, len(words))
            start, end = start + words[first][0], start + words[last][1]
        text = document.content[start:end].strip()
        start = document.content.index(text, start)
        if any(word_places(text)):  # one without a word cannot be followed
            spans.append(CharacterSpan(document.id, start, start + len(text), text))
    return spans


def outcome(kind, seed):
    """Return how many labels survived an edit, how many of these were found, and how many were found elsewhere."""
    make, count = KINDS[kind]
    corpus = make(seed)
    spans = labelled(corpus, seed, count)
    texts = edited(corpus, seed, random.Random(seed).randrange(1, 40))
    now, after = survivors(texts), unmarked(texts)
    carrier, left, found, elsewhere = Carrier(corpus, after), 0, 0, 0
    for span in spans:
        where = place_now(now, span.doc_id, span.start, span.end)
        result = carrier.carry(span).span
        left += where is not None
        if result is not None:
            is_there = (result.doc_id, result.start) == where
            found += is_there
            elsewhere += not is_there
            assert result.text.split() == span.text.split()
    return left, found, elsewhere


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("kind", "seeds", "share", "most"),
    [("handbook", 8, 0.985, 0), ("boilerplate", 16, 0.92, 3), ("templates", 16, 0.88, 8)],
)
def test_what_survived_is_found_and_hardly_anything_elsewhere(kind, seeds, share, most):
    """The script in benchmarks/ does the same with more seeds; of copies nobody can tell which one was labelled."""
    left, found, elsewhere = map(sum, zip(*(outcome(kind, seed) for seed in range(seeds)), strict=True))
    assert found >= share * left
    assert elsewhere <= most


@pytest.mark.parametrize("labels", [1, 40])
@pytest.mark.parametrize("seed", range(12))
def test_no_label_goes_to_an_archive_of_documents_that_were_edited(seed, labels):
    """Each page was copied, and then words of it changed and sections of it were deleted."""
    corpus = with_boilerplate(seed, 6) if seed % 2 else load_handbook().corpus
    chance, texts = random.Random(seed), marked(corpus)
    for _ in range(30):
        chance.choices((change_word, delete_section), (12, labels > 1))[0](texts, chance)
    now = survivors(texts)
    archive = [Document(DocumentId(f"archive/{document.id}"), document.content) for document in corpus]
    carrier = Carrier(corpus, Corpus([*unmarked(texts), *archive]))
    for span in labelled(corpus, seed, labels):
        result = carrier.carry(span).span
        assert result is None or (result.doc_id, result.start) == place_now(now, span.doc_id, span.start, span.end)


@pytest.mark.parametrize("edit", EDITS)
def test_cells_of_tables_stay_in_their_rows_and_columns(edit):
    chance, kept, found = random.Random(4), 0, 0
    for _ in range(30):
        rows = table_of(chance)
        now = edited_table(rows, edit, chance)
        (before, cells), (after, places) = cells_of(rows), cells_of(now)
        old, new = (Corpus([Document(DocumentId("t.md"), text)]) for text in (before, after))
        carrier = Carrier(old, new)
        for name, (start, end) in cells.items():
            same = name in places and before[start:end] == after[slice(*places[name])]
            result = carrier.carry(CharacterSpan(DocumentId("t.md"), start, end, before[start:end])).span
            assert result is None or (same and (result.start, result.end) == places[name])
            kept, found = kept + same, found + (result is not None)
    assert found >= 0.98 * kept


LINES = st.lists(
    st.sampled_from(["Alpha beta.", "Gamma delta epsilon zeta.", "Yes.", "Eta theta iota kappa."]), max_size=6
)


def corpus_of_texts(*texts):
    return Corpus(Document(DocumentId(f"{number}.md"), text) for number, text in enumerate(texts))


CORPORA = st.lists(LINES.map("\n".join), min_size=1, max_size=4).map(lambda texts: corpus_of_texts(*texts))


@given(CORPORA, CORPORA)
@example(
    corpus_of_texts("Alpha beta.\nGamma delta epsilon zeta.\nEta theta iota kappa.\nAlpha beta."),
    corpus_of_texts("Gamma delta epsilon zeta.\nEta theta iota kappa.", "Gamma delta epsilon zeta."),
)
def test_every_word_has_at_most_one_origin_and_is_the_same_word(before, after):
    """Whatever the two corpora are."""
    aligned = Alignment(before, after)
    taken = aligned.where[aligned.where >= 0]
    assert len({*taken.tolist()}) == len(taken)
    for word, there in enumerate(aligned.where.tolist()):
        if there >= 0:
            assert aligned.old.codes[word] == aligned.new.codes[there] >= 0
    for document in before:
        if document.id in after and after[document.id].content == document.content:
            first, last = aligned.old.bounds(document.id)
            assert (aligned.where[first:last] >= 0).all()
