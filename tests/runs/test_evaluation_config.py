"""How an evaluation is measured and kept: checked at once, never changed, kept before it is lost."""

import json
import math
from pathlib import Path

import pytest
from pydantic import ValidationError

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    EvaluationConfig,
    ExperimentConfig,
    Query,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    load_result,
    save_dataset,
)
from rag_evaluation_framework.data import Cutoff, QueryId, QueryText
from rag_evaluation_framework.errors import ConfigError, LevelMismatch, TokenizerError
from rag_evaluation_framework.runs import store
from rag_evaluation_framework.testing import FixedRetriever
from rag_evaluation_framework.text.tokenizers import CallableTokenizer
from support.each import each

# --- values -----------------------------------------------------------------------------------------------------------


def test_values_are_normalised_to_one_form():
    assert EvaluationConfig(budgets=["9ch", Cutoff(7, "ch", True)]).budgets == (Cutoff(9, "ch"), Cutoff(7, "ch", True))
    assert EvaluationConfig(budgets=(f"{size}ch" for size in (3, 4))).budgets == (Cutoff(3, "ch"), Cutoff(4, "ch"))
    assert EvaluationConfig(budgets=[]).budgets == ()
    for given in ("failed", ["failed"], {"failed"}, ("failed", "failed"), iter(["failed"])):
        assert EvaluationConfig(count_as_zero=given).count_as_zero == {"failed"}
    assert EvaluationConfig(tokenizer=str.split).tokenizer == CallableTokenizer(str.split)
    assert EvaluationConfig(save_results_path="kept").save_results_path == Path("kept")
    assert EvaluationConfig(save_results_path=Path("kept")).save_results_path == Path("kept")


@each(
    ("options", "error", "message"),
    [
        ({"experiment_name": ""}, ConfigError, "experiment_name: .*at least 1 character, got ''"),
        ({"experiment_name": 5}, ConfigError, "experiment_name: expected a text, got 5"),
        ({"budgets": "4000ch"}, ConfigError, r"expected a list such as \['4000ch'\]"),
        ({"budgets": 4000}, ConfigError, r"budgets=4000: expected a list"),
        ({"budgets": None}, ConfigError, r"budgets=None: expected a list such as .* or \[\] for none"),
        ({"budgets": ["4000"]}, ConfigError, r"budget '4000': expected characters \(4000ch\)"),
        ({"budgets": [4000]}, ConfigError, "budget '4000'"),
        ({"budgets": ["0ch"]}, ConfigError, "budget '0ch': expected a whole number of at least 1"),
        ({"budgets": [None]}, ConfigError, "cutoff None"),
        ({"budgets": ["9ch", Cutoff(9, "ch")]}, ConfigError, "cutoff '9ch' is given twice"),
        ({"budgets": ["9tok"]}, ConfigError, "tokenizer='cl100k_base'"),
        ({"budgets": ["9tok_whole"]}, ConfigError, "tokenizer='cl100k_base'"),
        ({"tokenizer": 5}, TokenizerError, "5 is not a valid tokenizer"),
        ({"tokenizer": "no_such_model"}, TokenizerError, "no_such_model"),
        ({"count_as_zero": ["unsure"]}, ConfigError, "count_as_zero: .* 'no-answer' or 'failed', got 'unsure'"),
        ({"count_as_zero": "scored"}, ConfigError, "count_as_zero: .* 'no-answer' or 'failed', got 'scored'"),
        ({"count_as_zero": None}, ConfigError, "count_as_zero: expected a list, got None"),
        ({"count_as_zero": 5}, ConfigError, "count_as_zero: expected a list, got 5"),
        ({"count_as_zero": [["failed"]]}, ConfigError, r"count_as_zero: .* 'no-answer' or 'failed', got \['failed'\]"),
        ({"save_results_path": 5}, ConfigError, "save_results_path: expected a path, got 5"),
        *(
            ({"on_error": given}, ConfigError, "on_error: .*'collect' or 'raise'")
            for given in ("stop", None, True, "RAISE")
        ),
        *(({"timeout": given}, ConfigError, "timeout=") for given in (0, -1, math.nan, math.inf, True, "5")),
        *(({"max_concurrency": given}, ConfigError, "max_concurrency") for given in (0, -1, "4", 2.5, True)),
        ({"experiment_name": 5, "count_as_zero": "scored"}, ConfigError, "experiment_name: .*got 5; .*'scored'"),
    ],
)
def test_an_invalid_value_is_refused_in_one_line(options, error, message):
    with pytest.raises(error, match=message) as caught:
        EvaluationConfig(**options)
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)


def test_anything_but_an_evaluation_config_is_refused():
    for given in ({"budgets": []}, "config", EvaluationConfig):
        with pytest.raises(ConfigError, match="expected an EvaluationConfig"):
            ExperimentConfig(FixedRetriever(), span_dataset(), config=given)


@pytest.mark.parametrize(
    "field", ["experiment_name", "budgets", "tokenizer", "count_as_zero", "save_results_path", "k"]
)
def test_a_config_cannot_be_changed(field):
    config = EvaluationConfig()
    with pytest.raises((ValidationError, ValueError, AttributeError)):
        setattr(config, field, None)
    assert config == EvaluationConfig()


def test_configs_are_equal_if_they_say_the_same():
    given = {"experiment_name": "x", "budgets": ["3tok"], "tokenizer": str.split, "count_as_zero": ["failed"]}
    assert EvaluationConfig(**given) == EvaluationConfig(**given)
    assert hash(EvaluationConfig(**given)) == hash(EvaluationConfig(**given))
    for other in (
        {"experiment_name": "y"},
        {"budgets": ["4tok"]},
        {"tokenizer": list},
        {"count_as_zero": []},
        {"save_results_path": "kept"},
    ):
        assert EvaluationConfig(**{**given, **other}) != EvaluationConfig(**given)


# --- one experiment, written in three ways ----------------------------------------------------------------------------

TEXTS = {
    "billing.md": "Invoices come monthly. Refunds take five days.",
    "start.md": "Install the agent. Restart it once.",
}
CORPUS = Corpus((Document(DocumentId(name), text) for name, text in TEXTS.items()), {"source": "docs"})
EVALUATIONS = {
    "document-level": DocumentLevelEvaluation,
    "chunk-level": ChunkLevelEvaluation,
    "token-level": TokenLevelEvaluation,
}
LEVELS = {"document-level": DOCUMENT, "chunk-level": CHUNK, "token-level": TOKEN}


def span_dataset(corpus=CORPUS):
    places = {"Refunds?": [("billing.md", 23, 46)], "Install agent": [("start.md", 0, 18)], "Chief?": []}
    return Dataset(
        (
            TokenLevelGroundTruth(
                Query(QueryId(text), QueryText(text)),
                [CharacterSpan(DocumentId(doc_id), start, end) for doc_id, start, end in spans],
            )
            for text, spans in places.items()
        ),
        TOKEN,
        corpus=corpus,
        name="questions",
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(text)
    save_dataset(span_dataset(), tmp_path / "questions.json")
    return tmp_path


# --- keeping results --------------------------------------------------------------------------------------------------


def run(level, **options):
    config = EvaluationConfig(budgets=["30ch"], **options)
    return EVALUATIONS[level](CORPUS, span_dataset()).run(retriever=BM25Retriever(), config=config)


@pytest.mark.parametrize("level", EVALUATIONS)
def test_what_was_saved_at_any_level_is_loaded_equal_and_at_no_other_level(tmp_path, level):
    result = run(level)
    folder = result.save(tmp_path / "run")
    for again in (load_result(folder), load_result(folder, LEVELS[level]), load_result(folder / "report.json")):
        assert again == result
        assert again.evaluation_type == level
        assert again.folder == folder
        assert again.metrics == result.metrics
        assert again.compare(result).delta(result.score_names[0]) == 0.0
        assert [type(unit) for unit in again.queries[0].relevant] == [type(unit) for unit in result.queries[0].relevant]
    second = load_result(folder).save(tmp_path / "again")
    for file in folder.iterdir():
        assert (second / file.name).read_bytes() == file.read_bytes()
    for other in LEVELS.keys() - {level}:
        with pytest.raises(LevelMismatch, match=f"is {level}, expected {other}"):
            load_result(folder, LEVELS[other])


def test_spans_that_no_chunk_touches_survive_saving(tmp_path):
    first = span_dataset().ground_truth[0]
    silent = Dataset([first], TOKEN, corpus=CORPUS)

    class Elsewhere(FixedRetriever):
        def chunks(self):
            return []

    result = ChunkLevelEvaluation(CORPUS, silent).run(retriever=Elsewhere())
    assert load_result(result.save(tmp_path / "run")) == result


@pytest.mark.parametrize("level", EVALUATIONS)
def test_a_result_is_saved_where_the_config_says_and_knows_its_folder(tmp_path, level):
    result = run(level, save_results_path=tmp_path / "deep" / "kept")
    assert result.folder is not None
    assert result.folder.parent == tmp_path / "deep" / "kept" / "runs"
    assert load_result(result.folder) == result
    assert load_result(result.folder).folder == result.folder
    assert run(level).folder is None


@pytest.mark.parametrize("taken", ["kept", "kept/runs"])
def test_a_save_path_that_is_a_file_is_refused_before_any_work(tmp_path, taken):
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("mine")
    retriever = FixedRetriever()
    with pytest.raises(ConfigError, match=f"results are to be saved in .*kept, but .*{taken} is a file"):
        TokenLevelEvaluation(CORPUS, span_dataset()).run(
            retriever=retriever, config=EvaluationConfig(save_results_path=tmp_path / "kept")
        )
    assert retriever.calls == []
    assert (tmp_path / taken).read_text() == "mine"


def test_a_save_path_that_is_not_writable_is_refused_before_any_work(tmp_path, monkeypatch):
    asked = []

    def refuse(place):
        asked.append(Path(place))
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store, "temporary_folder", refuse)  # the tests may run as a user to whom everything is allowed
    retriever = FixedRetriever()
    with pytest.raises(ConfigError, match=r": not writable \(Permission denied\); choose another folder"):
        TokenLevelEvaluation(CORPUS, span_dataset()).run(
            retriever=retriever, config=EvaluationConfig(save_results_path=tmp_path / "kept")
        )
    assert (retriever.calls, asked) == ([], [tmp_path])


def test_settings_survive_json():
    settings = EvaluationConfig(
        experiment_name="mine",
        budgets=["4000ch", "10ch_whole"],
        count_as_zero=["failed"],
        on_error="raise",
        save_results_path="kept",
        sinks=["langsmith:dataset=handbook"],
    )
    text = settings.model_dump_json()
    assert EvaluationConfig.model_validate_json(text) == settings
    assert json.loads(text)["budgets"] == ["4000ch", "10ch_whole"]
    assert json.loads(text)["on_error"] == "raise"
    assert json.loads(EvaluationConfig(tokenizer=str.split).model_dump_json())["tokenizer"] == "str.split"
    assert set(EvaluationConfig.model_json_schema()["properties"]) == set(json.loads(text))
