"""Everything that can be refused is refused before any work is done (T29, T40; issue 2, what must hold 7)."""

import re

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelExperimentConfig,
    ChunkLevelGroundTruth,
    ChunkLevelMetric,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelExperimentConfig,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    ExperimentConfig,
    Query,
    SpanHit,
    SpanIoU,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    evaluate,
    load_dataset,
    run_experiment,
)
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.contracts import Metric
from rag_evaluation_framework.data import ChunkId, Cutoff, Skipped
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.data.levels import CHUNK, TOKEN
from rag_evaluation_framework.errors import ConfigError, CorpusError, DatasetError, LevelMismatch, TokenizerError
from rag_evaluation_framework.testing import FixedRetriever, ReversingReranker
from rag_evaluation_framework.text.tokenizers import CallableTokenizer
from support.each import each

TEXT = "The sky is blue. Grass is green."
CORPUS = Corpus([Document(DocumentId("a.md"), TEXT)])


class ChunkScore(ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 1.0


class NoLevel(Metric):
    def calculate(self, retrieved, ground_truth):
        return 1.0


def span(start, end, text="", doc_id="a.md"):
    return CharacterSpan(DocumentId(doc_id), start, end, text)


def dataset(*spans, corpus=CORPUS, **options):
    return Dataset([TokenLevelGroundTruth(Query.from_text("Which?"), spans)], TOKEN, corpus=corpus, **options)


def chunk_dataset():
    truth = ChunkLevelGroundTruth(Query.from_text("Which?"), [ChunkId("chunk_0123456789ab")])
    return Dataset([truth], CHUNK, corpus=CORPUS, name="chunks")


GOOD = dataset(span(0, 16))

REFUSED = {
    # ground truth and metrics of different levels
    "a span metric on chunk truth": (chunk_dataset(), {"metrics": [SpanRecall()]}, LevelMismatch, "span_recall.*chunk"),
    "a chunk metric on spans": (GOOD, {"metrics": [ChunkScore()]}, LevelMismatch, "chunk_score.*token-level"),
    # spans that do not match the corpus
    "an unknown document": (dataset(span(0, 5, doc_id="b.md")), {}, DatasetError, "query_.*no document 'b.md'"),
    "a span behind the end": (dataset(span(30, 33)), {}, DatasetError, r"a\.md\[30:33\] ends after .* 32 characters"),
    "a text that is not there": (
        dataset(span(0, 7, "The sea")),
        {},
        DatasetError,
        r"a\.md\[0:7\] is 'The sky' in the document, but 'The sea' in the dataset",
    ),
    "a span that covers nothing": (dataset(span(5, 5)), {}, DatasetError, r"\[5:5\]"),
    # nothing to work on
    "a folder that is not there": (dataset(span(0, 5)), {"documents": "no docs"}, CorpusError, "no docs: does not ex"),
    "a number for documents": (dataset(span(0, 5)), {"documents": 5}, CorpusError, "5"),
    "an empty corpus": (dataset(corpus=Corpus([])), {}, CorpusError, "corpus is empty"),
    "no corpus": (dataset(span(0, 5), corpus=None), {}, CorpusError, "pass documents='path'"),
    "an empty dataset": (Dataset([], TOKEN, corpus=CORPUS), {}, DatasetError, "'dataset' is empty"),
    "a file that is not there": ("no questions.csv", {}, DatasetError, r"no questions\.csv: cannot be read"),
    "a number for questions": (5, {"documents": CORPUS}, DatasetError, "questions: holds no questions that are known"),
    # cutoffs
    "k=0": (GOOD, {"k": 0}, ConfigError, "cutoff 0: expected a whole number of at least 1"),
    "k=[5, 0]": (GOOD, {"k": [5, 0]}, ConfigError, "cutoff 0"),
    "k=-1": (GOOD, {"k": -1}, ConfigError, "cutoff -1"),
    "k=True": (GOOD, {"k": True}, ConfigError, "cutoff True"),
    "k=[True]": (GOOD, {"k": [True]}, ConfigError, "cutoff True"),
    "k=5.0": (GOOD, {"k": 5.0}, ConfigError, r"cutoff 5\.0"),
    "k as a budget": (GOOD, {"k": "4000ch"}, ConfigError, r"budgets=\['4000ch'\]"),
    "no cutoff at all": (GOOD, {"k": [], "budgets": []}, ConfigError, r"expected at least one cutoff"),
    "the same k twice": (GOOD, {"k": [5, 10, 5]}, ConfigError, "cutoff '5' is given twice"),
    "budgets as a string": (GOOD, {"budgets": "4000ch"}, ConfigError, r"expected a list such as \['4000ch'\]"),
    "a budget without a unit": (GOOD, {"budgets": ["4000"]}, ConfigError, r"'4000': expected characters \(4000ch\)"),
    "a budget in another unit": (GOOD, {"budgets": ["4000words"]}, ConfigError, "cutoff '4000words': expected"),
    "tokens of nobody": (GOOD, {"budgets": ["1000tok"]}, ConfigError, "tokenizer='cl100k_base'"),
    "an invalid tokenizer": (GOOD, {"tokenizer": 5}, TokenizerError, "5 is not a valid tokenizer"),
    # metrics and options
    "no metrics": (GOOD, {"metrics": []}, ConfigError, "no metrics were given"),
    "two metrics of one name": (GOOD, {"metrics": [SpanIoU(), SpanIoU()]}, ConfigError, "two metrics.*'span_iou'"),
    "a name that is not a list": (
        GOOD,
        {"metrics": "span_recall"},
        ConfigError,
        r"expected a list, .*\['span_recall'\]",
    ),
    "a mistyped name": (GOOD, {"metrics": ["span_recal"]}, ConfigError, r"did you mean span_recall\? there are .*map"),
    "a name with its cutoff": (GOOD, {"metrics": ["span_recall@5"]}, ConfigError, "without its cutoff, which k and"),
    "a name of another level": (GOOD, {"metrics": ["recall"]}, LevelMismatch, "'recall' scores .*token-level"),
    "a name and its metric": (GOOD, {"metrics": ["span_iou", SpanIoU()]}, ConfigError, "two metrics.*'span_iou'"),
    "a metric of no level": (GOOD, {"metrics": [NoLevel()]}, ConfigError, "'no_level': has no evaluation_types"),
    "a metric's class": (GOOD, {"metrics": [SpanRecall]}, (ConfigError, TypeError), "SpanRecall"),
    "a metric without a list": (GOOD, {"metrics": SpanRecall()}, (ConfigError, TypeError), "metrics"),
    "an unknown status": (GOOD, {"count_as_zero": ["unsure"]}, ConfigError, "'no-answer' or 'failed', got 'unsure'"),
}


@each(("questions", "options", "error", "message"), REFUSED.values())
def test_what_cannot_be_measured_is_refused_before_the_corpus_is_indexed(questions, options, error, message):
    retriever = FixedRetriever()
    with pytest.raises(error, match=message) as caught:
        evaluate(retriever, questions, **options)
    assert retriever.calls == []
    assert "\n" not in str(caught.value)


def test_metrics_are_named_as_on_the_command_line():
    def search(query, k):
        return ["The sky is blue."][:k]

    named = ["span_recall", SpanIoU(), "span_hit"]
    by_name, by_object = (
        evaluate(search, GOOD, metrics=given) for given in (named, [SpanRecall(), SpanIoU(), SpanHit()])
    )
    assert by_name.metrics == by_object.metrics
    assert by_name.config["metrics"] == by_object.config["metrics"] == [{"type": each} for each in by_name.metric_names]
    assert ExperimentConfig(search, GOOD, metrics=("span_recall",)).metrics == (SpanRecall(),)
    assert ChunkLevelEvaluation(CORPUS, GOOD).run(metrics=["chunk_recall", "mrr"]).metric_names == (
        "chunk_recall",
        "mrr",
    )


def test_of_many_spans_that_do_not_match_five_are_named_and_all_counted():
    wrong = dataset(*[span(start, start + 40) for start in range(7)])
    with pytest.raises(DatasetError, match=r"in 7 places: .*; and 2 more\. Was it labelled on") as caught:
        ExperimentConfig(FixedRetriever(), wrong)
    assert str(caught.value).count("ends after") == 5


def test_a_file_of_bad_spans_is_refused_before_the_corpus_is_indexed(tmp_path):
    path = tmp_path / "d.json"
    path.write_text(
        '{"schema_version": 1, "questions": [{"id": "q", "query": "?", '
        '"relevant_spans": [{"doc_id": "a.md", "start": 4, "end": 7, "text": "sea"}]}]}'
    )
    retriever = FixedRetriever()
    with pytest.raises(DatasetError, match=r"1 gone; .*Not found: question 'q': 'sea' gone from a\.md\. Are"):
        evaluate(retriever, load_dataset(path), documents=CORPUS)
    assert retriever.calls == []


def test_given_values_are_kept_as_tuples_and_never_shared():
    metrics, k, budgets, zero = [SpanIoU()], [3, 1], ["7tok", "9ch_whole"], {"failed"}
    settings = EvaluationConfig(budgets=budgets, tokenizer=str.split, count_as_zero=zero, experiment_name="mine")
    config = ExperimentConfig(FixedRetriever(), GOOD, metrics=metrics, k=k, config=settings)
    for given in (metrics, k, budgets, zero):
        given.clear()
    assert config.metrics == (SpanIoU(),)
    assert config.k == (3, 1)
    assert config.config.budgets == (Cutoff(7, "tok"), Cutoff(9, "ch", True))
    assert config.config.tokenizer == CallableTokenizer(str.split)
    assert config.config.count_as_zero == {"failed"}
    assert config.name == "mine"


@pytest.mark.parametrize(("k", "expected"), [(3, (3,)), ("3", (3,)), ((1, 2), (1, 2)), (range(1, 4), (1, 2, 3))])
def test_k_is_one_number_or_several(k, expected):
    assert ExperimentConfig(FixedRetriever(), GOOD, k=k).k == expected


@pytest.mark.parametrize("kept", [{"defaults": {"topK": 2}}, {}], ids=["defaults", "question"])
def test_k_that_comes_from_the_dataset_is_noted(kept):
    def nothing(query, k):
        return []

    query = Query.from_text("Which?") if kept else Query("q1", "Which?", {"topK": 2})
    asked = Dataset([TokenLevelGroundTruth(query, [span(0, 16)])], TOKEN, corpus=CORPUS, metadata=kept)
    for result in (
        evaluate(nothing, asked),
        TokenLevelEvaluation(CORPUS, asked).run(retriever=nothing),
    ):
        assert result.cutoffs[0] == "2"
        assert "k=2 is the topK of the dataset" in result.notes
    given = evaluate(nothing, asked, k=2)
    assert not [noted for noted in given.notes if "topK" in noted]
    assert not [noted for noted in evaluate(nothing, GOOD).notes if "topK" in noted]


def test_budgets_alone_are_enough_and_the_first_stands_for_the_k_of_the_run():
    result = evaluate(lambda query, k: [TEXT[:16]], GOOD, k=[], budgets=["8ch", "16ch"])
    assert result.cutoffs == ("8ch", "16ch")
    assert result.metrics["span_recall"] == result.metrics["span_recall@8ch"] == 0.5


def test_a_given_corpus_takes_precedence_over_that_of_the_dataset_and_its_changes_are_noted_in_the_result():
    longer = Corpus([Document(DocumentId("a.md"), TEXT), Document(DocumentId("b.md"), "Roses are red.")])
    assert ExperimentConfig(FixedRetriever(), GOOD, corpus=longer).corpus is longer
    note, _ = evaluate(FixedRetriever(), GOOD, documents=longer).notes
    assert note == (
        "the corpus has changed since the dataset was labelled; labelled spans that carry no text to compare: 1"
    )
    note, _ = evaluate(FixedRetriever(), dataset(span(0, 16, TEXT[:16])), documents=longer).notes
    assert note == "the corpus has changed since the dataset was labelled; all labelled spans still match"


def test_questions_that_the_dataset_skipped_are_in_the_result_each_counted_once():
    query = Query.from_text("Who?")
    skipped = [Skipped(query, "one", "missing"), Skipped(query, "two", "ambiguous")]
    for config in (ExperimentConfig, DocumentLevelExperimentConfig, ChunkLevelExperimentConfig):
        result = run_experiment(config(BM25Retriever(), dataset(span(0, 16), skipped=skipped)))
        assert (result.skipped, result.counts["skipped"]) == (tuple(skipped), 1)
        assert not any("skipped" in note for note in result.notes)


def test_a_config_can_be_run_repeatedly():
    retriever = FixedRetriever()
    config = ExperimentConfig(retriever, GOOD, k=1, config=EvaluationConfig(budgets=[]))
    run_experiment(config)
    run_experiment(config)
    assert [name for name, *_ in retriever.calls] == ["index", "prepare", "retrieve", "close"] * 2


def test_labels_are_looked_for_in_documents_that_have_changed():
    labelled = Corpus(
        [Document("a.md", "The sky is blue, as far as we know.\n"), Document("b.md", "Grass is green.\n")]
    )
    questions = [
        TokenLevelGroundTruth(Query.from_text("What is the sky?"), [CharacterSpan("a.md", 0, 15, "The sky is blue")]),
        TokenLevelGroundTruth(Query.from_text("What is grass?"), [CharacterSpan("b.md", 0, 14, "Grass is green")]),
    ]
    made = Dataset(questions, TOKEN, name="colours", corpus=labelled)
    edited = Corpus(
        [Document("a.md", "# Colours\n\nThe sky is blue, as far as we know.\n"), Document("b.md", "Red.\n")]
    )
    result = evaluate(BM25Retriever(), made, documents=edited)
    assert [span.start for query in result.queries for span in query.relevant] == [11]
    assert (result.counts["skipped"], [label.quote for label in result.skipped]) == (1, ["Grass is green"])
    (said,) = [note for note in result.notes if note.startswith("documents have changed since they were labelled: ")]
    assert "2 labels: 0 unchanged, 1 moved, 1 gone; 1 question skipped" in said
    assert "rag-eval dataset update" in said


def test_a_dataset_of_other_documents_is_refused_with_what_to_look_at_also_if_it_has_questions_without_an_answer():
    sea = Corpus([Document("c.md", "The sea is wet")])
    truth = TokenLevelGroundTruth(Query.from_text("What is the sea?"), [CharacterSpan("c.md", 0, 14)])
    silent = TokenLevelGroundTruth(Query.from_text("Who?"), [])
    for entries in ([truth], [truth, silent]):
        with pytest.raises(DatasetError, match=r"1 label: 0 unchanged, 1 gone; .*: question 'q") as caught:
            evaluate(BM25Retriever(), Dataset(entries, TOKEN, corpus=sea), documents=CORPUS)
        told = str(caught.value)
        assert "'The sea is wet' gone from c.md" in told
        assert "the right folder (--corpus) and pattern of files (--glob)?" in told
        assert "`rag-eval dataset update" in told


def test_of_many_labels_that_were_lost_five_are_named_and_all_counted():
    sea = Corpus([Document("c.md", "The sea is wet")])
    spans = [CharacterSpan("c.md", start, 14) for start in range(7)]
    with pytest.raises(DatasetError, match=r"7 labels: 0 unchanged, 7 gone; .* and 2 more\. Are") as caught:
        evaluate(BM25Retriever(), dataset(*spans, corpus=sea), documents=CORPUS)
    assert str(caught.value).count("gone from c.md") == 5


def recorded(retriever=None, k=5, **options):
    span = CharacterSpan("a.md", 0, 15)
    entries = [TokenLevelGroundTruth(Query.from_text("What is blue?"), [span])]
    made = Dataset(entries, TOKEN, corpus=CORPUS, **options)
    return ExperimentConfig(BM25Retriever() if retriever is None else retriever, made, k=k).record


def test_the_record_has_a_hash_of_the_settings_whatever_is_asked():
    hashes = {
        recorded()["hash"],
        recorded(k=6)["hash"],
        recorded(BM25Retriever(k1=1.3))["hash"],
        recorded(RerankedRetriever(BM25Retriever(), ReversingReranker()))["hash"],
    }
    assert len(hashes) == 4
    assert recorded()["hash"] == recorded(name="another", metadata={"version": "2"})["hash"]
    assert re.fullmatch("[0-9a-f]{64}", recorded()["hash"])


def test_the_record_says_the_mode_and_the_version_of_the_dataset_if_it_has_one():
    assert recorded()["mode"] == "retrieve"
    assert recorded(RerankedRetriever(BM25Retriever(), ReversingReranker()))["mode"] == "retrieve+rerank"
    assert recorded(metadata={"version": "2026-11"})["dataset"]["version"] == "2026-11"
    assert recorded()["dataset"]["version"] is None
    assert recorded(metadata={"version": ["1"]})["dataset"]["version"] is None


def test_the_record_names_the_scopes_of_questions_each_once():
    corpus = Corpus([Document(DocumentId(f"eval:{name}:1"), TEXT) for name in "ab"])
    truth = [
        DocumentLevelGroundTruth(Query(QueryId(str(number)), QueryText("blue?"), metadata), (DocumentId("eval:a:1"),))
        for number, metadata in enumerate([{"scopePrefix": "eval:b:"}, {}, {"scopePrefix": "eval:b:"}])
    ]
    scoped = Dataset(truth, DOCUMENT, corpus=corpus, metadata={"defaults": {"scopePrefix": "eval:a:"}})
    assert ExperimentConfig(BM25Retriever(), scoped).record["scope_prefixes"] == ["eval:a:", "eval:b:"]
    assert recorded()["scope_prefixes"] == []
