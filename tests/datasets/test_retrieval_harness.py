import json
import os
import re

import numpy as np
import pytest
from ruamel.yaml import YAML

from rag_evaluation_framework import (
    DOCUMENT,
    BM25Retriever,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelExperimentConfig,
    DocumentLevelGroundTruth,
    ExperimentConfig,
    Query,
    Recall,
    evaluate,
    load_dataset,
    load_result,
    save_dataset,
)
from rag_evaluation_framework.analysis.attribution import Attribution
from rag_evaluation_framework.data.queries import Scope
from rag_evaluation_framework.datasets import folder_loader
from rag_evaluation_framework.errors import ConfigError, DatasetError
from support.each import each

REFUNDS = "eval:help:doc:refunds"
SUPPORT = "eval:help:doc:support"


def document(source_id=REFUNDS, **fields):
    return {"sourceId": source_id, "content": "Refunds take five days.", **fields}


def asked(number=1, ids=(REFUNDS,), relevant=None, **fields):
    return {
        "id": f"q{number}",
        "query": f"Question {number}?",
        "relevant": {"sourceIds": list(ids), **(relevant or {})},
        **fields,
    }


def harness(*queries, **fields):
    return {"version": "1", "id": "help", "queries": list(queries or [asked()]), **fields}


def written(folder, content, name="set.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def loaded(folder, content, **options):
    return load_dataset(written(folder, content), DOCUMENT, **options)


def test_ids_and_prefixes_become_document_level_truth(tmp_path):
    dataset = loaded(
        tmp_path,
        harness(
            asked(1, [REFUNDS, SUPPORT]),
            asked(2, [SUPPORT], {"anyOfSourceIdPrefixes": ["eval:help:faq:", "eval:help:doc:s"]}),
            asked(3, []),
        ),
    )
    first, second, third = dataset
    assert (dataset.name, dataset.level, dataset.corpus) == ("help", DOCUMENT, None)
    assert first == DocumentLevelGroundTruth(first.query, [REFUNDS, SUPPORT])
    assert second == DocumentLevelGroundTruth(second.query, [SUPPORT], ["eval:help:faq:", "eval:help:doc:s"])
    assert second.relevant == ("eval:help:doc:s*", "eval:help:faq:*")
    assert third.relevant == ()
    assert [query.text for query in dataset.queries] == ["Question 1?", "Question 2?", "Question 3?"]


def test_fields_outside_the_ground_truth_keep_their_names_also_when_they_are_saved(tmp_path):
    kept = {"topK": 3, "scopePrefix": "eval:help:faq:", "notes": "hard", "tags": ["billing", "b"]}
    constraints = {"metadataConstraints": {"lang": "en"}}
    defaults = {
        "topK": 10,
        "scopePrefix": "eval:help:",
        "mode": "retrieve",
        "thresholds": {"min": {"hitAtK": 0}},
    }
    first = asked(1, relevant={**constraints, "anyOfSourceIdPrefixes": ["eval:"]}, **kept)
    dataset = loaded(tmp_path, harness(first, asked(2), description="Mini", defaults=defaults))
    assert dataset.queries[0].metadata == {**kept, **constraints}
    assert Scope.of(dataset.queries[0]).constraints == {"lang": "en"}
    assert dataset.queries[1].metadata == {}
    assert dataset.metadata == {"version": "1", "id": "help", "description": "Mini", "defaults": defaults}
    again = load_dataset(save_dataset(dataset, tmp_path / "native.json"), DOCUMENT)
    assert again == dataset
    assert again.content_hash == dataset.content_hash


def test_documents_with_inline_content_or_that_are_loaded_from_a_folder_become_the_corpus(tmp_path):
    items = [
        document(metadata={"category": "money"}),
        document(SUPPORT, content="Write – “now” 💶.\r\n", assets=[]),
    ]
    dataset = loaded(tmp_path, harness(documents=items))
    assert [found.id for found in dataset.corpus] == [REFUNDS, SUPPORT]
    assert dataset.corpus[SUPPORT].content == "Write – “now” 💶.\r\n"
    assert dataset.corpus[REFUNDS].metadata == {"category": "money"}
    assert dataset.corpus[SUPPORT].metadata == {"assets": []}
    assert dataset.corpus_hash == dataset.corpus.content_hash
    assert loaded(tmp_path, harness(documents=[])).corpus is None
    assets = [{"url": "https://example.com/x.pdf"}]
    allowed = loaded(tmp_path, harness(documents=[document(assets=assets)]), allow_assets=True)
    assert allowed.corpus[REFUNDS].metadata == {"assets": assets}
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "faq.md").write_text("Café 💶\r\n", encoding="utf-8", newline="")
    dataset = loaded(tmp_path, harness(documents=[document(), LOADER]), loader=folder_loader(tmp_path / "texts"))
    found = dataset.corpus[SUPPORT]
    assert (found.content, found.metadata) == ("Café 💶\r\n", {"loaderRef": "faq.md"})


def test_a_corpus_that_is_given_wins_and_its_documents_may_be_named_by_their_stem(tmp_path, corpus):
    given = Corpus([*corpus, Document(DocumentId(REFUNDS), document()["content"]), Document(DocumentId(SUPPORT), "x")])
    items = [document(), {"sourceId": SUPPORT, "loaderRef": "x"}]
    dataset = loaded(tmp_path, harness(asked(ids=["billing", "guides/start.md"]), documents=items), corpus=given)
    assert dataset.corpus is given
    assert dataset.ground_truth[0].relevant == ("billing.md", "guides/start.md")


def run_at(dataset, **options):
    """Return a run of a retriever that returns all documents, and its notes."""

    def everything(query, k):
        return [{"doc_id": found.id} for found in dataset.corpus][:k]

    return evaluate(everything, dataset, budgets=[], metrics=[Recall()], **options)


def result_corpus(tmp_path):
    return load_dataset(tmp_path / "set.json", DOCUMENT).corpus


def three_documents(*queries, **fields):
    return harness(*queries, documents=[document(f"eval:help:{number}") for number in range(3)], **fields)


@pytest.mark.parametrize(
    ("defaults", "each", "cutoffs"),
    [
        ({"topK": 2}, [{}, {}], ("2",)),
        ({"topK": 2}, [{"topK": 3}, {"topK": 3}], ("3",)),
        ({"topK": 2}, [{"topK": 2}, {}], ("2",)),
        ({}, [{"topK": 3}, {"topK": 3}], ("3",)),
        ({}, [{}, {}], ("5", "10")),
    ],
)
def test_rankings_are_cut_at_the_k_of_the_question_else_at_that_of_the_dataset(tmp_path, defaults, each, cutoffs):
    questions = [asked(number, ["eval:help:2"], **fields) for number, fields in enumerate(each)]
    dataset = loaded(tmp_path, three_documents(*questions, defaults=defaults))
    result = run_at(dataset)
    assert result.cutoffs == cutoffs
    assert result.metrics[f"recall@{cutoffs[0]}"] == (0.0 if cutoffs == ("2",) else 1.0)
    assert run_at(dataset, k=1).cutoffs == ("1",)


def test_the_k_of_the_dataset_is_that_of_every_way_to_run_it_and_what_other_datasets_call_so_is_none(tmp_path):
    dataset = loaded(tmp_path, three_documents(asked(ids=["eval:help:2"]), defaults={"topK": 7}))
    evaluation = DocumentLevelEvaluation(dataset.corpus, dataset)
    assert evaluation.run().cutoffs == ("7", "4000ch")
    assert evaluation.run(k=4).cutoffs == ("4", "4000ch")
    assert evaluation.experiment(BM25Retriever()).k == (7,)
    assert DocumentLevelExperimentConfig(BM25Retriever(), dataset).k == (7,)
    assert ExperimentConfig(BM25Retriever(), dataset).k == (7,)
    again = load_dataset(save_dataset(dataset, tmp_path / "native.json"), DOCUMENT, corpus=dataset.corpus)
    assert ExperimentConfig(BM25Retriever(), again).k == (7,)
    others = [DocumentLevelGroundTruth(Query(f"q{k!r}", "What?", {"topK": k}), []) for k in ("3", True)]
    assert Dataset(others, DOCUMENT, metadata={"defaults": "none"}).top_k is None


def test_questions_that_ask_for_different_k_are_each_cut_at_their_own(tmp_path):
    """Everything is returned as it stands, so that document n is at rank n + 1."""
    wanted = {"q0": (1, 0), "q1": (2, 0), "q2": (2, 1), "q3": (2, 2), "q4": (3, 2)}  # topK, and the relevant document
    questions = [asked(int(name[1]), [f"eval:help:{n}"], topK=k) for name, (k, n) in wanted.items()]
    dataset = loaded(tmp_path, three_documents(*questions, defaults={"topK": 9}))
    result = run_at(dataset)
    assert (result.cutoffs, result.config["k"]) == (("topK", "2", "1", "3"), [2, 1, 3])
    assert result.scores.per_query("recall@topK") == {"q0": 1.0, "q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 1.0}
    assert [*result.scores.columns] == ["recall@topK", "recall@2", "recall@1", "recall@3"]
    assert result.scores.column("recall").tolist() == result.scores.column("recall@topK").tolist()
    assert "for different numbers of results: 2 (3), 1 (1), 3 (1). Scores @topK cut each at its own" in result.notes[0]
    assert result.config["top_k"] == {"q0": 1, "q4": 3}
    assert run_at(dataset, k=2).cutoffs == ("2",)


def test_losses_are_told_of_a_question_at_its_own_k_and_of_all_at_that_of_most(tmp_path):
    wanted = [asked(1, ["eval:help:2"], topK=1), asked(2, ["eval:help:2"], topK=3), asked(3, ["eval:help:2"], topK=3)]
    result = run_at(loaded(tmp_path, three_documents(*wanted)))
    own = "questions ask for different numbers of results, and this is told at 3 for all; one question alone"
    assert result.metrics["recall@topK"] == pytest.approx(2 / 3)
    told = Attribution.of(result, corpus=result_corpus(tmp_path))
    assert (told.score, told.recall) == ("recall@3", 1.0)
    assert any(note.startswith(own) for note in told.notes)
    assert "recall@1: 0.000" in str(result.explain("q1", corpus=result_corpus(tmp_path)))
    assert "recall@3: 1.000" in str(result.explain("q2", corpus=result_corpus(tmp_path)))
    with pytest.raises(ConfigError, match="of one question alone also recall@topK"):
        Attribution.of(result, "recall@topK", corpus=result_corpus(tmp_path))


def test_precision_and_ndcg_at_its_own_k_are_those_of_that_k(tmp_path):
    ids = ["eval:help:0", "eval:help:2"]
    dataset = loaded(tmp_path, three_documents(asked(1, ids, topK=1), asked(2, ids, topK=3), asked(3, ids, topK=3)))

    def everything(query, k):
        return [{"doc_id": found.id} for found in dataset.corpus][:k]

    scores = evaluate(everything, dataset, budgets=[], metrics=["precision", "ndcg"]).scores
    assert scores.per_query("precision@topK") == {"q1": 1.0, "q2": 2 / 3, "q3": 2 / 3}
    assert scores.per_query("ndcg@topK")["q1"] == 1.0
    assert scores.per_query("ndcg@topK")["q2"] == pytest.approx(1.5 / (1 + 1 / np.log2(3)))


def test_scores_at_own_cutoffs_are_saved_and_compared_where_the_questions_ask_for_the_same(tmp_path):
    def asking(*each, folder):
        (tmp_path / folder).mkdir()
        questions = [asked(number, ["eval:help:2"], topK=k) for number, k in enumerate(each)]
        result = run_at(loaded(tmp_path / folder, three_documents(*questions)))
        return load_result(result.save(root=tmp_path / folder / "runs"))

    before, same, other = asking(3, 2, 3, folder="a"), asking(3, 2, 3, 2, 2, folder="b"), asking(3, 3, 2, folder="c")
    assert before.scores.per_query("recall@topK") == {"q0": 1.0, "q1": 0.0, "q2": 1.0}
    assert same.config["k"] == [2, 3]
    assert [*before.compare(same).change.columns] == ["recall@topK", "recall@3", "recall@2"]
    against = before.compare(other)
    assert [*against.change.columns] == ["recall@3", "recall@2"]
    assert "not comparable: recall@topK (questions ask for other numbers of results)" in against.notes


def test_no_fault_of_a_dataset_hides_another(tmp_path):
    """A question that has a fault of its own is looked into all the same, and every item of every list."""
    content = {
        "version": "2",
        "id": "",
        "defaults": {"topK": 0, "thresholds": {"min": {"recallAtk": 0.5, "mrrAtK": 2}, "most": {}}},
        "documents": [{"sourceId": "d"}, {"sourceId": "d", "content": ""}, 7],
        "queries": [
            {
                "id": "q1",
                "query": "",
                "relevant": {"sourceIds": [3, "", "d"], "anyOfSourceIdPrefixes": [""]},
                "tags": [1, ""],
            },
            {"id": "q1", "query": "x", "topK": 0, "relevant": {}},
            {"query": "x", "relevant": {"sourceIds": 4}, "metadataKeyEquals": {"a": 1}},
            {"id": "q4", "query": " ", "relevant": {"sourceIds": []}, "tags": [True]},
            {"id": "q5", "query": "x"},
            *({"id": f"n{number}", "query": "x", "relevant": {}} for number in range(12)),
        ],
    }
    with pytest.raises(DatasetError) as refused:
        loaded(tmp_path, content)
    head, *lines = str(refused.value).splitlines()
    places = [line.strip().partition(": ")[0] for line in lines]
    relevant = "$.queries[0].relevant"
    expected = [
        *("$.version", "$.id", "$.defaults.topK", *["$.defaults.thresholds"] * 3),
        *("$.queries[2].metadataKeyEquals", "$.documents[0].content", "$.documents[1].content", "$.documents[2]"),
        *("$.queries[0].query", f"{relevant}.sourceIds[0]", f"{relevant}.sourceIds[1]"),
        *(f"{relevant}.anyOfSourceIdPrefixes[0]", "$.queries[0].tags[0]"),
        *(
            "$.queries[1].relevant.sourceIds",
            "$.queries[1].topK",
            "$.queries[1].id",
            "$.queries[2].id",
            "$.queries[2].relevant.sourceIds",
        ),
        *("$.queries[3].tags[0]", "$.queries[4].relevant"),
        *(f"$.queries[{number}].relevant.sourceIds" for number in range(5, 17)),
    ]
    assert places == expected
    assert head.endswith(f"{len(expected)} problems:")


def test_some_questions_with_a_k_and_others_without_are_refused_unless_the_run_says(tmp_path):
    questions = [asked(number, ["eval:help:2"], **fields) for number, fields in enumerate([{}, {"topK": 3}, {}])]
    dataset = loaded(tmp_path, three_documents(*questions))
    with pytest.raises(
        DatasetError, match=r"'help': 1 of 3 questions say .* such as 'q0', do not: .*defaults.topK.*--k"
    ):
        run_at(dataset)
    assert run_at(dataset, k=2).cutoffs == ("2",)


def test_what_is_not_applied_is_noted_with_every_result(tmp_path):
    kept = {"scopePrefix": "eval:help:", "thresholds": {"min": {"hitAtK": 0.9}}}
    dataset = loaded(tmp_path, three_documents(asked(ids=[]), asked(2, []), defaults=kept))
    assert run_at(dataset).notes == ()
    assert dataset.thresholds == {"min": {"hitAtK": 0.9}}
    nothing = {"scopePrefix": "", "thresholds": {}, "mode": "retrieve"}
    assert run_at(loaded(tmp_path, three_documents(asked(1, [], scopePrefix=""), defaults=nothing))).notes == ()


def test_relevant_documents_that_do_not_exist_are_kept_with_a_warning(tmp_path):
    query = asked(1, [REFUNDS, SUPPORT], {"anyOfSourceIdPrefixes": ["eval:help:doc:", "eval:other:"]})
    with pytest.warns(UserWarning, match="can never be retrieved") as caught:
        (entry,) = loaded(tmp_path, harness(query, documents=[document()]))
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert f"$.queries[0].relevant.sourceIds[1]: the corpus has no document '{SUPPORT}'" in messages[0]
    assert "$.queries[0].relevant.anyOfSourceIdPrefixes[1]: no document starts with 'eval:other:'" in messages[1]
    assert entry.relevant_document_ids == (REFUNDS, SUPPORT)


def test_unknown_fields_are_kept_with_a_warning_each_in_their_order(tmp_path):
    content = harness(
        asked(1, relevant={"grade": "five"}, owner="me"),
        documents=[document(language="en")],
        defaults={"rerank": 50},
        **dict.fromkeys("hgfdca", "search"),
    )
    with pytest.warns(UserWarning, match="unknown key") as caught:
        dataset = loaded(tmp_path, content)
    told = [key for warning in caught for key in re.findall(r"unknown key '(\w+)'", str(warning.message))]
    assert told == [*"hgfdca", "rerank", "language", "owner", "grade"]
    assert dataset.metadata == {
        "version": "1",
        "id": "help",
        "defaults": {"rerank": 50},
        **dict.fromkeys("hgfdca", "search"),
    }
    assert dataset.queries[0].metadata == {"grade": "five", "owner": "me"}
    assert dataset.corpus[REFUNDS].metadata == {"language": "en"}


def test_yaml_is_the_same_object(tmp_path):
    content = harness(asked(1, tags=["a"], topK=2), asked(2, []), documents=[document()], description="Ünï 💶")
    for name in ("set.yaml", "set.yml"):
        with (tmp_path / name).open("w", encoding="utf-8") as file:
            YAML(typ="safe", pure=True).dump(content, file)
        assert load_dataset(tmp_path / name, DOCUMENT) == loaded(tmp_path, content)


# --- errors -----------------------------------------------------------------------------------------------------------


def without(content, key):
    return {name: value for name, value in content.items() if name != key}


LOADER = {"sourceId": SUPPORT, "loaderRef": "faq.md"}


@each(
    ("content", "place"),
    [
        (harness(version="2"), "$.version: "),
        (harness(version=1), "$.version: "),
        (without(harness(), "version"), "$.version: "),
        (without(harness(), "id"), "$.id: "),
        (harness(id=""), "$.id: "),
        (harness(id=7), "$.id: "),
        (harness(description=7), "$.description: "),
        (harness(defaults=[]), "$.defaults: "),
        (harness(defaults={"topK": 0}), "$.defaults.topK: "),
        (harness(defaults={"topK": 2.5}), "$.defaults.topK: "),
        (harness(defaults={"topK": True}), "$.defaults.topK: "),
        (harness(defaults={"topK": "5"}), "$.defaults.topK: "),
        (harness(defaults={"mode": "rerank"}), "$.defaults.mode: "),
        (harness(defaults={"thresholds": 0.5}), "$.defaults.thresholds: "),
        (harness(asked(relevant={"metadataConstraints": ["x"]})), "$.queries[0].relevant.metadataConstraints: "),
        (
            harness(documents=[document(), document(SUPPORT, assets=[{"url": "https://x"}])]),
            "$.documents[1].assets: may name anything on any machine; allow them (--allow-assets)",
        ),
        (harness(defaults={"rerankTopK": 0}), "$.defaults.rerankTopK: "),
        (without(harness(), "queries"), "$.queries: expected a list of at least one query, got None"),
        (harness(queries=[]), "$.queries: expected a list of at least one query"),
        (harness(queries={}), "$.queries: expected a list of at least one query"),
        (harness("Where?"), "$.queries[0]: "),
        (harness(without(asked(), "id")), "$.queries[0].id: "),
        (harness(asked() | {"id": ""}), "$.queries[0].id: "),
        (harness(asked() | {"query": "  "}), "$.queries[0].query: is blank"),
        (harness(asked() | {"query": None}), "$.queries[0].query: "),
        (harness(asked() | {"query": "\ud800?"}), "$.queries[0].query: "),
        (
            harness(asked(relevant={"chunks": [{"containsText": "x"}]})),
            "$.queries[0].relevant.chunks[0].containsText: ",
        ),
        (harness(asked(assets=[{"url": "https://x"}])), "$.queries[0].assets: "),
        (harness(documents=[document(metadataConstraints={"lang": "en"})]), "$.documents[0].metadataConstraints: "),
        (harness(asked(), asked()), "$.queries[1].id: 'q1' is already the id of an earlier question"),
        (harness(asked(topK=0)), "$.queries[0].topK: "),
        (harness(asked(topK=True)), "$.queries[0].topK: "),
        (harness(asked(scopePrefix=7)), "$.queries[0].scopePrefix: "),
        (harness(asked(tags="a")), "$.queries[0].tags: "),
        (harness(without(asked(), "relevant")), "$.queries[0].relevant: "),
        (harness(asked() | {"relevant": [REFUNDS]}), "$.queries[0].relevant: "),
        (harness(asked() | {"relevant": {}}), "$.queries[0].relevant.sourceIds: "),
        (harness(asked() | {"relevant": {"sourceIds": REFUNDS}}), "$.queries[0].relevant.sourceIds: "),
        (harness(asked(ids=["a", 7])), "$.queries[0].relevant.sourceIds[1]: "),
        (harness(asked(ids=[""])), "$.queries[0].relevant.sourceIds[0]: "),
        (
            harness(asked(relevant={"anyOfSourceIdPrefixes": ["a", ""]})),
            "$.queries[0].relevant.anyOfSourceIdPrefixes[1]: ",
        ),
        (harness(documents={}), "$.documents: expected a list of documents"),
        (harness(documents=["text"]), "$.documents[0]: "),
        (harness(documents=[{"content": "x"}]), "$.documents[0].sourceId: "),
        (
            harness(documents=[{"sourceId": REFUNDS}]),
            "$.documents[0].content: is missing; expected the text or a loaderRef",
        ),
        (harness(documents=[{"sourceId": REFUNDS, "assets": []}]), "$.documents[0].content: is missing"),
        (harness(documents=[document(content="")]), "$.documents[0].content: "),
        (harness(documents=[document(), document()]), f"$.documents[1].sourceId: '{REFUNDS}' is the id of an earlier"),
        (harness(documents=[document(metadata=[])]), "$.documents[0].metadata: "),
        (
            harness(documents=[document(), LOADER]),
            "$.documents[1].loaderRef: 'faq.md': there is nothing to load it by",
        ),
    ],
)
def test_a_bad_value_is_named_by_its_json_path(tmp_path, content, place):
    with pytest.raises(DatasetError) as caught:
        loaded(tmp_path, content)
    assert str(caught.value).startswith(f"{tmp_path / 'set.json'}: {place}")


SETTINGS = {
    "topK": (3, "in defaults, or in a question"),
    "scopePrefix": ("eval:help:", "in defaults, or in a question"),
    "rerankTopK": (50, "in defaults"),
    "mode": ("retrieve+rerank", "in defaults"),
    "thresholds": ({"min": {"hitAtK": 0.9}}, "in defaults"),
    "metadataConstraints": ({"lang": "en"}, "in relevant of a question"),
    "containsText": ("five", "sourceIds, as no chunks are matched"),
    "containsRegex": ("fi.e", "sourceIds, as no chunks are matched"),
    "metadataKeyEquals": ({"lang": "en"}, "sourceIds, as no chunks are matched"),
}
PLACES = {
    "$": lambda kept: harness(**kept),
    "$.defaults": lambda kept: harness(defaults=kept),
    "$.queries[1]": lambda kept: harness(asked(), asked(2, **kept)),
    "$.queries[1].relevant": lambda kept: harness(asked(), asked(2, relevant=kept)),
}
HOME = {"$.defaults": list(SETTINGS)[:5], "$.queries[1]": ["topK", "scopePrefix"]}
HOME["$.queries[1].relevant"] = ["metadataConstraints"]


@each("place", PLACES)
@each("name", SETTINGS)
def test_what_would_change_the_scores_is_refused_where_it_is_not_read(tmp_path, recwarn, place, name):
    value, expected = SETTINGS[name]
    content = PLACES[place]({name: value})
    if name in HOME.get(place, ()):
        loaded(tmp_path, content)
    else:
        with pytest.raises(DatasetError) as caught:
            loaded(tmp_path, content)
        told = f"{place}.{name}: {value!r} does not belong here; expected {expected}"
        assert str(caught.value) == f"{tmp_path / 'set.json'}: {told}"
    assert not recwarn.list


def test_metadata_and_notes_may_be_called_as_they_like(tmp_path, recwarn):
    words = {name: value for name, (value, _) in SETTINGS.items()}
    dataset = loaded(tmp_path, harness(asked(notes=[words]), documents=[document(metadata=words)]))
    assert dataset.queries[0].metadata == {"notes": [words]}
    assert dataset.corpus[REFUNDS].metadata == words
    assert not recwarn.list


# --- the public samples -----------------------------------------------------------------------------------------------

SAMPLES = {
    "seed004-help-center-mini.json": ("help-center-mini", 1, 1),
    "unrag-docs-prod-queries.json": ("prod-queries", 1, None),
    "unrag-docs-sample-eval.json": ("sample-eval", 2, 2),
    "unrag-docs-support-faq-eval.json": ("support-faq-eval", 6, 3),
    "unrag-sample.json": ("sample", 2, 2),
}
NO_DATASETS = {
    "unrag-config.json": "is not a dataset: expected .* got an object with thresholds, cleanup, ingest",
    "unrag-report-v1.json": "is the report of a run, not a dataset",
    "unrag-summary.md": "expected a file name ending in",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_existing_datasets_load_unchanged(shared, name, recwarn):
    path = shared / "data" / "harness_samples" / name
    content = json.loads(path.read_bytes())
    dataset = load_dataset(path, DOCUMENT)
    assert isinstance(dataset, Dataset)
    documents = None if dataset.corpus is None else len(dataset.corpus)
    assert (dataset.name, len(dataset), documents) == SAMPLES[name]
    assert dataset.metadata["defaults"] == content["defaults"]
    for entry, query in zip(dataset, content["queries"], strict=True):
        assert (entry.query.id, entry.query.text) == (query["id"], query["query"])
        assert list(entry.relevant) == query["relevant"]["sourceIds"]
    for found, item in zip(dataset.corpus or (), content.get("documents", ()), strict=True):
        assert (found.id, found.content) == (item["sourceId"], item["content"])
    assert not recwarn.list


def test_reports_and_configurations_are_refused_and_every_sample_is_tried(shared):
    folder = shared / "data" / "harness_samples"
    for name, said in NO_DATASETS.items():
        with pytest.raises(DatasetError, match=f"{name}: .*{said}"):
            load_dataset(folder / name, DOCUMENT)
    assert {path.name for path in folder.iterdir()} == {*SAMPLES, *NO_DATASETS}


# --- texts that are loaded --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("../secret.md", "leads out of"),
        ("link.md", "leads out of"),
        ("/etc/hosts", "leads out of"),
        ("none.md", "No such file"),
        ("pipe.md", "is no file"),
        ("empty.md", "stands for ''; expected a text that is not empty"),
    ],
)
def test_a_reference_that_leads_to_nothing_is_refused_by_its_place(tmp_path, reference, said):
    root = tmp_path / "texts"
    root.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(root / "pipe.md")
    (root / "empty.md").touch()
    content = harness(documents=[{"sourceId": SUPPORT, "loaderRef": reference}])
    with pytest.raises(DatasetError, match=rf"\$\.documents\[0\]\.loaderRef: '{reference}'.*{said}") as caught:
        loaded(tmp_path, content, loader=folder_loader(root))
    assert "secret\n" not in str(caught.value)
