"""One question explained: its results, what it missed, and why."""

import json
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationConfig,
    Query,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    load_result,
    run_experiment,
)
from rag_evaluation_framework.analysis.attribution import Attribution, Explanation, explain
from rag_evaluation_framework.analysis.attribution.explaining import find_question
from rag_evaluation_framework.analysis.attribution.losses import CAUSES
from rag_evaluation_framework.components import RerankedRetriever, SentenceChunker
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.data.dataset import Skipped
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.errors import ConfigError, ResultError

TEXTS = {
    "billing.md": "# Billing\n\nRefunds take five days. Invoices come on the first. Nothing else is here.\n",
    "help.md": "# Help\n\nSupport answers within a day. Refunds are handled by support. Ask us anything.\n",
    "copy.md": "# Copy\n\nSupport answers within a day.\n",
}
QUOTES = {
    "refund": ("How long do refunds take?", "Refunds take five days."),
    "first": ("What comes first?", "Invoices come on the first."),
    "none": ("Who is the chief?", None),
    "both": ("Who handles refunds, and when do invoices come?", "Refunds are handled by support."),
}


@pytest.fixture(scope="module")
def corpus():
    return Corpus(Document(DocumentId(name), text) for name, text in TEXTS.items())


def quoted(quote, name=None):
    name = name or next(one for one, text in TEXTS.items() if quote in text)
    start = TEXTS[name].index(quote)
    return CharacterSpan(DocumentId(name), start, start + len(quote), quote)


@pytest.fixture(scope="module")
def dataset(corpus):
    entries = [
        TokenLevelGroundTruth(Query(QueryId(name), QueryText(text)), () if quote is None else (quoted(quote),))
        for name, (text, quote) in QUOTES.items()
    ]
    copies = [quoted("Support answers within a day.", name) for name in ("help.md", "copy.md")]
    day = Query(QueryId("day"), QueryText("Support within a day?"))
    entries.append(TokenLevelGroundTruth(day, (Answer.any_of(*copies), quoted("Ask us anything."))))
    return Dataset(entries, TOKEN, corpus=corpus)


@pytest.fixture(scope="module")
def evaluation(dataset):
    return TokenLevelEvaluation(dataset.corpus, dataset)


@pytest.fixture(scope="module")
def run(evaluation):
    return evaluation.run(SentenceChunker(sentences=1), k=1)


class TestExplained:
    def test_an_answer_that_was_found(self, run, corpus):
        found = run.explain("refund", corpus=corpus)
        assert isinstance(found, Explanation)
        assert (found.recall, found.status, found.depth, found.notes) == (1, "scored", 100, ())
        (answer,) = found.answers
        assert (answer.recall, answer.found_at, answer.causes) == (1, 1, ())
        first = found.results[0]
        assert (first.rank, first.extent, first.text.strip()) == (1, "all", "Refunds take five days.")
        assert [first.text[start:end] for start, end in first.relevant] == ["Refunds take five days."]
        assert all(result.extent == "none" for result in found.results[1:])
        lines = repr(found).splitlines()
        assert lines[1].endswith("span_recall@1: 1.000")
        assert "1   billing.md:3:1" in lines
        assert "    »Refunds take five days.«" in lines

    def test_several_questions_are_explained_as_each_alone_and_indexed_once(self, evaluation, corpus, monkeypatch):
        def search(query, k):
            if "chief" in query:
                raise ConnectionError("gone away")
            return ["Refunds take five days.", "Support answers within a day."][:k]

        indexed = []
        index = BM25Retriever.index
        monkeypatch.setattr(BM25Retriever, "index", lambda self, corpus: indexed.append(1) or index(self, corpus))
        for result in (evaluation.run(SentenceChunker(sentences=1), k=1), evaluation.run(retriever=search, k=1)):
            indexed.clear()
            several = result.explain(["first", "none", "day", "refund"], corpus=corpus)
            assert len(indexed) <= 1 + (result.scores.statuses.count("failed") > 0)
            assert several == [result.explain(name, corpus=corpus) for name in ("first", "none", "day", "refund")]
            assert repr(several).count("Results within @1") == 4
            assert "<div" in several._repr_html_()

    def test_a_question_of_the_worst_is_explained_by_the_recall_that_put_it_there(self, evaluation, corpus):
        result = evaluation.run(SentenceChunker(sentences=1), k=[1, 2])
        (worst,) = result.worst(1, "span_recall@2")
        assert result.explain(worst, corpus=corpus).score == "span_recall@2"
        assert result.explain(result.worst(1)[0], corpus=corpus).score == "span_recall@1"
        assert result.explain(result.worst(1, "span_precision@2")[0], corpus=corpus).score == "span_recall@1"
        assert result.explain([], corpus=corpus) == []

    def test_an_answer_behind_the_cutoff(self, run, corpus):
        found = run.explain("both", corpus=corpus)
        (answer,) = found.answers
        assert answer.causes == ("beyond_cutoff",)
        assert answer.rank == answer.found_at > 1
        assert len(answer.before) == answer.rank - 1
        assert [(one.place.doc_id, one.rank) for one in answer.chunks] == [("help.md", answer.rank)]
        told = found.summary().as_text(500)
        assert f"rank {answer.rank}, behind " in told
        assert "within a day. »Refunds are handled by support.« Ask us" in told
        assert f"chunks that hold it: help.md:3:31 rank {answer.rank}" in told
        record = json.loads(json.dumps(found.record()))
        assert (record["score"], len(record["answers"])) == ("span_recall@1", 1)
        assert record["answers"][0]["lost"] == {"beyond_cutoff": 1.0}
        assert record["answers"][0]["chunks"][0]["rank"] == record["answers"][0]["rank"] == answer.rank
        assert record["results"][answer.rank - 1]["relevant"]

    def test_answers_are_explained_one_by_one(self, run, corpus):
        found = run.explain("day", corpus=corpus)
        assert found.recall == run.per_query("span_recall@1")["day"]
        support, ask = found.answers
        assert (support.recall, ask.recall) == (1, 0)
        for answer in found.answers:
            assert answer.recall + sum(answer.lost[cause] for cause in CAUSES) == pytest.approx(1)

    def test_of_a_copy_that_was_read_in_part_the_rest_is_missing(self, evaluation, corpus):
        def search(query, k):
            return [{"doc_id": "copy.md", "start": 8, "end": 23}][:k]

        found = evaluation.run(retriever=search, k=1).explain("day", corpus=corpus)
        support = found.answers[0]
        assert support.recall == pytest.approx(15 / 29)
        assert found.results[0].relevant == ((0, 15),)
        assert "»Support answers«» within a day.«" in found.summary().as_text(500)

    def test_a_question_without_an_answer(self, run, corpus):
        found = run.explain("none", corpus=corpus)
        assert (found.status, found.recall, found.answers) == ("no-answer", None, ())
        assert "nothing in the documents answers it" in found.summary().as_text(500)

    def test_a_result_in_which_the_budget_ends(self, evaluation, corpus):
        result = evaluation.run(k=1, config=None)
        found = result.explain("refund", "span_recall@4000ch", corpus=corpus)
        assert {one.extent for one in found.results} == {"all"}
        small = evaluation.experiment(
            BM25Retriever(SentenceChunker(sentences=1)), k=1, config=EvaluationConfig(budgets=["10ch"])
        )
        found = run_experiment(small).explain("refund", "span_recall@10ch", corpus=corpus)
        assert [one.extent for one in found.results][:2] == ["part", "none"]
        assert found.answers[0].rank == 1
        assert "cut by the budget" in found.summary().as_text(500)

    def test_a_reranked_result_has_its_rank_before(self, evaluation, corpus):
        def backwards(query, texts):
            return [float(number) for number in range(len(texts))]

        retriever = RerankedRetriever(BM25Retriever(SentenceChunker(sentences=1)), backwards)
        found = evaluation.run(retriever=retriever, k=1).explain("refund", corpus=corpus, retriever=retriever)
        (answer,) = found.answers
        assert answer.causes == ("dropped_by_reranker",)
        assert (answer.first_rank, answer.rank) == (1, len(found.results))
        assert "(rank 1 before reranking)" in found.summary().as_text(500)

    def test_what_the_reranker_was_not_given_has_its_own_rank_before(self, corpus):
        answer = quoted("Refunds take five days. Invoices come on the first.")
        query = Query(QueryId("q"), QueryText("When?"))
        dataset = Dataset([TokenLevelGroundTruth(query, [answer])], TOKEN, corpus=corpus)
        parts = ["Support answers within a day.", "Invoices come on the first.", "# Copy", "Refunds take five days."]
        places = [{"doc_id": span.doc_id, "start": span.start, "end": span.end} for span in map(quoted, parts)]
        retriever = RerankedRetriever(
            lambda query, k: places[:k], lambda query, texts: [0.0] * len(texts), candidates=2
        )
        result = TokenLevelEvaluation(corpus, dataset).run(retriever=retriever, k=1)
        found = result.explain("q", corpus=corpus, retriever=retriever)
        (told,) = found.answers
        assert told.causes == ("beyond_cutoff", "not_a_candidate", "not_retrieved")
        assert (told.first_rank, told.outside_rank) == (2, 4)
        assert "retrieved, but not among the reranker's candidates: rank 4 before reranking" in found.summary().as_text(
            500
        )

    def test_a_candidate_whose_rank_after_reranking_is_not_known_was_retrieved(self, evaluation, corpus):
        def backwards(query, texts):
            return [float(number) for number in range(len(texts))]

        retriever = RerankedRetriever(BM25Retriever(SentenceChunker(sentences=1)), backwards)
        result = evaluation.run(retriever=retriever, k=1, config=EvaluationConfig(budgets=()))
        (answer,) = result.explain("refund", corpus=corpus, retriever=retriever).answers
        (near,) = answer.chunks
        assert (near.rank, near.first_rank) == (None, 1)
        told = result.explain("refund", corpus=corpus, retriever=retriever).summary().as_text(500)
        assert "chunks that hold it: billing.md:3:1 rank 1 before reranking" in told

    def test_text_without_a_place(self, evaluation, corpus):
        found = evaluation.run(retriever=lambda query, k: ["REFUNDS take *five* days"], k=1).explain(
            "refund", corpus=corpus
        )
        assert found.answers[0].causes == ("not_placed",)
        assert found.results[0].text == "REFUNDS take *five* days"
        assert "retrieved as text that has no place" in found.summary().as_text(500)


class TestShown:
    def test_long_results_are_shortened_beside_what_is_relevant(self):
        text = f"{'before ' * 100}Refunds take five days. {'after ' * 100}"
        here = Corpus([Document(DocumentId("a"), text), Document(DocumentId("b"), "Refunds " * 100)])
        start = text.index("Refunds")
        span = CharacterSpan(DocumentId("a"), start, start + 23, text[start : start + 23])
        dataset = Dataset([TokenLevelGroundTruth(Query(QueryId("q"), QueryText("refunds?")), [span])], TOKEN)
        result = TokenLevelEvaluation(here, dataset).run(retriever=lambda query, k: [text, "Refunds " * 100], k=2)
        lines = result.explain("q", corpus=here).summary().as_text(300).splitlines()
        results = lines[next(at for at, line in enumerate(lines) if line.startswith("Results")) :]
        first, second = (line for line in results if "efunds " in line)
        assert first.startswith("    … ")
        assert "before »Refunds take five days.« after" in first
        assert first.endswith(" …")
        assert second.endswith(" …")
        assert max(len(first), len(second)) < 180

    def test_of_long_relevant_text_both_ends_are_shown(self):
        text = f"{'begin ' * 100}{'middle ' * 300}{'end ' * 100}"
        here = Corpus([Document(DocumentId("a"), text), Document(DocumentId("b"), "other text")])
        span = CharacterSpan(DocumentId("a"), 0, len(text), text)
        dataset = Dataset([TokenLevelGroundTruth(Query(QueryId("q"), QueryText("begin?")), [span])], TOKEN)
        evaluation = TokenLevelEvaluation(here, dataset)
        for found in (["a"], ["b"]):
            result = evaluation.run(retriever=lambda query, k, ids=found: [{"doc_id": name} for name in ids], k=1)
            shown = result.explain("q", corpus=here).summary().as_text(500)
            assert len(shown) < 2_200
            assert "»begin begin" in shown
            assert "end end«" in shown

    def test_white_space_alone_is_missed_in_the_recall_only(self, evaluation, corpus):
        def search(query, k):
            return [quoted("Refunds take"), quoted("five days.")][:k]

        found = evaluation.run(retriever=search, k=2).explain("refund", corpus=corpus)
        assert found.recall == pytest.approx(22 / 23)
        assert "»Refunds take five days.«" in found.summary().as_text(500)
        assert [
            part.text for one in found.summary().blocks[2].passages for part in one.parts if part.role == "missed"
        ] == []

    def test_blanks_beside_what_was_missed_stay(self, evaluation, corpus):
        def search(query, k):
            return [{"doc_id": "billing.md", "start": 18, "end": 34}][:k]

        shown = repr(evaluation.run(retriever=search, k=1).explain("refund", corpus=corpus))
        assert "# Billing »Refunds«» take five days.«" in shown


class TestNaming:
    @pytest.mark.parametrize(
        ("given", "name"),
        [
            ("both", "both"),
            ("bo", "both"),
            ("Who handles refunds, and when do invoices come?", "both"),
            ("who HANDLES", "both"),
            ("invoices handles come", "both"),
            ("first", "first"),  # an id comes before the words of others
        ],
    )
    def test_a_question_has_several_names(self, run, given, name):
        assert run.scores.query_ids[find_question(run, given)] == name

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("who", r"'who' names 2 questions(.|\n)*none  Who is the chief(.|\n)*both  Who"),
            (
                "Who is the chef?",
                r"called 'Who is the chef\?'; name one by .*; the nearest:\n  none  Who is the chief",
            ),
            ("0000", "name one by its id"),
            *((given, "expected its id") for given in ("", "  ", 7, None)),
        ],
    )
    def test_what_names_no_question_or_several_is_refused_with_them_or_the_nearest(self, run, given, said):
        with pytest.raises(ConfigError, match=said):
            find_question(run, given)


@pytest.mark.parametrize("labels", [1, 2])
def test_a_question_that_was_skipped_is_told_with_the_reason_by_any_of_its_names(dataset, corpus, labels):
    label = Skipped(Query(QueryId("gone"), QueryText("Where did it go?")), "a quote", "missing: nowhere")
    skipped = [label, replace(label, quote="another quote")][:labels]
    some = Dataset(dataset.ground_truth, TOKEN, corpus=corpus, skipped=skipped)
    result = TokenLevelEvaluation(corpus, some).run(k=1)
    for name in ("gone", "where did it go?", "gon", "where did", "go where", "GO it"):
        with pytest.raises(ConfigError, match=r"question gone of .* was skipped, .*: missing: nowhere"):
            result.explain(name, corpus=corpus)
    assert Attribution.of(result, corpus=corpus).headline == result.headline
    assert "(1 skipped, 0 failed)" in repr(Attribution.of(result, corpus=corpus))


def test_several_skipped_questions_are_listed_and_none_hides_one_that_was_asked(dataset, corpus):
    texts = {"gone": "Where did it go?", "lost": "Where is it now?", "who-else": "Who is the chief here?"}
    labels = [Skipped(Query(QueryId(name), QueryText(text)), "", f"missing {name}") for name, text in texts.items()]
    result = TokenLevelEvaluation(corpus, Dataset(dataset.ground_truth, TOKEN, corpus=corpus, skipped=labels)).run(k=1)
    listed = r"names 2 questions of .* that were skipped:\n  lost  Where is it now\?\n  gone  Where did"
    with pytest.raises(ConfigError, match=listed):
        result.explain("where", corpus=corpus)
    assert result.scores.query_ids[find_question(result, "who is")] == "none"
    with pytest.raises(ConfigError, match="question who-else of"):
        find_question(result, "who-else")


def test_a_saved_run_is_explained_alike(run, corpus, tmp_path):
    again = explain(load_result(run.save(tmp_path / "run")), "both", corpus=corpus)
    assert again.summary() == run.explain("both", corpus=corpus).summary()


def test_a_report_alone_is_refused(run, corpus, tmp_path):
    saved = run.save(tmp_path / "run")
    (tmp_path / "alone.json").write_bytes((saved / "report.json").read_bytes())
    with pytest.raises(ResultError, match="report alone"):
        load_result(tmp_path / "alone.json").explain("both", corpus=corpus)
    with pytest.raises(ResultError, match="loaded from a report alone"):
        Attribution.of(load_result(tmp_path / "alone.json"), corpus=corpus)


class TestOtherwiseThanToday:
    def test_a_ranking_that_was_shorter_is_that_of_the_run(self, evaluation, corpus):
        def nothing(query, k):
            return []

        run = evaluation.run(retriever=nothing, k=2)
        assert run.explain("both", corpus=corpus, retriever=BM25Retriever()).recall == 0
        whole = Attribution.of(run, corpus=corpus, retriever=BM25Retriever())
        assert (whole.recall, len(whole.query_ids)) == (0, 4)
        assert any("ranked otherwise than in the run" in note for note in whole.notes)
