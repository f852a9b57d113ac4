"""What questions missed: `worst` as a table, `to_dataframe`, and results as files of TREC."""

import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
    score_rankings,
)
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.datasets.rankings import read_qrels, read_rankings
from rag_evaluation_framework.errors import ConfigError, ResultError
from rag_evaluation_framework.runs.query_result import missed

TEXTS = {"a b.md": "One two three four five six seven.", "c.md": "Three is said here, too."}
CORPUS = Corpus([Document(name, text) for name, text in TEXTS.items()])


def span(words, name="a b.md"):
    start = TEXTS[name].index(words)
    return CharacterSpan(name, start, start + len(words))


def found(*spans):
    return [{"doc_id": one.doc_id, "start": one.start, "end": one.end} for one in spans]


FOUND = {
    "half": found(span("One two"), span("six"), span("three four")),
    "copy": found(span("Three", "c.md")),
    "nothing": ["a text that is nowhere"],
    "no answer": found(span("five")),
}
TRUTH = [
    TokenLevelGroundTruth(Query("1", "half", {"tags": ["x"], "query": "mine"}), [span("two three four")]),
    TokenLevelGroundTruth(Query("2", "copy"), [Answer.any_of(span("three"), span("Three", "c.md"))]),
    TokenLevelGroundTruth(Query("3", "nothing", {"team": "red"}), [span("seven"), span("here", "c.md")]),
    TokenLevelGroundTruth(Query("4", "no answer"), []),
]


def run(truth=TRUTH, **options):
    dataset = Dataset(truth, TOKEN, name="numbers", corpus=CORPUS)
    return evaluate(lambda query, k: FOUND[query][:k], dataset, k=[2, 3], budgets=["10ch"], **options)


@pytest.fixture(scope="module")
def result():
    return run()


@pytest.mark.parametrize(
    ("score", "row", "texts", "rank"),
    [
        ("span_recall@2", 0, (" three four",), 3),
        ("span_recall@3", 0, (), None),
        ("span_recall@10ch", 0, (" three four",), 3),
        ("span_recall@2", 1, (), None),
        ("span_recall@2", 2, ("seven", "here"), None),
    ],
)
def test_what_the_results_within_a_cutoff_lack_is_missed_and_found_later_or_not(result, score, row, texts, rank):
    found = missed(result, result.queries[row], score)
    assert (found.texts, found.rank) == (texts, rank)
    assert found.is_blank == (row == 0 and not texts)


def test_the_worst_are_a_table_and_still_a_list(result):
    worst = result.worst(2)
    assert [query.query_id for query in worst] == ["3", "1"]
    assert worst == result.worst(3)[:2]
    lines = repr(worst).splitlines()
    assert lines[0] == "Weakest questions by span_recall@2"
    assert [" ".join(line.split()) for line in lines if "0." in line] == [
        "nothing (3) “seven” … “here” 0.000 –",
        "half (1) “three four” (at rank 3) 0.214 1",
    ]
    assert "<table" in worst._repr_html_()
    others = [" ".join(line.split()) for line in repr(result.worst(3, "span_recall@3")).splitlines()]
    assert others[-2:] == ["half (1) only white space 0.929 1", "copy (2) nothing 1.000 1"]
    later = run([TokenLevelGroundTruth(Query("a", "half"), [span("three four")])])
    assert " ".join(repr(later.worst(1)).splitlines()[-1].split()) == "half (a) “three four” 0.000 3"


def test_without_a_question_the_worst_is_explained(result):
    assert (result.explain().query_id, result.explain(score="span_recall@3").score) == ("3", "span_recall@3")
    truth = [
        TokenLevelGroundTruth(Query("a", "half"), [span("three four")]),
        TokenLevelGroundTruth(Query("b", "copy"), [span("Three is", "c.md")]),
    ]
    others = run(truth)
    assert [others.explain(score=f"span_recall@{k}").query_id for k in (2, 3)] == ["a", "b"]
    with pytest.raises(ConfigError, match="has a score: name the one"):
        run(TRUTH[3:]).explain()


def test_notes_of_all_explanations_are_shown_once(result):
    assert repr(result.explain(result.worst(3))).count("the pipeline was not asked again") == 1


def test_of_a_report_alone_it_is_said_that_nobody_knows_what_was_missed(result, tmp_path):
    folder = result.save(tmp_path / "run")
    report = (folder / "report.json").rename(tmp_path / "report.json")
    alone = load_result(report)
    assert "what was missed is not known" in repr(alone.worst(1))
    assert alone.to_dataframe()["missed"].isna().all()
    assert alone.to_dataframe()["first_relevant"].tolist()[0] == 1
    with pytest.raises(ResultError, match="what was retrieved is not known"):
        alone.to_trec(tmp_path / "trec")


def test_a_data_frame_has_a_row_per_question_with_documents_the_first_rank_what_was_missed_and_metadata(result):
    frame = result.to_dataframe()
    assert frame.index.name == "query_id"
    assert frame.index.tolist() == [entry.query.id for entry in TRUTH]
    assert frame.columns.tolist() == [
        *("query", "status", "documents", *result.score_names, "first_relevant", "missed", "retrieve_seconds"),
        *("tags", "metadata_query", "team"),
    ]
    assert frame["status"].tolist() == ["scored", "scored", "scored", "no-answer"]
    assert frame["span_recall@2"].mean() == result.metrics["span_recall"]
    assert frame["span_recall@2"].isna().tolist() == [False, False, False, True]
    assert frame["documents"].tolist() == ["a b.md", "a b.md, c.md", "a b.md, c.md", ""]
    twice = run([TokenLevelGroundTruth(Query("5", "half"), [span("One"), span("three")])])
    assert twice.to_dataframe()["documents"].tolist() == ["a b.md"]
    assert str(frame["first_relevant"].dtype) == "Int64"
    assert frame["first_relevant"].fillna(0).tolist() == [1, 1, 0, 0]
    assert frame["missed"].fillna("-").tolist() == [" three four", "", "seven … here", "-"]
    assert frame.loc["1", "tags"] == ["x"]
    assert frame.loc["3", "team"] == "red"
    assert frame.loc["1", ["query", "metadata_query"]].tolist() == ["half", "mine"]


def test_files_of_trec_score_as_the_result(tmp_path):
    truth = [
        DocumentLevelGroundTruth(Query("q 1", "first"), ["a b.md", "c.md"], gains={"a b.md": 2}),
        DocumentLevelGroundTruth(Query("#2", "second"), [], ["c"]),
    ]
    ranked = {"first": ["c.md", "a b.md"], "second": ["a b.md", "c.md"]}
    dataset = Dataset(truth, DOCUMENT, name="documents", corpus=CORPUS)
    names = ["mrr@2", "ndcg@2", "recall@2", "hit@1"]
    result = evaluate(
        lambda query, k: [{"doc_id": name, "score": 0.5} for name in ranked[query]][:k],
        dataset,
        k=2,
        budgets=[],
        metrics=["mrr", "ndcg", "recall"],
        experiment_name="my run",
    )
    folder = result.to_trec(tmp_path / "trec")
    assert (folder / "run.txt").read_text().splitlines() == [
        "q%201 Q0 c.md 1 2 my_run",
        "q%201 Q0 a%20b.md 2 1 my_run",
        "%232 Q0 a%20b.md 1 2 my_run",
        "%232 Q0 c.md 2 1 my_run",
    ]
    assert (folder / "qrels.txt").read_text().splitlines() == ["q%201 0 a%20b.md 2", "q%201 0 c.md 1", "%232 0 c.md 1"]
    again = score_rankings(read_qrels(folder / "qrels.txt"), read_rankings(folder / "run.txt"), names)
    assert {name: again.mean[name] for name in result.score_names} == pytest.approx(dict(result.metrics))
    with pytest.raises(ResultError, match=r"not empty|already"):
        result.to_trec(folder)


def test_what_has_no_id_keeps_its_rank_and_gains_all_of_their_digits(tmp_path):
    truth = [DocumentLevelGroundTruth(Query("1", "first"), ["c.md"], gains={"c.md": 1234567.5})]
    found = [{"text": "a text that is nowhere"}, {"doc_id": "c.md"}]
    dataset = Dataset(truth, DOCUMENT, name="documents", corpus=CORPUS)
    result = evaluate(lambda query, k: found[:k], dataset, k=3, budgets=[])
    folder = result.to_trec(tmp_path / "trec")
    assert (folder / "qrels.txt").read_text() == "1 0 c.md 1234567.5\n"
    again = score_rankings(read_qrels(folder / "qrels.txt"), read_rankings(folder / "run.txt"), ["mrr@3"])
    assert again.mean["mrr@3"] == result.metrics["mrr@3"] == 0.5


def test_at_token_level_files_of_trec_have_each_document_once(result, tmp_path):
    folder = result.to_trec(tmp_path / "trec")
    assert (folder / "run.txt").read_text().splitlines()[0].split() == ["1", "Q0", "a%20b.md", "1", "1", result.name]
    assert [line.split()[2] for line in (folder / "run.txt").read_text().splitlines()[1:]] == [
        "c.md",
        "%001",
        "a%20b.md",
    ]
    assert (folder / "qrels.txt").read_text().splitlines()[0] == "1 0 a%20b.md 1"
