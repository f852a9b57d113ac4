"""Mending what is certain in a dataset, and nothing that is for people to judge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Skipped
from rag_evaluation_framework.errors import CorpusError, DatasetError
from rag_evaluation_framework.inspection import fix_dataset, lint_dataset

FIRST, SECOND = "Invoices are sent on the first day.", "Refunds take five working days in all countries."
PAGE = f"# Billing\n\n{FIRST} {SECOND} Write to us.\n"


def corpus_of(text=PAGE, name="a.md"):
    return Corpus([Document(DocumentId(name), text)])


def span(text, doc_id="a.md"):
    start = PAGE.index(text)
    return CharacterSpan(DocumentId(doc_id), start, start + len(text), text)


def question(wording, *texts, query_id=None, **metadata):
    query = Query(query_id or Query.from_text(wording).id, wording, metadata)
    return TokenLevelGroundTruth(query, [span(text) for text in texts])


def dataset_of(*entries, **options):
    return Dataset(entries, TOKEN, name="billing", metadata={"by": "me"}, **options)


def told(fixed):
    return [(fix.kind, fix.query.id) for fix in fixed.fixes]


def test_a_dataset_in_order_is_the_same_one():
    dataset = dataset_of(question("When?", FIRST), question("Who?"))
    fixed = fix_dataset(dataset, corpus_of())
    assert (fixed.dataset is dataset, fixed.fixes, str(fixed)) == (True, (), "billing: nothing fixed")


def test_labels_that_moved_are_found_again():
    after = corpus_of(f"New.\n{PAGE}")
    fixed = fix_dataset(dataset_of(question("When?", FIRST, query_id="q"), question("How?", SECOND)), after)
    assert [span.start for entry in fixed.dataset for span in entry.relevant] == [
        PAGE.index(text) + 5 for text in (FIRST, SECOND)
    ]
    assert (fixed.dataset.corpus, fixed.dataset.corpus_hash) == (after, after.content_hash)
    assert fixed.fixes[0].what == f"a.md[11:46] → a.md:4:1 “{FIRST}”"
    assert str(fixed).startswith("billing: 2 fixes\nIts identity is the same\n")
    assert lint_dataset(fixed.dataset, after).findings == ()


def test_if_a_label_is_lost_no_label_is_moved_or_trimmed_and_copies_go_all_the_same():
    after = corpus_of(f"New.\n{PAGE}".replace("five", "six"))
    dataset = dataset_of(question("When?", f"{FIRST} ", f"{FIRST} ", query_id="one"), question("How?", SECOND))
    fixed = fix_dataset(dataset, after)
    assert (told(fixed), fixed.lost) == ([("labelled twice", "one")], 1)
    assert len(fixed.dataset) == 2
    assert "1 label not found in the corpus, so no label was moved or trimmed" in str(fixed)


def test_white_space_at_the_ends_is_trimmed_and_a_blank_label_stays():
    dataset = dataset_of(question("When?", f"\n\n{FIRST} ", " ", query_id="one"))
    fixed = fix_dataset(dataset, corpus_of())
    assert [span.text for span in fixed.dataset.ground_truth[0].relevant] == [FIRST, " "]
    assert fixed.fixes[0].what == f"a.md[9:47] → [11:46] “{FIRST}”"
    told = "Its identity is the same, and scores may move a little, as labels are shorter"
    assert str(fixed).startswith(f"billing: 1 fix\n{told}\n")
    assert fix_dataset(dataset).fixes == ()


def test_a_blank_label_is_not_found_in_documents_that_changed():
    dataset = dataset_of(question("When?", FIRST), question("Where?", " "))
    fixed = fix_dataset(dataset, corpus_of(f"New.\n{PAGE}"))
    assert (fixed.dataset is dataset, fixed.lost) == (True, 1)


def test_labels_that_name_their_document_by_its_stem_are_trimmed():
    entry = TokenLevelGroundTruth(Query.from_text("When?"), [span(f"{FIRST} ", "a")])
    assert fix_dataset(dataset_of(entry), corpus_of()).dataset.ground_truth[0].relevant == (span(FIRST),)


def test_labels_given_twice_become_one_in_their_order():
    fixed = fix_dataset(dataset_of(question("When?", SECOND, FIRST, SECOND, FIRST, query_id="one")))
    assert [span.text for span in fixed.dataset.ground_truth[0].relevant] == [SECOND, FIRST]
    assert [str(fix) for fix in fixed.fixes] == ["labelled twice: one “When?”: removed 2 of 4 labels"]
    assert str(fixed).startswith("billing: 1 fix\nIts identity changed\n")


def test_labels_that_are_the_same_when_they_are_trimmed_become_one():
    fixed = fix_dataset(dataset_of(question("When?", f"{FIRST} ", FIRST)), corpus_of())
    assert [span.text for span in fixed.dataset.ground_truth[0].relevant] == [FIRST]


def test_of_questions_that_are_the_same_but_for_their_ids_the_first_is_kept():
    entries = [
        question("When?", FIRST, query_id="one", by="me"),
        question("When? ", FIRST, query_id="two", by="me"),
        question("when?", FIRST, query_id="three", by="me"),
        question("When?", FIRST, query_id="four", by="you"),
        question("When?", SECOND, query_id="five", by="me"),
    ]
    fixed = fix_dataset(dataset_of(*entries))
    assert [query.id for query in fixed.dataset.queries] == ["one", "three", "four", "five"]
    assert [str(fix) for fix in fixed.fixes] == [
        "asked twice: two “When?”: removed: it is asked with the same truth as one"
    ]
    assert fixed.has_new_identity


def test_ids_given_twice_become_one_and_gains_stay():
    documents = DocumentLevelGroundTruth(Query("one", "When?"), ["b", "a", "b"], ["p/", "p/"], {"b": 2.0, "p/*": 3.0})
    fixed = fix_dataset(Dataset([documents], DOCUMENT))
    (entry,) = fixed.dataset
    assert (entry.relevant_document_ids, entry.relevant_prefixes) == (("b", "a"), ("p/",))
    assert entry.gains == {"b": 2.0, "p/*": 3.0}
    chunks = ChunkLevelGroundTruth(Query("one", "When?"), ["chunk_b", "pa_chunk_b"])
    fixed = fix_dataset(Dataset([chunks], CHUNK, chunking="0" * 64))
    assert (fixed.dataset.ground_truth[0].relevant_chunk_ids, fixed.dataset.chunking) == (("chunk_b",), "0" * 64)


def test_all_else_stays_as_it_is():
    skipped = Skipped(Query.from_text("Why?"), "Because.", "missing")
    dataset = dataset_of(question("When?", FIRST, FIRST), corpus_hash="f" * 64, skipped=[skipped])
    fixed = fix_dataset(dataset).dataset
    assert (fixed.name, fixed.metadata, fixed.corpus_hash) == ("billing", {"by": "me"}, "f" * 64)
    assert fixed.skipped == (skipped,)


def test_what_a_file_knows_of_its_documents_is_kept(tmp_path):
    saved = save_dataset(dataset_of(question("When?", FIRST, FIRST), corpus=corpus_of()), tmp_path / "a.json")
    again = save_dataset(fix_dataset(load_dataset(saved)).dataset, tmp_path / "b.json")
    expected = save_dataset(dataset_of(question("When?", FIRST), corpus=corpus_of()), tmp_path / "c.json")
    assert again.read_text() == expected.read_text()


def test_a_label_that_moved_is_trimmed_where_it_is():
    spaced = TokenLevelGroundTruth(Query("When?", "When?"), [span(f" {SECOND} ")])
    fixed = fix_dataset(dataset_of(spaced, corpus=corpus_of()), corpus_of(name="b.md"))
    assert [fix.kind for fix in fixed.fixes] == ["label moved", "white space"]
    ((label,),) = (entry.relevant for entry in fixed.dataset)
    assert (label.doc_id, label.start, label.text) == ("b.md", PAGE.index(SECOND), SECOND)


def test_labels_without_a_text_get_none_of_other_documents(tmp_path):
    spaced = span(f"{FIRST} ")
    silent = [CharacterSpan(one.doc_id, one.start, one.end) for one in (spaced, span(SECOND))]
    entries = [
        TokenLevelGroundTruth(Query(f"q{number}", f"What {number}?"), [one]) for number, one in enumerate(silent)
    ]
    made = dataset_of(*entries, corpus_hash="f" * 64)
    fixed = fix_dataset(made, corpus_of())
    assert (fixed.dataset is made, fixed.fixes, fixed.lost) == (True, (), 2)
    assert "2 labels not found in the corpus, so no label was moved or trimmed" in str(fixed)
    twice = dataset_of(*entries, question("Who?", SECOND, SECOND, query_id="two"), corpus_hash="f" * 64)
    saved = save_dataset(fix_dataset(twice, corpus_of()).dataset, tmp_path / "d.json")
    assert [one.text for entry in load_dataset(saved) for one in entry.relevant] == ["", "", SECOND]
    assert load_dataset(saved).corpus_hash == "f" * 64


def test_labels_without_a_text_are_trimmed_in_the_documents_that_were_labelled():
    spaced = span(f"{FIRST} ")
    entry = TokenLevelGroundTruth(Query.from_text("When?"), [CharacterSpan(spaced.doc_id, spaced.start, spaced.end)])
    fixed = fix_dataset(dataset_of(entry, corpus_hash=corpus_of().content_hash), corpus_of())
    assert fixed.dataset.ground_truth[0].relevant == (span(FIRST),)


def test_what_is_no_dataset_and_no_corpus_is_refused():
    with pytest.raises(DatasetError, match="expected a Dataset"):
        fix_dataset("questions.json")
    with pytest.raises(CorpusError):
        fix_dataset(dataset_of(question("When?", FIRST)), "docs")


WORDS = st.sampled_from(["Invoices", "are", "sent ", " on\n", "the", "first", "day.", "  "])
PLACES = st.tuples(st.integers(0, 60), st.integers(1, 30))
QUESTIONS = st.lists(
    st.tuples(st.sampled_from(["When?", "When? ", "when", "Who?"]), st.lists(PLACES, max_size=4), st.booleans()),
    max_size=6,
)


@given(st.lists(WORDS, min_size=8, max_size=30), QUESTIONS, st.sampled_from(["", "New.\n", None]))
def test_what_was_fixed_is_found_no_more_and_is_fixed_only_once(words, questions, added):
    page = f"{' '.join(words)} and this is the end of the page, which is long enough for all labels of the test."
    entries = [
        TokenLevelGroundTruth(
            Query(f"q{number}", wording, {"by": "me"} if by else {}),
            [
                CharacterSpan(DocumentId("a.md"), start, start + size, page[start : start + size])
                for start, size in places
            ],
        )
        for number, (wording, places, by) in enumerate(questions)
    ]
    dataset = Dataset(entries, TOKEN, corpus_hash=corpus_of(page).content_hash)
    corpus = None if added is None else corpus_of(f"{added}{page}")
    fixed = fix_dataset(dataset, corpus)
    again = fix_dataset(fixed.dataset, corpus)
    assert (again.fixes, again.dataset, bool(again.lost)) == ((), fixed.dataset, bool(fixed.lost))
    if not fixed.lost:
        report = lint_dataset(fixed.dataset, corpus)
        assert not [finding for finding in report.findings if finding.fixable or "differs" in finding.kind]
    kept = {query.id for query in fixed.dataset.queries}
    removed = {fix.query.id for fix in fixed.fixes if fix.kind == "asked twice"}
    assert kept.isdisjoint(removed)
    assert kept | removed == {query.id for query in dataset.queries}
    characters = [{at for span in entry.relevant for at in range(span.start, span.end)} for entry in dataset]
    if corpus is None:
        by_id = {entry.query.id: entry for entry in fixed.dataset}
        for entry, covered in zip(dataset, characters, strict=True):
            if entry.query.id in by_id:
                now = by_id[entry.query.id].relevant
                assert {at for span in now for at in range(span.start, span.end)} == covered
