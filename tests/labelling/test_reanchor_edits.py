"""Corpora that are edited by a script: every span whose text survived is found again, and no other.

What survived is known by marks: each character carries where it came from through the edits, so nothing is searched.
"""

import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.data.label_contexts import CONTEXT, UNIQUE_TEXTS, WITH_SIBLINGS
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.labelling.anchors import anchors_of, known_documents
from rag_evaluation_framework.labelling.reanchor import reanchor
from rag_evaluation_framework.labelling.telling import tells
from support import plain_search
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

SENTENCES = re.compile(r"[^.\n]+\.|[^\n]+")
PARAGRAPHS = re.compile(r"(?:[^\n]+\n?)+")


def labelled(corpus, seed, count):
    """Spans as people label them: sentences, lines, paragraphs, and some that begin and end at any word."""
    chance, spans = random.Random(seed), []
    for _ in range(count):
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
        spans.append(CharacterSpan(document.id, start, start + len(text), text))
    return spans


def context_survived(anchor, now, where, sides):
    """Whether so many of the contexts of a span survived beside it, each long enough to tell."""
    end, (name, first) = anchor.start + len(anchor.text), where
    before = place_now(now, anchor.doc_id, anchor.start - len(anchor.before), anchor.start) if anchor.before else None
    after = place_now(now, anchor.doc_id, end, end + len(anchor.after)) if anchor.after else None
    kept = [
        tells(anchor.before) and before == (name, first - len(anchor.before)),
        tells(anchor.after) and after == (name, first + len(anchor.text)),
    ]
    return sum(kept) >= sides


def has_to_be_found(anchor, now, where):
    if where is None or anchor.unique_with == "nothing":
        return False
    if anchor.unique_with in WITH_SIBLINGS | {"document"} and where[0] != anchor.doc_id:
        return False
    if anchor.unique_with not in UNIQUE_TEXTS:
        # At an edge of the document a part of its context is that it is the edge.
        whole = len(anchor.before) == len(anchor.after) == CONTEXT
        return whole and context_survived(anchor, now, where, 2)
    return sum(map(str.isalnum, anchor.text)) >= 20 or context_survived(anchor, now, where, 2)


def wrong_and_missing(corpus, seed, spans):
    """Return the spans that were found where they are not, and those that had to be found and were not."""
    times = random.Random(seed).randrange(1, 40)
    anchors, known = anchors_of(spans, corpus), known_documents({span.doc_id for span in spans}, corpus)
    texts = edited(corpus, seed, times)
    now, after = survivors(texts), unmarked(texts)
    wrong, missing, found = [], [], 0
    for result in reanchor(anchors, after, known):
        anchor = result.anchor
        where = place_now(now, anchor.doc_id, anchor.start, anchor.start + len(anchor.text))
        got = None if result.span is None else (result.span.doc_id, result.span.start)
        if got is not None and got != where:
            wrong.append((result, where))
        elif got is None and has_to_be_found(anchor, now, where):
            missing.append((result, where))
        found += got is not None
    return wrong, missing, found


def of_unique_texts(wrong):
    """Those that no equal text excuses: one that stood elsewhere, too, may have come to stand where another was."""
    return [result for result, _ in wrong if result.anchor.unique_with in UNIQUE_TEXTS]


def undecided(missing):
    """Whether no label tells which document it is, or whether it was copied."""
    reasons = ("in several places", "says something else now", "has another name now", "of another page or row")
    return all(any(reason in result.how for reason in reasons) for result, _ in missing)


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(8))
def test_in_an_edited_handbook_every_span_that_survived_is_found_and_no_other(seed):
    corpus = load_handbook().corpus
    wrong, missing, found = wrong_and_missing(corpus, seed, labelled(corpus, seed, 150))
    assert (wrong, missing) == ([], [])
    assert found > 75


@pytest.mark.parametrize("seed", range(16))
def test_where_half_of_the_paragraphs_have_copies_it_is_nearly_the_same(seed):
    corpus = with_boilerplate(seed, 2 + seed % 13)
    wrong, missing, found = wrong_and_missing(corpus, seed, labelled(corpus, seed, 60))
    assert of_unique_texts(wrong) == []
    assert undecided(missing)
    assert (len(wrong) <= 1, len(missing) <= 2, found > 0) == (True, True, True)


@pytest.mark.parametrize("seed", range(16))
def test_pages_of_one_template_that_are_edited_and_change_their_names_are_not_mixed_up_by_unique_texts(seed):
    corpus = from_template(seed, 2 + seed % 13)
    wrong, missing, found = wrong_and_missing(corpus, seed, labelled(corpus, seed, 60))
    assert of_unique_texts(wrong) == []
    assert undecided(missing)
    assert found


@pytest.mark.parametrize("labels", [1, 40])
@pytest.mark.parametrize("seed", range(12))
def test_no_label_goes_to_an_archive_of_documents_that_were_edited(seed, labels):
    """Each page was copied, and then words of it changed and sections of it were deleted."""
    corpus = with_boilerplate(seed, 6) if seed % 2 else load_handbook().corpus
    spans = labelled(corpus, seed, labels)
    anchors, known = anchors_of(spans, corpus), known_documents({span.doc_id for span in spans}, corpus)
    chance, texts = random.Random(seed), marked(corpus)
    for _ in range(30):
        chance.choices((change_word, delete_section), (12, labels > 1))[0](texts, chance)
    now = survivors(texts)
    archive = [Document(DocumentId(f"archive/{document.id}"), document.content) for document in corpus]
    found = 0
    for result in reanchor(anchors, Corpus([*unmarked(texts), *archive]), known):
        anchor = result.anchor
        where = place_now(now, anchor.doc_id, anchor.start, anchor.start + len(anchor.text))
        if result.span is not None:
            assert (result.span.doc_id, result.span.start) == where
            found += 1
        elif labels > 1:
            assert not has_to_be_found(anchor, now, where)
    assert found or labels == 1


def test_in_a_corpus_that_nobody_edited_every_span_is_unchanged():
    corpus = with_boilerplate(0, 10)
    spans = labelled(corpus, 0, 200)
    results = reanchor(anchors_of(spans, corpus), corpus, known_documents({span.doc_id for span in spans}, corpus))
    assert [(result.span, result.how) for result in results] == [(span, "unchanged") for span in spans]


LINES = st.lists(
    st.sampled_from(["Alpha beta.", "Gamma delta epsilon zeta.", "Yes.", "Eta theta iota kappa."]), max_size=6
)


def corpus_of_texts(*texts):
    return Corpus(Document(DocumentId(f"{number}.md"), text) for number, text in enumerate(texts))


CORPORA = st.lists(LINES.map("\n".join), min_size=1, max_size=4).map(lambda texts: corpus_of_texts(*texts))


NEAR = 18  # characters of a context: 16 and the white space beside the text


@given(CORPORA, CORPORA, st.randoms(use_true_random=False))
@example(
    corpus_of_texts("Alpha beta.\nGamma delta epsilon zeta.\nEta theta iota kappa.\nAlpha beta."),
    corpus_of_texts("Gamma delta epsilon zeta.\nEta theta iota kappa.", "Gamma delta epsilon zeta."),
    random.Random(0),
)
def test_a_place_that_is_taken_has_the_text_and_is_the_only_one_of_its_kind(before, after, chance):
    """Whatever the two corpora are: looked for by reading everything."""
    full = [document for document in before if document.content.strip()]
    if not full:
        return
    spans = labelled(Corpus(full), chance.randrange(1000), 5)
    known = known_documents({span.doc_id for span in spans}, before)
    for result in reanchor(anchors_of(spans, before), after, known):
        if result.span is None:
            assert result.how.startswith("lost: ")
            continue
        anchor, content = result.anchor, after[result.span.doc_id].content
        assert content[result.span.start : result.span.end].split() == anchor.text.split()
        if content == before[anchor.doc_id].content:
            assert result.span.start == anchor.start
            continue
        around = (anchor.text, f"{anchor.before}{anchor.text}", f"{anchor.text}{anchor.after}")
        counts = [
            len(collapsed_places(after, text)) for text in (*around, f"{anchor.before}{anchor.text}{anchor.after}")
        ]
        near = (f"{anchor.before[-NEAR:]}{anchor.text}", f"{anchor.text}{anchor.after[:NEAR]}")  # as it is shown
        in_own = [len(collapsed_places(after, text, anchor.doc_id)) for text in (*around[1:], *near)]
        begins = places_behind(after[anchor.doc_id].content, anchor) if anchor.doc_id in after else []
        assert 1 in counts or 1 in in_own or begins == [result.span.start]


def places_behind(content, anchor):
    """Return where a text is behind the nearest 12 letters and digits that were before a label."""
    tail = letters(anchor.before)[-12:]
    found = [place.start() for place in re.finditer(re.escape(anchor.text), content)]
    return [start for start in found if len(tail) == 12 and letters(content[:start]).endswith(tail)]


def letters(text):
    return "".join(filter(str.isalnum, text)).lower()


def collapsed_places(corpus, text, doc_id=None):
    """Return the places of a text up to white space, also of such as are not verbatim where others are."""
    contents = [document.content for document in corpus if doc_id in (None, document.id)]
    views = [plain_search.collapsed(content)[0] for content in contents]
    return list(plain_search.occurrences(views, " ".join(text.split())))
