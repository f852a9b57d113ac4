import gzip
import json
from dataclasses import dataclass

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    Retriever,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    evaluate,
    load_result,
    score_rankings,
)
from rag_evaluation_framework.components import HybridRetriever, RerankedRetriever
from rag_evaluation_framework.data import ChunkId
from rag_evaluation_framework.datasets.rankings import StoredRetriever, read_rankings
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.testing import ReversingReranker

CORPUS = Corpus([Document(DocumentId("a"), "Refunds take five days. Parcels carry numbers.")])
FIRST, SECOND = Query("q1", "How long do refunds take?"), Query("q2", "What do parcels carry?")
DOCUMENTS = Dataset([DocumentLevelGroundTruth(FIRST, ["a"]), DocumentLevelGroundTruth(SECOND, ["b"])], DOCUMENT)
CHUNKS = Dataset([ChunkLevelGroundTruth(FIRST, [ChunkId("c1")]), ChunkLevelGroundTruth(SECOND, [ChunkId("c2")])], CHUNK)
SPANS = Dataset(
    [
        TokenLevelGroundTruth(FIRST, [CharacterSpan("a", 0, 23)]),
        TokenLevelGroundTruth(SECOND, [CharacterSpan("a", 24, 46)]),
    ],
    TOKEN,
    corpus=CORPUS,
)
TREC = "q1 Q0 b 2 1.0 run\nq1 Q0 a 1 2.0 run\nq2 Q0 a 1 3.0 run\n"


def stored(folder, content, name="run", **options):
    path = folder / name
    if isinstance(content, list):
        content = "".join(f"{json.dumps(line)}\n" for line in content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return StoredRetriever(path, **options)


@pytest.mark.parametrize(
    "content",
    [
        TREC,
        gzip.compress(TREC.encode(), mtime=0),
        '{"q1": ["a", "b"], "q2": ["a"]}',
        [{"query_id": "q1", "hits": [{"doc_id": "a"}, {"doc_id": "b"}]}, {"query_id": "q2", "hits": [{"doc_id": "a"}]}],
        [{"query_id": "q1", "doc_id": ["a", "b"], "score": [2.0, 1.0]}, {"query_id": "q2", "doc_id": ["a"]}],
        '{"q1": {"b": 1, "a": 2}, "q2": {"a": 3, "b": 2}}',
    ],
    ids=["trec", "compressed", "ids", "hits", "columns", "json"],
)
def test_rankings_of_documents_are_scored_without_documents(tmp_path, content):
    result = evaluate(stored(tmp_path, content), DOCUMENTS, 1, budgets=[])
    assert result.per_query("recall@1") == {"q1": 1.0, "q2": 0.0}
    assert [[hit.doc_id for hit in query.hits] for query in result.queries] == [["a"], ["a"]]
    assert result.config["retriever"]["path"] == str(tmp_path / "run")


@pytest.mark.parametrize("order", ["given", "score", None])
@pytest.mark.parametrize(
    "content",
    [
        "q1 Q0 b 2 1 r\nq1 Q0 a 1 1 r\nq2 Q0 c 1 3 r\nq2 Q0 b 2 2 r\n",
        '{"q1": {"b": 1, "a": 2}, "q2": {"b": 3, "c": 1}}',
        [
            {"query_id": "q1", "hits": [{"doc_id": "b", "score": 1}, {"doc_id": "a", "score": 2}]},
            {"query_id": "q2", "hits": [{"doc_id": "b", "score": 2}, {"doc_id": "c", "score": 1}]},
        ],
        '{"q1": ["a", "b"], "q2": ["c", "b"]}',
    ],
    ids=["trec", "json", "hits", "lists"],
)
@pytest.mark.filterwarnings("ignore:.*rank column")
def test_a_run_and_score_read_the_same_files_with_the_same_result(tmp_path, content, order):
    retriever = stored(tmp_path, content, order=order)
    result = evaluate(retriever, DOCUMENTS, [1, 2], budgets=[], metrics=["mrr", "recall", "ndcg"])
    qrels = {truth.query.id: list(truth.relevant) for truth in DOCUMENTS}
    table = score_rankings(qrels, read_rankings(retriever.path, order), result.score_names)
    assert {name: table.per_query(name) for name in result.score_names} == {
        name: result.per_query(name) for name in result.score_names
    }


def test_distances_are_refused_until_their_order_is_told_and_are_no_scores_then(tmp_path):
    more = "".join(f"q1 Q0 z{rank} {rank} 0.{rank + 2} r\n" for rank in range(3, 7))
    content = f"q1 Q0 a 1 0.1 r\nq1 Q0 b 2 0.4 r\n{more}q2 Q0 a 1 0.2 r\n"
    with pytest.raises(DatasetError, match="scores of every ranking rise"):
        evaluate(stored(tmp_path, content), DOCUMENTS, 1, budgets=[])
    result = evaluate(stored(tmp_path, content, order="given"), DOCUMENTS, 2, budgets=[])
    assert [[(hit.doc_id, hit.score) for hit in query.hits] for query in result.queries] == [
        [("a", None), ("b", None)],
        [("a", None)],
    ]


OF_CHUNKS = [{"query_id": "q1", "retrieved_chunk_ids": ["c1"]}, {"query_id": "q2", "retrieved_chunk_ids": ["c1"]}]
NO_HITS = {"query_id": "q2", "hits": []}


@pytest.mark.parametrize(
    ("dataset", "score", "content", "options"),
    [
        (SPANS, "span_recall@1", [{"query_id": "q1", "hits": [{"doc_id": "a", "start": 0, "end": 23}]}, NO_HITS], {}),
        (
            SPANS,
            "span_recall@1",
            [{"query_id": "q1", "retrieved_spans": [{"doc_id": "a", "start": 0, "end": 23}]}, NO_HITS],
            {},
        ),
        (SPANS, "span_recall@1", [{"query_id": "q1", "hits": ["Refunds take five days."]}, NO_HITS], {}),
        (SPANS, "span_recall@1", [{"query_id": "q1", "doc_id": ["a"], "start": [0], "end": [23]}, NO_HITS], {}),
        (CHUNKS, "chunk_recall@1", "q1 Q0 c1 1 2 run\nq2 Q0 c1 1 2 run\n", {"ids": "chunk"}),
        (CHUNKS, "chunk_recall@1", OF_CHUNKS, {}),
    ],
    ids=["hits", "spans", "texts", "columns", "ids of chunks", "chunks"],
)
def test_places_texts_and_ids_of_chunks_are_scored_at_their_level(tmp_path, dataset, score, content, options):
    result = evaluate(stored(tmp_path, content, **options), dataset, 1)
    assert result.per_query(score) == {"q1": 1.0, "q2": 0.0}


def test_the_rankings_of_a_run_are_scored_as_in_the_run_and_end_where_it_found_all(tmp_path):
    run = evaluate(BM25Retriever(), SPANS, [1, 2])
    again = evaluate(StoredRetriever(run.save(tmp_path / "saved") / "rankings.jsonl.gz"), SPANS, [1, 2])
    assert again.metrics == run.metrics
    all_chunks = evaluate(BM25Retriever(), SPANS, 1, budgets=[]).save(tmp_path / "run")
    assert evaluate(StoredRetriever(all_chunks), SPANS, 10, budgets=[]).notes == ()


def test_what_failed_in_a_run_fails_again_in_its_rankings(tmp_path):
    class Flaky(BM25Retriever):
        def retrieve(self, query, k):
            if query == SPANS.queries[1].text:
                raise ConnectionError("gone")
            return super().retrieve(query, k)

    run = evaluate(Flaky(), SPANS, [1, 2])
    again = evaluate(StoredRetriever(run.save(tmp_path / "saved") / "rankings.jsonl.gz"), SPANS, [1, 2])
    assert (again.metrics, again.counts["failed"], run.counts["failed"]) == (run.metrics, 1, 1)
    assert again.failures["q2"][0].message == "failed in the run of which rankings.jsonl.gz has the rankings"
    assert [*again.queries.hits[0]] == [*load_result(tmp_path / "saved").queries.hits[0]]


@pytest.mark.parametrize(
    ("dataset", "options", "said"),
    [
        (SPANS, {}, "cannot be scored at token-level, as its hits have no start and no text; they have doc_id, score"),
        (CHUNKS, {}, "cannot be scored at chunk-level, as its hits have no chunk_id; they have doc_id, score"),
        (DOCUMENTS, {"ids": "chunk"}, "cannot be scored at document-level, as its hits have no doc_id; they have chu"),
    ],
    ids=["token", "chunk", "document"],
)
def test_a_level_that_the_fields_do_not_allow_is_refused_by_the_field(tmp_path, dataset, options, said):
    with pytest.raises(ConfigError, match=said):
        evaluate(stored(tmp_path, TREC, **options), dataset, 1, budgets=[])


def test_questions_without_a_ranking_and_rankings_without_a_question_are_counted(tmp_path):
    result = evaluate(stored(tmp_path, "q1 Q0 a 1 2 run\nq7 Q0 a 1 2 run\nq8 Q0 a 1 2 run\n"), DOCUMENTS, 1, budgets=[])
    assert result.per_query("recall@1") == {"q1": 1.0, "q2": 0.0}
    assert "questions without a ranking in run, for which nothing was found: 1" in result.notes
    assert "rankings in run of questions that are not in the dataset, left out: 2" in result.notes
    assert more_and_hits(result.save(tmp_path / "again")) == [(None, 1), (None, 0)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("q7 Q0 a 1 2 run\n", "ranks none of the 2 questions; it has 'q7', the dataset 'q"),
        ("", "contains no entries"),
        ([{"query_id": "q1", "hits": [{"doc_id": 7}, {"start": 1}]}], "line 1: "),
        ([{"query_id": "q1", "hits": ["a"]}, {"query_id": "q1", "hits": ["a"]}], "line 2: question 'q1' has a ranking"),
        ([{"query_id": "q1", "hits": ["a"]}, {"hits": ["a"]}], "line 2: query_id is None; expected the id of a que"),
        ([{"query_id": "q1", "hits": ["a"]}, [1]], "line 2: got "),
        ([{"query_id": "q1", "hits": ["a"]}, {"query_id": "q2"}], "line 2: "),
        ('{"query_id": "q1", "hits": ["a"]}\n{"query_id": ', "line 2: "),
        ([{"query_id": "q1", "doc_id": ["a"], "start": [1, 2]}], "line 1: "),
        ([{"query_id": "q1", "doc_id": ["a"], "start": [5], "end": [1]}], "line 1: "),
        ('{"query_id": "q1", "hits": [{"doc_id": "a", "score": NaN}]}', "not valid JSON"),
        (b"\x1f\x8bdamaged", "cannot be decompressed"),
        ([{"query_id": "q", "hits": [{"doc_id": "a", "start": 3}]}], "run: line 1: it returned a result without end"),
        ([{"journal": 1}, {"query_id": "q1", "hits": ["a"]}], "run: is the journal of .*; run the same command again"),
    ],
    ids=str,
)
def test_files_that_cannot_be_used_say_where(tmp_path, content, said):
    with pytest.raises(DatasetError, match=said):
        evaluate(stored(tmp_path, content), DOCUMENTS, 1, budgets=[])


@pytest.mark.parametrize(
    ("paths", "options", "said"),
    [
        ("run", {"ids": "spans"}, "ids='spans'; expected 'document' or 'chunk'"),
        ([], {}, "no stored rankings are named"),
        ((), {}, "no stored rankings are named"),
    ],
)
def test_what_names_no_rankings_is_refused(paths, options, said):
    with pytest.raises(ConfigError, match=said):
        StoredRetriever(paths, **options)


HITS_OF_ONE = {"query_id": "q1", "hits": [{"doc_id": "a", "score": 2.0}, {"doc_id": "b", "score": 1.0}]}
HITS_OF_TWO = {"query_id": "q2", "hits": [{"doc_id": "b"}]}


def test_several_files_are_one_run_whatever_their_formats(tmp_path):
    ranked = gzip.compress(b"q1 Q0 a 1 2.0 r\nq1 Q0 b 2 1.0 r\n")
    paths = [stored(tmp_path, content, name).path for name, content in (("1", ranked), ("2", [HITS_OF_TWO]))]
    result = evaluate(StoredRetriever(paths), DOCUMENTS, 1, budgets=[])
    assert (result.name, result.config["retriever"]["path"]) == ("1 and 1 more", paths)
    whole = evaluate(stored(tmp_path, [HITS_OF_ONE, HITS_OF_TWO]), DOCUMENTS, 1, budgets=[])
    assert [*result.queries] == [*whole.queries]
    assert result.metrics == whole.metrics == dict.fromkeys(whole.metrics, 1.0)
    assert evaluate(StoredRetriever(tuple(paths)), DOCUMENTS, 1, budgets=[]).metrics == whole.metrics


@pytest.mark.parametrize(
    "otherwise", [{"query_id": "q1", "hits": []}, {"query_id": "q1", "doc_id": [], "failed": True}]
)
def test_a_question_that_two_files_rank_differently_is_refused_with_both(tmp_path, otherwise):
    paths = [stored(tmp_path, content, name).path for name, content in (("1", [HITS_OF_ONE]), ("2", [otherwise]))]
    with pytest.raises(DatasetError, match=rf"{paths[1]}: ranks question 'q1' otherwise than {paths[0]}; name one of"):
        _ = StoredRetriever(paths).rankings
    same = StoredRetriever([paths[0], stored(tmp_path, [HITS_OF_ONE, HITS_OF_TWO], "3").path])
    assert same.rankings.keys() == {"q1", "q2"}


def test_the_folders_of_runs_are_merged_with_their_times(tmp_path, monkeypatch):
    whole = evaluate(BM25Retriever(), SPANS, 1, budgets=[])
    folders = [
        evaluate(BM25Retriever(), Dataset([entry], TOKEN, corpus=CORPUS), 1, budgets=[]).save(tmp_path / entry.query.id)
        for entry in SPANS
    ]
    with monkeypatch.context() as patched:
        patched.setattr("rag_evaluation_framework.runs.result._MOST_IN_REPORT", 0)
        folders[1] = load_result(folders[1]).save(tmp_path / "large")
    merged = evaluate(StoredRetriever(folders), SPANS, 1, budgets=[])
    assert merged.name == "q1 and 1 more"
    assert merged.metrics == whole.metrics
    assert [query.hits for query in merged.queries] == [query.hits for query in whole.queries]
    assert [query.stages for query in merged.queries] == [load_result(run).queries[0].stages for run in folders]
    assert merged.queries[1].stages.keys() == {"search"}


def test_a_shard_is_not_scored_for_all_questions(tmp_path):
    whole = Dataset(SPANS.ground_truth, TOKEN, corpus=CORPUS, name="spans")
    runs = [evaluate(BM25Retriever(), whole.shard(n, 2), 1, budgets=[]).save(tmp_path / str(n)) for n in (1, 2)]
    for one in (runs[0], runs[:1], [runs[0], runs[0]]):
        with pytest.raises(DatasetError, match=rf"^{runs[0]}.*: shard 2 of 2 is missing; expected the runs of all"):
            evaluate(StoredRetriever(one), whole, 1, budgets=[])
    assert len(evaluate(StoredRetriever(runs), whole, 1, budgets=[]).queries) == 2
    assert len(evaluate(StoredRetriever(runs[0]), whole.shard(1, 2), 1, budgets=[]).queries) == 1
    result = evaluate(StoredRetriever(runs[0] / "rankings.jsonl.gz"), whole, 1, budgets=[])
    assert "for which nothing was found: 1" in result.notes[0]


def test_the_folder_of_no_run_is_refused(tmp_path):
    stored(tmp_path, [HITS_OF_ONE], "rankings.jsonl.gz")
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(DatasetError, match="does not tell its questions; expected the folder of a run"):
        _ = StoredRetriever(tmp_path).rankings


def test_a_line_of_hits_tells_the_seconds_of_its_stages(tmp_path):
    line = {"query_id": "q1", "doc_id": ["a"], "seconds": {"embed": 0.25, "search": 1}}
    found = evaluate(stored(tmp_path, [line, HITS_OF_TWO]), DOCUMENTS, 1, budgets=[])
    assert found.queries[0].stages == {"embed": 0.25, "search": 1.0}
    with pytest.raises(DatasetError, match=r"line 1: \$\.seconds\.embed: .*, got '1'"):
        _ = stored(tmp_path, [{**line, "seconds": {"embed": "1"}}]).rankings


WORDS = " ".join(f"word{number:02d}" for number in range(40))
PLACES = Corpus([Document(DocumentId("w"), WORDS)])
QUESTIONS = [
    TokenLevelGroundTruth(Query(f"q{number}", f"Where is {number}?"), [CharacterSpan("w", 7 * number, 7 * number + 6)])
    for number in range(8)
]
MANY = Dataset(QUESTIONS, TOKEN, corpus=PLACES, name="many")


@dataclass(frozen=True)
class Last(Retriever):
    """Has the right result last, however many are asked for; of some questions as the second one of ten or more."""

    prefix_stable: bool | None = None

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        right = int(query.split()[-1].rstrip("?"))
        others = [number for number in range(40) if number != right]
        at = 1 if right % 3 == 0 and k > 9 else k - 1
        found = [*others[:at], right, *others[at:]][: min(k, 30)]
        return [{"doc_id": "w", "start": 7 * number, "end": 7 * number + 6} for number in found]


@pytest.mark.parametrize("stable", [False, None])
@pytest.mark.parametrize("budgets", [[], ["30ch", "90ch"], ["200ch"]])
def test_what_is_found_at_a_k_is_found_there_when_shards_are_joined(tmp_path, stable, budgets):
    whole = evaluate(Last(stable), MANY, [2, 3, 5, 12], budgets=budgets)
    folders = [
        evaluate(Last(stable), MANY.shard(number, 2), [2, 3, 5, 12], budgets=budgets).save(tmp_path / str(number))
        for number in (1, 2)
    ]
    again = load_result(folders[1]).save(tmp_path / "again")
    assert (again / "rankings.jsonl.gz").read_bytes() == (folders[1] / "rankings.jsonl.gz").read_bytes()
    joined = evaluate(StoredRetriever([folders[0], again]), MANY, [2, 3, 5, 12], budgets=budgets)
    assert joined.metrics == whole.metrics
    assert [query.scores for query in joined.queries] == [query.scores for query in whole.queries]
    assert [query.hits for query in joined.queries] == [query.hits for query in whole.queries]
    assert joined.metrics["span_recall@2"] == (3 / 8 if stable is None else 1.0)


def test_rankings_at_some_k_are_no_ranking_of_ids(tmp_path):
    folder = evaluate(Last(False), MANY, [2, 5], budgets=[]).save(tmp_path / "run")
    with gzip.open(folder / "rankings.jsonl.gz") as lines:
        first, second, *_ = map(json.loads, lines)
    assert (first["query_id"], first.get("k"), len(first["doc_id"])) == ("q0", None, 5)
    assert (second["query_id"], second["k"], len(second["doc_id"])) == ("q0", 2, 2)
    with pytest.raises(DatasetError, match=r"lists 32 hits .* 8 questions have other rankings at some k"):
        read_rankings(folder / "rankings.jsonl.gz")
    one = stored(tmp_path, [first, second], "one").rankings["q0"]
    assert len(one.hits) == 5
    with pytest.raises(DatasetError, match="line 3: question 'q0' has a ranking already"):
        _ = stored(tmp_path, [first, second, second], "one").rankings


@pytest.mark.parametrize(
    ("around", "k", "needed"),
    [
        (lambda run: run, [3, 11], 11),
        (lambda run: RerankedRetriever(run, ReversingReranker(), 12), 3, 12),
        (lambda run: HybridRetriever([Last(True), run], depth=13), 3, 13),
    ],
)
@pytest.mark.parametrize(("budgets", "known_to"), [([], 3), (["60ch"], 10)])
def test_a_run_that_asked_for_fewer_results_is_not_used_for_more(tmp_path, around, k, needed, budgets, known_to):
    folder = evaluate(Last(True), MANY, 3, budgets=budgets).save(tmp_path / "run")
    for path in (folder, folder / "rankings.jsonl.gz"):
        expected = (
            rf"^{path}: keeps {known_to} results of question 'q0', .*; {needed} are needed .* at most {known_to}, or"
        )
        with pytest.raises(ConfigError, match=rf"{expected} a run made with k={needed}$"):
            evaluate(around(StoredRetriever(path)), MANY, k, budgets=[])


@pytest.mark.parametrize(
    "around",
    [
        lambda run: RerankedRetriever(run, ReversingReranker(), 3),
        lambda run: HybridRetriever([run], depth=3),
        lambda run: HybridRetriever([BM25Retriever(), run, VectorRAGRetriever()], depth=3),
        lambda run: RerankedRetriever(HybridRetriever([run], depth=3), ReversingReranker(), 3),
    ],
)
def test_a_run_is_reranked_and_fused_as_deep_as_it_asked(tmp_path, around):
    folder = evaluate(Last(True), MANY, 3, budgets=[]).save(tmp_path / "run")
    whole = evaluate(around(Last(True)), MANY, 10, budgets=[])
    assert evaluate(around(StoredRetriever(folder)), MANY, 10, budgets=[]).metrics == whole.metrics


@pytest.mark.parametrize(
    ("saved", "read"),
    [
        ({"k": 3, "budgets": ["60ch", "210ch"]}, {"k": 30, "budgets": []}),  # each has 180 characters, and no more
        ({"k": 3, "budgets": ["210ch"]}, {"k": 3, "budgets": ["210ch"]}),
        ({"k": 3, "budgets": ["60ch"]}, {"k": 3, "budgets": ["60ch"]}),
        ({"k": 10, "budgets": []}, {"k": 10, "budgets": []}),
        ({"k": 10, "budgets": []}, {"k": 3, "budgets": []}),
        ({"k": 31, "budgets": []}, {"k": 40, "budgets": []}),  # it has 30 and no more
        ({"k": 3, "budgets": ["1000ch"]}, {"k": 40, "budgets": ["2000ch"]}),
    ],
)
def test_what_a_run_has_found_is_scored_as_far_as_it_is_known(tmp_path, saved, read):
    whole, folder = evaluate(Last(True), MANY, **read), evaluate(Last(True), MANY, **saved).save(tmp_path / "run")
    again = evaluate(StoredRetriever(folder), MANY, **read)
    assert again.counts["hits"] == whole.counts["hits"]
    assert not any("end early" in text for text in again.notes)


def few(hits):
    """Return a retriever that finds at most so many results of some questions, and fails where the number is None."""

    class Few(Last):
        def retrieve(self, query, k):
            return super().retrieve(query, min(k, hits.get(query.removeprefix("Where is ").rstrip("?"), 30)))

    return Few(True)


def test_a_question_that_fills_its_budget_is_known_so_far_whatever_others_do(tmp_path):
    rare = few({str(number): 5 for number in range(1, 8)})
    folder = evaluate(rare, MANY, 3, budgets=["60ch"]).save(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"keeps 10 results of question 'q0', .* at most 10, "):
        evaluate(StoredRetriever(folder), MANY, 12, budgets=[])
    others = Dataset(QUESTIONS[1:], TOKEN, corpus=PLACES)
    whole = evaluate(rare, others, 12, budgets=[])
    assert evaluate(StoredRetriever(folder), others, 12, budgets=[]).metrics == whole.metrics
    assert whole.counts["hits"] == 35


def test_results_that_no_cutoff_reached_are_not_known(tmp_path):
    search = few({str(number): 11 for number in range(8)})  # of which the budget reaches 10
    folder = evaluate(search, MANY, 3, budgets=["60ch"]).save(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"keeps 10 results of question 'q0', .*; 11 are needed"):
        evaluate(StoredRetriever(folder), MANY, 11, budgets=[])


def more_and_hits(folder):
    lines = map(json.loads, gzip.decompress((folder / "rankings.jsonl.gz").read_bytes()).splitlines())
    return [(line.get("more"), len(line["doc_id"])) for line in lines if "k" not in line]


@pytest.mark.parametrize("budgets", [[], ["60ch"], ["120ch"]])
def test_a_run_that_is_scored_again_knows_no_more_than_it_did(tmp_path, budgets):
    rare = few({"1": 5, "2": 2, "3": None, "4": 0})
    folder = evaluate(rare, MANY, 3, budgets=["60ch"]).save(tmp_path / "run")
    again = evaluate(StoredRetriever(folder), MANY, 3, budgets=budgets).save(tmp_path / "again")
    known = more_and_hits(folder)
    assert known == [(True, 10), (None, 5), (None, 2), (None, 0), (None, 0), *[(True, 10)] * 3]
    assert more_and_hits(again) == [(True, 3) if hits > 3 and not budgets else (more, hits) for more, hits in known]


def test_a_question_that_failed_is_none_that_filled_its_budget(tmp_path):
    failing = few({"3": None})
    folder = evaluate(failing, MANY, 3, budgets=["210ch"]).save(tmp_path / "run")
    assert evaluate(StoredRetriever(folder), MANY, 40, budgets=[]).counts["failed"] == 1


@pytest.mark.parametrize(("budget", "is_told"), [("60ch", False), ("70ch", True), ("160ch", True), ("210ch", True)])
def test_a_run_that_asked_for_fewer_characters_says_that_its_rankings_end_early(tmp_path, budget, is_told):
    class InOrder(Last):
        def retrieve(self, query, k):
            return [{"doc_id": "w", "start": 7 * number, "end": 7 * number + 6} for number in range(min(k, 30))]

    folder = evaluate(InOrder(True), MANY, 3, budgets=["60ch"]).save(tmp_path / "run")
    notes = evaluate(StoredRetriever(folder), MANY, 3, budgets=[budget]).notes
    assert ("rankings end early, as the depth of run is less than was asked for" in notes) is is_told


def test_the_runs_of_different_retrievers_are_not_one_run(tmp_path):
    parts = [MANY.shard(number, 2) for number in (1, 2)]
    runs = [
        evaluate(BM25Retriever(k1=k1), part, 1, budgets=[]).save(tmp_path / f"{k1}")
        for k1, part in zip([1.2, 1.5], parts, strict=True)
    ]
    with pytest.raises(DatasetError, match=rf"^{runs[1]}: k1 of its retriever is 1\.5, and in {runs[0]} 1\.2; if it"):
        evaluate(StoredRetriever(runs), MANY, 1, budgets=[])
    assert len(StoredRetriever([run / "rankings.jsonl.gz" for run in runs]).rankings) == len(MANY)
    for run in runs:  # an engine has an id of each run
        report = json.loads((run / "report.json").read_text())
        engine = {"type": "engine", "run_id": str(run)}
        report["config"]["retriever"] = {"type": "hybrid", "retrievers": [engine]}
        (run / "report.json").write_text(json.dumps(report))
    assert len(StoredRetriever(runs).rankings) == len(MANY)
