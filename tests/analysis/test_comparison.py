"""Two results side by side: worked by hand, question by question."""

import json
import re
from dataclasses import dataclass, replace
from functools import cached_property

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelExperimentConfig,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    Query,
    SpanDCG,
    SpanIoU,
    SpanPrecision,
    SpanRecall,
    TokenLevelExperimentConfig,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    TokenSetRecall,
    compare,
    evaluate,
    load_dataset,
    load_result,
    run_experiment,
    save_dataset,
)
from rag_evaluation_framework.data import QueryId, QueryText, Skipped
from rag_evaluation_framework.errors import ConfigError, ResultError
from rag_evaluation_framework.labels import relabel
from rag_evaluation_framework.report import comparison_notes
from support.pages import lines, table

CORPUS = Corpus([Document(DocumentId("d"), "0123456789" * 10)])
TRUTH = {"a": [(0, 10)], "b": [(0, 20)], "c": [(0, 40)], "none": [], "d": [(50, 60)], "bad": [(0, 10)]}


def dataset(truth, texts=None, corpus=CORPUS):
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(name), QueryText((texts or {}).get(name, name))),
            [CharacterSpan(DocumentId("d"), start, end) for start, end in spans],
        )
        for name, spans in truth.items()
    ]
    return Dataset(entries, TOKEN, name="numbers", corpus=corpus)


def finding(length, failing=()):
    """Return a pipeline that finds the first characters of the document."""

    def search(query, k):
        if query in failing:
            raise ConnectionError("gone away")
        return [{"doc_id": "d", "start": 0, "end": length}]

    return search


def run(length, truth=TRUTH, failing=(), texts=None, corpus=CORPUS, name="", **options):
    given = {"k": 1, "budgets": [], "metrics": [SpanRecall()], **options}
    questions = dataset(truth, texts, corpus)
    return evaluate(finding(length, failing), questions, experiment_name=name or f"first {length}", **given)


@pytest.fixture(scope="module")
def comparison():
    return run(20).compare(run(5, failing=["bad"]))


def test_a_question_whose_gains_changed_is_not_compared(tmp_path):
    corpus = Corpus([Document(DocumentId(name), name) for name in ("a", "b")])

    def graded(best):
        query = Query(QueryId("q"), QueryText("q"))
        truths = [
            DocumentLevelGroundTruth(query, ["a", "b"], gains={DocumentId(best): 3.0}),
            DocumentLevelGroundTruth(Query(QueryId("r"), QueryText("r")), ["a"]),
        ]
        found = evaluate(lambda query, k: [{"doc_id": "a"}, {"doc_id": "b"}], Dataset(truths, DOCUMENT, corpus=corpus))
        return load_result(found.save(tmp_path / best), DOCUMENT)

    comparison = graded("a").compare(graded("b"))
    assert comparison.changed == ("q",)
    assert comparison.regressions("ndcg@5") == {}


def test_comparing_with_something_other_than_a_result_is_refused():
    for other in (None, "runs/first", {"a": 1}):
        with pytest.raises(ResultError, match=r"expected an EvaluationResult; load_result\(path\) reads one"):
            run(20).compare(other)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_deltas_are_candidate_minus_baseline_of_the_questions_that_both_scored(comparison):
    # recall of 20 and of 5 characters: a 1 and .5, b 1 and .25, c .5 and .125, d 0 and 0; bad failed in the candidate
    assert comparison.deltas == {"span_recall@1": {"a": -0.5, "b": -0.75, "c": -0.375, "d": 0.0}}
    assert comparison.means == {"span_recall@1": (2.5 / 4, 0.875 / 4)}
    assert comparison.delta("span_recall@1") == comparison.delta("span_recall") == pytest.approx(-1.625 / 4)


def test_regressions_come_greatest_loss_first_and_improvements_greatest_gain_first(comparison):
    assert list(comparison.regressions("span_recall@1").items()) == [("b", -0.75), ("a", -0.5), ("c", -0.375)]
    assert comparison.improvements("span_recall@1") == {}
    back = run(5).compare(run(20))
    assert list(back.improvements("span_recall@1").items()) == [("b", 0.75), ("a", 0.5), ("bad", 0.5), ("c", 0.375)]
    assert back.regressions("span_recall@1") == {}
    changes = back.record()["scores"]["span_recall@1"]
    assert (changes["improved"], changes["regressed"], changes["unchanged"]) == (4, 0, 1)


def test_a_result_does_not_differ_from_itself():
    result = run(20)
    same = result.compare(result)
    assert set(same.deltas["span_recall@1"].values()) == {0.0}
    assert same.regressions("span_recall@1") == same.improvements("span_recall@1") == {}
    assert (same.added, same.removed, same.changed, same.notes) == ((), (), (), ())


def test_datasets_with_other_names_are_named():
    one, other = run(10), run(10)
    renamed = replace(other, config={**other.config, "dataset": {**other.config["dataset"], "name": "other"}})
    name = one.config["dataset"]["name"]
    assert one.compare(renamed).notes == (f"the datasets have other names: {name} before, other after",)
    assert one.compare(other).notes == ()


def test_added_removed_and_changed_queries_are_listed_and_not_compared():
    gone = {f"gone {number}": [(0, 10)] for number in range(6)}
    old = {"a": [(0, 10)], **gone, "moved": [(0, 10)], "reworded": [(0, 10)], "answered": []}
    new = {"fresh": [(0, 5)], "a": [(10, 20)], "reworded": [(0, 10)], "moved": [(5, 15)], "answered": [(0, 5)]}
    comparison = run(10, old).compare(run(5, new, texts={"reworded": "other words"}))
    assert comparison.added == ("fresh",)
    assert comparison.removed == tuple(gone)
    assert comparison.changed == ("moved", "reworded", "answered")
    assert comparison.deltas == {"span_recall@1": {"a": -1.0}}
    assert list(comparison.questions) == ["a", "moved", "reworded", "answered"]
    assert "the dataset is not the same" in comparison.notes
    text = comparison.summary().as_markdown()
    assert "questions of the candidate only, not compared: 1 (fresh)" in text
    assert "questions of the baseline only, not compared: 6 (gone 0, gone 1, gone 2, …)" in text
    assert "questions whose wording or truth changed, not compared: 3 (moved, reworded, answered)" in text
    record = comparison.record()
    assert (record["added"], record["removed"]) == (["fresh"], [*gone])
    assert (record["changed"], record["skipped"], record["placed"]) == (["moved", "reworded", "answered"], [], [])
    assert next(q["deltas"] for q in record["questions"] if q["id"] == "moved") == {"span_recall@1": None}


BEFORE = "# Billing\n\nInvoices come first. Refunds take five days. Support helps at once.\n"
AFTER = "# Billing\n\nA new line. Support\nhelps at once. Invoices come first. Refunds take six days.\n"
QUOTES = {"when": "Invoices come first.", "how long": "Refunds take five days.", "who": "Support helps at once."}


def labelled(document, quotes, skipped=()):
    """Return what people label in a document: questions with spans that hold a text, and labels without a place."""
    corpus = Corpus([Document(DocumentId("billing.md"), document)])
    entries = []
    for name, quote in quotes.items():
        start = document.replace("\n", " ").index(quote)
        span = CharacterSpan(DocumentId("billing.md"), start, start + len(quote), document[start : start + len(quote)])
        entries.append(TokenLevelGroundTruth(Query(QueryId(name), QueryText(f"{name}?")), [span]))
    lost = [Skipped(Query(QueryId(name), QueryText(f"{name}?")), QUOTES[name], "lost") for name in skipped]
    return Dataset(entries, TOKEN, corpus=corpus, skipped=lost)


def both(one, other, level):
    def whole(query, k):
        return [{"doc_id": "billing.md", "start": 0, "end": 60}]

    return [
        run_experiment(config(whole, dataset, k=1, config=EvaluationConfig(budgets=[])))
        for config in [TokenLevelExperimentConfig if level is TOKEN else DocumentLevelExperimentConfig]
        for dataset in (one, other)
    ]


@pytest.mark.parametrize("level", [TOKEN, DOCUMENT])
def test_runs_before_and_after_an_edit_are_compared_on_the_questions_that_both_scored(tmp_path, level):
    placed = {name: quote for name, quote in QUOTES.items() if name != "how long"}
    one, other = labelled(BEFORE, QUOTES), labelled(AFTER, placed, skipped=["how long"])
    before, after = (
        load_result(result.save(tmp_path / str(number)), level) for number, result in enumerate(both(one, other, level))
    )
    comparison = before.compare(after)
    name = before.score_names[0]
    assert list(comparison.deltas[name]) == ["when", "who"]  # both have moved, and one was wrapped anew
    assert (comparison.added, comparison.removed, comparison.changed) == ((), (), ())
    assert (comparison.skipped, comparison.placed) == (("how long",), ())
    assert "scored 2 of 3 answerable questions (1 skipped, 0 failed)" in comparison.headlines[1]
    told = "questions that the candidate skipped, as a label could not be placed, not compared: 1 (how long)"
    assert f"! {told}" in repr(comparison)
    assert "the corpus is not the same" in comparison.notes
    back = after.compare(before)
    assert (back.skipped, back.placed) == ((), ("how long",))
    assert "questions that the baseline skipped, as a label could not be placed, not compared: 1" in repr(back)


COPIED, OTHER = "Support answers within one day.", "Refunds take five days."


def copies_run(labels, file=None, **texts):
    """Evaluate questions, each of which has as its labels all places of a text in one document.

    The dataset is one in memory, or is written to a file and read from it.
    """
    corpus = Corpus([Document(DocumentId(f"{name}.md"), text) for name, text in texts.items()])
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(text), QueryText(f"{text}?")),
            [
                CharacterSpan(DocumentId(doc_id), found.start(), found.end(), text)
                for found in re.finditer(re.escape(text), corpus[doc_id].content)
            ],
        )
        for text, doc_id in labels.items()
    ]
    asked = Dataset(entries, TOKEN, corpus=corpus)
    if file is not None:
        asked = load_dataset(save_dataset(asked, file))
    return evaluate(lambda query, k: [COPIED], asked, documents=corpus, k=1, budgets=[], metrics=[SpanRecall()])


@pytest.mark.parametrize("of_files", [False, True], ids=["in memory", "of files"])
@pytest.mark.parametrize(
    "edit",
    [{}, {"c": f"{OTHER} Edited."}, {"d": "New."}, {"c": OTHER, "d": f"New. {COPIED}"}],
    ids=["same documents", "another was edited", "another was added", "another copy was added"],
)
def test_a_label_that_was_corrected_to_another_copy_is_not_taken_for_a_renamed_document(tmp_path, edit, of_files):
    texts = {"a": f"{COPIED} Old.", "b": f"{COPIED} New.", "c": OTHER}
    files = [tmp_path / "1.json", tmp_path / "2.json"] if of_files else [None, None]
    old = copies_run({COPIED: "a.md", OTHER: "c.md"}, files[0], **texts)
    new = copies_run({COPIED: "b.md", OTHER: "c.md"}, files[1], **{**texts, **edit})
    paths = [run.save(tmp_path / name) for run, name in ((old, "old"), (new, "new"))]
    loaded = [load_result(path) for path in paths]
    for comparison in (old.compare(new), new.compare(old), loaded[0].compare(loaded[1])):
        assert comparison.changed == (COPIED,)


@pytest.mark.parametrize("files", [(None, "2.json"), ("1.json", None), ("1.json", "2.json")])
def test_a_text_that_stood_in_one_document_only_in_both_runs_came_from_the_one_to_the_other(tmp_path, files):
    first, second = (None if name is None else tmp_path / name for name in files)
    old = copies_run({COPIED: "a.md", OTHER: "c.md"}, first, a=COPIED, c=OTHER)
    new = copies_run({COPIED: "b.md", OTHER: "c.md"}, second, b=COPIED, c=OTHER)
    assert old.compare(new).changed == new.compare(old).changed == ()


@pytest.mark.parametrize(
    ("before", "places", "after", "changed"),
    [
        (COPIED, ("x.md", "x.md"), {"x": f"{COPIED} {OTHER}"}, ()),
        (COPIED, ("x.md", "y.md"), {"x": COPIED, "y": OTHER}, ()),
        (COPIED, ("x.md", "c.md"), {"x": COPIED, "c": OTHER}, ()),
        (f"{COPIED} {COPIED}", ("a.md", "c.md"), {"a": COPIED, "c": OTHER}, (COPIED,)),
    ],
    ids=["joined", "both renamed", "renamed", "one of two labels of the same text is another truth"],
)
def test_runs_before_and_after_documents_were_joined_or_renamed_compare(before, places, after, changed):
    old = copies_run({COPIED: "a.md", OTHER: "c.md"}, a=before, c=OTHER)
    comparison = old.compare(copies_run(dict(zip((COPIED, OTHER), places, strict=True)), **after))
    assert (comparison.changed, len(comparison.deltas["span_recall@1"])) == (changed, 2 - len(changed))


def test_runs_before_and_after_a_document_was_split_compare_also_if_they_were_loaded(tmp_path):
    before = copies_run({COPIED: "a.md", OTHER: "a.md"}, a=f"{COPIED} {OTHER}")
    after = copies_run({COPIED: "x.md", OTHER: "y.md"}, x=COPIED, y=OTHER)
    old, new = (load_result(run.save(root=tmp_path)) for run in (before, after))  # with the texts
    for comparison in (before.compare(after), old.compare(new)):
        assert comparison.changed == ()
        assert (
            "questions whose documents were renamed, split or joined, compared as the texts are the same: 2 "
            "(a.md is now x.md, a.md is now y.md)"
        ) in comparison.notes


REFUNDS = "Refunds take five working days in all countries.\n\n"
INVOICES = "Invoices are sent on the first day of every month.\n\n"
SUPPORT = "Support answers within one day, on Sundays as well.\n\n"
PARCELS = "Parcels leave the warehouse in the morning and at noon.\n\n"
FILES = {"a": f"# A\n\n{REFUNDS}{INVOICES}", "b": f"# B\n\n{SUPPORT}", "c": f"# C\n\n{PARCELS}"}


def corpus_of(files):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in files.items())


def sections(folder):
    """A dataset that was loaded: each section of the documents answers a question."""
    corpus = corpus_of(FILES)
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(text.split()[0]), QueryText(f"{text}?")),
            [CharacterSpan(document.id, start, start + len(text.strip()), text.strip())],
        )
        for text in (REFUNDS, INVOICES, SUPPORT, PARCELS)
        for document in corpus
        if (start := document.content.find(text)) >= 0
    ]
    return load_dataset(save_dataset(Dataset(entries, TOKEN, corpus=corpus), folder / "old.json"))


def sections_run(dataset, corpus, level):
    config = TokenLevelExperimentConfig if level is TOKEN else DocumentLevelExperimentConfig
    return run_experiment(config(lambda query, k: [], dataset, corpus=corpus, k=1))


@pytest.mark.parametrize("how", ["in memory", "updated"])
@pytest.mark.parametrize(
    "files",
    [
        {"a": f"# A\n\n{INVOICES}", "b": f"# B\n\n{REFUNDS}{SUPPORT}", "c": FILES["c"]},
        {"a": f"# A\n\n{INVOICES}", "b": FILES["b"], "c": f"# C\n\n{REFUNDS}{PARCELS}New.\n"},
        {"b": f"{FILES['b']}{FILES['a']}", "c": FILES["c"]},
        {"x": f"{FILES['a']}{FILES['b']}{FILES['c']}"},
        {"a": FILES["b"], "b": FILES["c"], "c": FILES["a"]},
        {"a": f"# A\n\n{REFUNDS}", "d": f"# D\n\n{INVOICES}", "b": FILES["b"], "c": FILES["c"]},
    ],
    ids=["moved", "moved to an edited one", "joined", "all joined", "names exchanged", "split"],
)
def test_runs_before_and_after_an_edit_compare_wherever_the_labels_went(tmp_path, files, how):
    before, after, dataset = corpus_of(FILES), corpus_of(files), sections(tmp_path)
    edited = dataset
    if how == "updated":
        edited = load_dataset(save_dataset(relabel(dataset, after).dataset, tmp_path / "new.json"))
        edited = load_dataset(save_dataset(relabel(edited, after).dataset, tmp_path / "newer.json"))  # and once more
    runs = [sections_run(*asked, TOKEN) for asked in ((dataset, before), (edited, after))]
    paths = [run.save(root=tmp_path) for run in runs]  # with the texts
    for old, new in ([*runs], [load_result(path) for path in paths]):
        for comparison in (old.compare(new), new.compare(old)):
            assert (comparison.added, comparison.removed, comparison.changed) == ((), (), ())
            assert len(comparison.deltas[old.score_names[0]]) == 4


MOVED = {"a": f"# A\n\n{INVOICES}", "b": f"# B\n\n{REFUNDS}{SUPPORT}", "c": FILES["c"]}
EXCHANGED = {"a": FILES["b"], "b": FILES["c"], "c": FILES["a"]}
RENAMED_AND_EDITED = {"x": f"{FILES['a']}New.\n", "b": FILES["b"], "c": FILES["c"]}
RENAMED_TWICE = [{"x": FILES["a"]}, {"y": f"{FILES['a']}New.\n"}]
MOVED_TWICE = [{"a": f"# A\n\n{INVOICES}", name: f"# {name.upper()}\n\n{REFUNDS}"} for name in "de"]
OTHERS = {name: FILES[name] for name in ("b", "c")}


@pytest.mark.parametrize(
    ("level", "before", "after", "changed"),
    [
        (DOCUMENT, FILES, EXCHANGED, set()),
        (DOCUMENT, FILES, RENAMED_AND_EDITED, set()),
        (DOCUMENT, FILES, MOVED, {"Refunds"}),
        *((level, *({**files, **OTHERS} for files in RENAMED_TWICE), set()) for level in (TOKEN, DOCUMENT)),
        *((level, *({**files, **OTHERS} for files in MOVED_TWICE), set()) for level in (TOKEN, DOCUMENT)),
    ],
    ids=[
        *("names exchanged", "renamed and edited", "a section moved"),
        *("renamed twice, spans", "renamed twice, documents"),  # of which nobody wrote into the dataset
        *("a section moved twice, spans", "a section moved twice, documents"),
    ],
)
def test_relevant_documents_are_the_same_if_they_are_later_versions_of_each_other(
    tmp_path, level, before, after, changed
):
    dataset = sections(tmp_path)
    one, other = (sections_run(dataset, corpus_of(files), level) for files in (before, after))
    for comparison in (one.compare(other), other.compare(one)):
        assert set(comparison.changed) == changed
        assert len(comparison.deltas[one.score_names[0]]) == 4 - len(changed)


def test_runs_whose_texts_are_not_kept_say_that_a_text_in_another_document_is_another_truth(tmp_path):
    dataset = sections(tmp_path)
    runs = [sections_run(dataset, corpus_of(files), TOKEN) for files in (FILES, MOVED)]
    old, new = (load_result(run.save(tmp_path / str(number))) for number, run in enumerate(runs))
    assert old.compare(new).changed == ("Refunds",)


def test_a_dataset_whose_spans_have_only_moved_is_the_same_dataset():
    one, other = both(labelled(BEFORE, QUOTES), labelled(f"Dear reader!\n{BEFORE}", QUOTES), TOKEN)
    assert one.compare(other).notes == ("the corpus is not the same",)


def test_the_order_of_spans_and_queries_does_not_matter():
    first = run(10, {"a": [(0, 10), (20, 30)], "b": [(0, 10)]})
    second = run(10, {"b": [(0, 10)], "a": [(20, 30), (0, 10)]})
    comparison = first.compare(second)
    assert comparison.changed == ()
    assert comparison.deltas["span_recall@1"] == {"a": 0.0, "b": 0.0}


def test_questions_that_count_as_zero_are_compared_as_such():
    options = {"count_as_zero": ["failed", "no-answer"]}
    comparison = run(10, **options).compare(run(10, failing=["bad"], **options))
    assert comparison.deltas["span_recall@1"]["bad"] == -1.0
    assert comparison.deltas["span_recall@1"]["none"] == 0.0
    assert comparison.notes == ()
    mixed = run(10).compare(run(10, **options))
    assert "none" not in mixed.deltas["span_recall@1"]
    assert "what counts as 0 of the questions that were not scored differs (count_as_zero)" in mixed.notes


def test_zeros_of_questions_that_were_not_scored_make_no_row():
    class OnlyA(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            return 1.0 if (ground_truth[0].end == 20) == self._is_a else float("nan")

    class NotA(OnlyA):
        name = "only_a"
        _is_a = False

    OnlyA._is_a = True
    NotA.__qualname__ = OnlyA.__qualname__
    truth = {"a": [(0, 20)], "b": [(0, 10)], "none": []}
    zeros = {"count_as_zero": ["no-answer"]}
    comparison = run(10, truth, metrics=[OnlyA()], **zeros).compare(run(10, truth, metrics=[NotA()], **zeros))
    assert comparison.deltas.get("only_a@1", {}) == {}


def test_headlines_count_failures_of_answerable_questions_only():
    comparison = run(10, failing=["bad", "none"]).compare(run(10, failing=["bad"]))
    assert comparison.headlines == ("scored 4 of 5 answerable questions (0 skipped, 1 failed)",) * 2
    assert comparison.notes == ()


def test_what_failed_in_one_run_is_in_no_row_if_it_does_not_count_as_0_there():
    both = run(10, failing=["a", "bad"], count_as_zero=["failed"]).compare(
        run(10, {name: TRUTH[name] for name in ("a", "b", "c")}, failing=["c"])
    )
    assert set(both.deltas["span_recall@1"]) == {"a", "b"}
    assert both.means["span_recall@1"] == (pytest.approx(0.25), pytest.approx(0.75))


def test_each_row_stands_on_the_questions_that_have_its_score_in_both():
    class Shaky(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            return 1 / (len(retrieved[0].doc_id) - (ground_truth[0].end == self._bad))

    def shaky(bad):
        metric = Shaky()
        metric._bad = bad
        return [SpanRecall(), metric]

    before, after = run(10, metrics=shaky(20)), run(5, metrics=shaky(40), failing=["bad"])
    comparison = before.compare(after)
    assert [set(column) for column in comparison.deltas.values()] == [{"a", "b", "c", "d"}, {"a", "d"}]
    recall, other = table(comparison.summary(), "Scores").rows
    assert recall[:2] == ("span_recall@1", "4")
    assert other == ("shaky@1", "2", "1.000", "1.000", "+.000", "-.842 +.842", "1.000", "0/0")
    of_runs = comparison_notes(comparison)
    assert {told.split()[0] for told in of_runs} == {"before:", "after:"}


def test_a_question_whose_budget_is_not_available_in_one_result_is_not_in_that_row():
    def naming(query, k):
        return [{"chunk_id": "of unknown length"}] if query in ("a", "d") else finding(10)(query, k)

    before = evaluate(naming, dataset(TRUTH), k=1, budgets=["5ch"], metrics=[SpanRecall()])
    assert "means of only 3 of 5 scored questions: span_recall@5ch" in repr(before)
    comparison = before.compare(run(10, budgets=["5ch"]))
    rows = {row[0]: row[1:4] for row in table(comparison.summary(), "Scores").rows}
    assert rows == {"span_recall@1": ("5", "0.350", "0.550"), "span_recall@5ch": ("3", "0.292", "0.292")}
    assert set(comparison.deltas["span_recall@5ch"]) == {"b", "c", "bad"}


def test_equal_rankings_do_not_differ_among_other_questions():
    places = [(6 * rank, 6 * rank + 1 + 2 * rank % 3) for rank in range(15)]

    def search(query, k):
        found = [{"doc_id": "d", "start": start, "end": end} for start, end in places]
        return found if query == "a" else found + [{"doc_id": "d", "start": at, "end": at + 1} for at in range(60)]

    def measured(*names):
        return evaluate(search, dataset({name: [(0, 95)] for name in names}), k=80, budgets=[], metrics=[SpanDCG()])

    assert measured("a").compare(measured("a", "b")).deltas == {"span_dcg@80": {"a": 0.0}}


def test_scores_of_only_one_result_are_listed_and_not_compared():
    comparison = run(10, metrics=[SpanRecall(), SpanIoU()], k=[1, 2]).compare(
        run(5, metrics=[SpanPrecision(), SpanRecall()], k=[2])
    )
    assert list(comparison.deltas) == ["span_recall@2"]
    (note,) = comparison.notes
    assert note.endswith("span_recall@1, span_iou@1, span_iou@2, span_precision@2")


def test_budgets_in_tokens_of_two_tokenizers_are_left_out():
    budgets = ["5ch", "5tok", "5tok_whole"]
    words = run(10, budgets=budgets, tokenizer=str.split)
    letters = run(10, budgets=budgets, tokenizer=list)
    assert list(words.compare(letters).deltas) == ["span_recall@1", "span_recall@5ch"]
    assert words.compare(letters).notes[0] == (
        "not comparable: span_recall@5tok, span_recall@5tok_whole (tokenizer of the budget 'str.split' before, 'list' "
        "after)"
    )
    assert len(words.compare(words).deltas) == 4


class Plain(TokenLevelMetric):
    """A metric of one's own that is not a dataclass; what it was called with is nobody's parameter."""

    def __init__(self, power):
        self.power = power
        self._calls = power

    def calculate(self, retrieved, ground_truth):
        return 0.5**self.power


@dataclass(frozen=True)
class Declared(TokenLevelMetric):
    power: int

    def calculate(self, retrieved, ground_truth):
        return 0.5**self.power


@pytest.mark.parametrize(
    ("make", "one", "other", "name", "reason"),
    [
        (TokenSetRecall, str.split, list, "token_set_recall@1", "tokenizer ':str.split' before, 'builtins:list' after"),
        (Plain, 1, 2, "plain@1", "power 1 before, 2 after"),
        (Declared, 1, 2, "declared@1", "power 1 before, 2 after"),
    ],
)
def test_scores_of_one_name_whose_metrics_have_other_parameters_are_not_compared(
    make, one, other, name, reason, tmp_path
):
    before, after = (run(10, metrics=[SpanRecall(), make(given)]) for given in (one, other))
    comparison = load_result(before.save(tmp_path / "before"), TOKEN).compare(after)
    assert list(comparison.deltas) == ["span_recall@1"]
    assert comparison.incomparable == comparison.record()["incomparable"] == {name: reason}
    assert f"not comparable: {name} ({reason})" in comparison_notes(comparison)
    board = compare(before, after, run(10, name="third", metrics=[SpanRecall(), make(one)]))
    assert list(board.score_names) == ["span_recall@1"]
    assert f"first 10 (2): not comparable: {name} ({reason})" in board.notes
    alone = [run(10, metrics=[make(given)]) for given in (one, other)]
    with pytest.raises(ResultError, match=re.escape(f"no score in common: nothing to compare; {name} is not")):
        alone[0].compare(alone[1])
    again = before.compare(run(5, metrics=[SpanRecall(), make(one)]))
    assert (list(again.deltas), again.incomparable) == (["span_recall@1", name], {})


class Lazy(TokenLevelMetric):
    @cached_property
    def table(self):
        return 0.5

    def calculate(self, retrieved, ground_truth):
        return self.table


@dataclass(frozen=True)
class LaterDeclared(Declared):
    base: float = 0.5
    score_range = (0.0, 5.0)


LaterDeclared.__name__ = LaterDeclared.__qualname__ = "Declared"
LaterDeclared.__module__ = "another_module"


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [(Declared(1), LaterDeclared(1), "declared@1"), (lazy := Lazy(), lazy, "lazy@1")],
    ids=["moved, with a parameter and a range more", "with a value that the first run kept"],
)
def test_a_metric_is_the_same_in_another_module_and_whatever_only_one_record_has(one, other, name):
    before, after = (run(10, metrics=[metric]) for metric in (one, other))
    assert before.config["metrics"] != after.config["metrics"]
    comparison = before.compare(after)
    assert (list(comparison.deltas), comparison.incomparable) == ([name], {})


def test_ones_own_metric_is_not_the_built_in_one_of_its_name():
    class SpanIoU(Plain):
        name = "span_recall"

    own, built_in = (run(10, metrics=[Plain(1), metric]) for metric in (SpanIoU(1), SpanRecall()))
    assert own.compare(built_in).incomparable == {"span_recall@1": "type 'SpanIoU' before, 'span_recall' after"}


def few(length, name, **options):
    """A run that finds one text of this length, whatever it is asked for, and one that is nowhere."""
    found = [{"doc_id": "d", "start": 0, "end": length}, "nowhere"]
    options = {"k": 1, "budgets": ["5ch", "90ch"], "metrics": [SpanRecall()], "experiment_name": name, **options}
    return evaluate(lambda query, k: found[:k], dataset(TRUTH), **options)


EARLY = "† rankings that ran out of results before the budget was filled: 6 of 6 at 90ch"
NOWHERE = "6 of 12 results (50%) have no place in the corpus; they count as not relevant"


def test_notes_of_the_runs_are_shown_by_run_and_means_at_a_budget_that_was_not_filled_are_marked(tmp_path):
    before = load_result(few(20, "few").save(tmp_path / "before"), TOKEN)
    after = few(95, "enough")
    assert before.unfilled == {"span_recall@90ch": 6}
    assert [row[1] for row in table(before.summary(), "Scores").rows] == ["0.700", "0.275", "0.700†"]
    comparison = before.compare(after)
    rows = {row[0]: row[2:4] for row in table(comparison.summary(), "Scores").rows}
    assert rows["span_recall@90ch"] == ("0.700†", "1.000")
    assert all("†" not in cell for name in ("span_recall@1", "span_recall@5ch") for cell in rows[name])
    notes = comparison_notes(comparison)
    assert f"before: {EARLY}" in notes
    assert f"before: {NOWHERE}" in notes
    assert not any(EARLY in note and not note.startswith("before") for note in notes)
    record = comparison.record()
    assert record["baseline"]["unfilled"] == {"span_recall@90ch": 6}
    assert (EARLY in record["baseline"]["notes"], record["candidate"]["unfilled"]) == (True, {})
    assert f"both: {EARLY}" in comparison_notes(few(20, "few").compare(few(30, "other")))


def test_a_leaderboard_shows_the_notes_of_its_runs_and_marks_what_was_not_filled():
    runs = few(95, "enough"), few(20, "few"), few(30, "other")
    board = compare(*runs)
    page = board.summary("span_recall@90ch")
    first, scores = (table(page, title) for title in ("By ", "All scores"))
    means = {row[0][2:]: row[1] for row in first.rows}
    assert ({name: cell.endswith("†") for name, cell in means.items()}) == {"enough": False, "few": True, "other": True}
    assert f"! few, other: {EARLY}" in lines(page, "Notes")
    assert [cell.count("†") for row in scores.rows for cell in row if row[0] == "span_recall@90ch"] == [0, 0, 0, 1, 1]
    told = {run["name"]: (EARLY in run["notes"], run["unfilled"]) for run in board.record()["runs"]}
    ended = (True, {"span_recall@90ch": 6})
    assert told == {"enough": (False, {}), "few": ended, "other": ended}


@pytest.mark.parametrize("labels", ["d0", "d0*"])
def test_renamed_ids_and_empty_answers_are_told_apart_in_a_comparison(labels):
    names = ("d0", "d1", "d2")
    corpus = Corpus([Document(DocumentId(name), "text") for name in names])
    entries = [
        DocumentLevelGroundTruth(Query(QueryId(name), QueryText(name)), [DocumentId(labels)]) for name in ("a", "b")
    ]

    def returning(*ids):
        given = {"k": 3, "budgets": [], "experiment_name": "run"}
        return evaluate(
            lambda query, k: [{"doc_id": name} for name in ids][:k], Dataset(entries, DOCUMENT, corpus=corpus), **given
        )

    fine, renamed, other, empty = returning(*names), returning("d-0", "d-1", "d-2"), returning("d0"), returning()
    told = f"after: 0 of 6 ids match a label, such as 'd-0'; labels are such as '{labels}'"
    assert told in comparison_notes(fine.compare(renamed))
    assert "after: the retriever returned no results for any question that did not fail (2 of 2)" in comparison_notes(
        fine.compare(empty)
    )
    assert not any("match a label" in note or "no results" in note for run in (fine, other) for note in run.all_notes)


@pytest.mark.parametrize("ending", ["", "*"])
def test_ids_that_are_labels_of_other_questions_are_no_other_ids(ending):
    corpus = Corpus([Document(DocumentId(name), "text") for name in ("d0", "d1")])
    entries = [
        DocumentLevelGroundTruth(Query(QueryId(name), QueryText(name)), [DocumentId(name + ending)])
        for name in ("d0", "d1")
    ]
    swapped = evaluate(
        lambda query, k: [{"doc_id": "d1" if query == "d0" else "d0"}], Dataset(entries, DOCUMENT, corpus=corpus), k=1
    )
    assert swapped.metrics["recall@1"] == 0
    assert not any("match a label" in note for note in swapped.all_notes)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"truth": {"x": [(0, 10)]}}, "'first 10' and 'other' have no question with the same truth in common"),
        ({"metrics": [SpanIoU()]}, "have no score in common: nothing to compare"),
        ({"k": 2}, "have no score in common"),
    ],
    ids=["questions", "metrics", "cutoffs"],
)
def test_results_that_have_nothing_in_common_are_refused(other, message):
    with pytest.raises(ResultError, match=message):
        run(10).compare(run(10, name="other", **other))


def test_results_in_which_no_question_is_scored_in_both_have_no_delta():
    comparison = run(10, failing=["a", "b", "c"]).compare(run(10, failing=["d", "bad"]))
    assert comparison.delta("span_recall@1") is None
    assert comparison.means == {"span_recall@1": (None, None)}
    assert "span_recall@1  0       –      –      –         –  –  0/0" in repr(comparison)
    assert comparison.tests == {}
    assert comparison.record()["scores"]["span_recall@1"]["test"] is None


@pytest.mark.parametrize("method", ["delta", "regressions", "improvements"])
@pytest.mark.parametrize("name", ["span_iou@1", "nonsense", ""])
def test_a_score_that_is_not_in_both_is_an_error_that_lists_those_that_are(comparison, method, name):
    with pytest.raises(ConfigError, match=f"no score '{name}' in both results; there are span_recall@1"):
        getattr(comparison, method)(name)


def test_loaded_results_compare_as_those_that_were_saved(tmp_path, comparison):
    first = load_result(run(20).save(tmp_path / "first"))
    second = load_result(run(5, failing=["bad"]).save(tmp_path / "second"))
    assert first.compare(second) == comparison


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_the_comparison_reads_as_a_table_with_everything_that_makes_it_doubtful(comparison):
    text = comparison.summary().as_text(120).splitlines()
    assert text[:7] == [
        "first 5 against first 20",
        "span_recall@1 0.625 → 0.219, -.406 (95 % interval -.994 +.994, p .250): no difference beyond chance",
        "span_recall@1: 0 improved, 3 regressed, 1 unchanged",
        "before: scored 5 of 5 answerable questions (0 skipped, 0 failed)",
        "after: scored 4 of 5 answerable questions (0 skipped, 1 failed)",
        "",
        "Notes",
    ]
    assert text[7] == "! after: bad: retrieve: ConnectionError: gone away"
    assert "span_recall@1  4   0.625  0.219  -.406  -.994 +.994  .250  0/3  ├" in "\n".join(text)
    assert lines(comparison.summary(), "Runs") == [
        "of this document only, with other documents it may differ: intervals of 95 %, p by flipping signs, questions "
        "taken as independent",
        "span_recall@1: with so few questions no true change would be found",
    ]


def test_the_page_of_a_comparison_names_the_greatest_losses():
    page = run(20).compare(run(5)).summary()
    assert page.title == "first 5 against first 20"
    assert lines(page, "Questions that got worse by span_recall@1") == [
        *("-0.750 b (b)", "-0.500 a (a)", "-0.500 bad (bad)", "-0.375 c (c)")
    ]


def test_a_comparison_becomes_a_data_frame_of_one_row_per_query(comparison):
    frame = comparison.to_dataframe()
    assert frame.index.name == "query_id"
    assert list(frame.index) == list(TRUTH)
    assert list(frame.columns) == ["query", "span_recall@1"]
    assert frame.loc["b", "span_recall@1"] == -0.75
    assert frame["span_recall@1"].isna().sum() == 2
    assert frame["span_recall@1"].mean() == pytest.approx(comparison.delta("span_recall@1"))


def test_a_record_is_strict_json_with_every_score_and_every_question(comparison):
    record = json.loads(json.dumps(comparison.record(), allow_nan=False))
    assert list(record) == [
        *("schema_version", "baseline", "candidate", "intervals", "scores"),
        *("incomparable", "properties", "questions"),
        *("added", "removed", "changed", "skipped", "placed", "notes"),
    ]
    assert record["schema_version"] == 1
    assert record["baseline"] == {"name": "first 20", "notes": [], "unfilled": {}}
    failed = "bad: retrieve: ConnectionError: gone away"
    assert record["candidate"] == {"name": "first 5", "notes": [failed], "unfilled": {}}
    test = record["scores"]["span_recall@1"].pop("test")
    assert (test["p_value"], test["smallest_p"], test["clusters"]) == (0.25, 0.25, 4)
    assert record["intervals"] == {"level": 0.95, "seed": 0, "independent": "questions"}
    assert -1 < test["low"] < 0 < test["high"] < 1
    assert record["scores"] == {
        "span_recall@1": {
            "n": 4,
            "before": pytest.approx((1 + 1 + 0.5 + 0) / 4),
            "after": pytest.approx((0.5 + 0.25 + 0.125 + 0) / 4),
            "delta": pytest.approx(-(0.5 + 0.75 + 0.375 + 0) / 4),
            "improved": 0,
            "regressed": 3,
            "unchanged": 1,
        }
    }
    assert [(question["id"], question["query"]) for question in record["questions"]] == [(name, name) for name in TRUTH]
    assert {question["id"]: question["deltas"]["span_recall@1"] for question in record["questions"]} == {
        "a": -0.5,
        "b": -0.75,
        "c": -0.375,
        "d": 0.0,
        "none": None,
        "bad": None,
    }
    assert record["notes"] == list(comparison.notes)
