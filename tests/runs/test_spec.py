"""One description of a run: its fields make the keys of files, the options, the schema and the keywords."""

import json
import re
from pathlib import Path
from typing import get_type_hints

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from rag_evaluation_framework import (
    ChunkLevelExperimentConfig,
    DocumentLevelExperimentConfig,
    EvaluationConfig,
    ExperimentConfig,
    evaluate,
)
from rag_evaluation_framework.base import docstrings
from rag_evaluation_framework.cli.run_options import key_options
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.runs import Asking, RunSpec, load_config, parse_config, retrieve
from rag_evaluation_framework.runs.config import AskingFields, EvaluationFields, Measuring

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/run.schema.json").read_text(encoding="utf-8"))
IN_THE_GUIDE = [
    YAML(typ="safe").load(block)
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for block in re.findall(r"```yaml[^\n]*\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    if re.search(r"^(corpus|dataset): ", block, re.MULTILINE)
]


def test_the_published_schema_is_what_the_fields_say():
    assert {key: value for key, value in SCHEMA.items() if key != "$schema"} == RunSpec.model_json_schema()


def test_the_schema_accepts_every_configuration_of_the_guide_that_is_accepted():
    checker, accepted = Draft202012Validator(SCHEMA), 0
    for content in IN_THE_GUIDE:
        try:
            parse_config(content, "the guide")
        except ConfigError:
            assert not checker.is_valid(content), content
        else:
            accepted += 1
            assert checker.is_valid(content), [*checker.iter_errors(content)]
    assert accepted >= 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"datset": "x"},
        {"k": ["five"]},
        {"timeout": -1},
        {"max_concurrency": 0},
        {"budgets": "4000ch"},
        {"mode": "both"},
    ],
    ids=str,
)
def test_the_schema_refuses_what_is_refused(wrong):
    content = {"corpus": "docs", "dataset": "questions.csv", **wrong}
    assert not Draft202012Validator(SCHEMA).is_valid(content)
    with pytest.raises(ConfigError):
        parse_config(content, "x.yaml")


def test_every_option_is_a_key_and_every_key_has_a_description():
    assert {each.key for each in key_options()} <= RunSpec.model_fields.keys()
    assert RunSpec.model_fields.keys() == docstrings(RunSpec).keys()


@pytest.mark.parametrize(
    ("keywords", "fields"), [(AskingFields, Asking), (EvaluationFields, EvaluationConfig)], ids=["asking", "evaluation"]
)
def test_keywords_are_the_fields(keywords, fields):
    assert get_type_hints(keywords).keys() == fields.model_fields.keys()


def test_a_keyword_that_is_no_field_or_has_a_wrong_value_is_refused_before_anything_else():
    with pytest.raises(ConfigError, match=r"max_concurency: unknown key; did you mean max_concurrency\?"):
        evaluate(None, None, max_concurency=2)
    with pytest.raises(ConfigError, match=r"^kk: unknown key; there are k, level, metrics, columns, .*budgets, "):
        evaluate(None, None, kk=3)
    for config in (ExperimentConfig, DocumentLevelExperimentConfig, ChunkLevelExperimentConfig):
        with pytest.raises(ConfigError, match=r"^kk: unknown key; there are .*\bk\b"):
            config(None, None, kk=3)
    with pytest.raises(ConfigError, match=r"^max_concurrency: expected a whole number, got 'many'$") as refused:
        EvaluationConfig(max_concurrency="many")
    assert refused.value.__suppress_context__  # what pydantic says of it is no help
    with pytest.raises(ConfigError, match="timeout=0"):
        retrieve(None, None, [], timeout=0)


def test_what_a_description_refuses_is_told_as_everywhere():
    with pytest.raises(ConfigError, match=r"^datset: unknown key; did you mean dataset\?$"):
        RunSpec(corpus="docs", datset="questions.csv")
    with pytest.raises(ConfigError, match=r"^k: expected a whole number or a list, got 'x'$"):
        RunSpec(k="x")


def test_a_description_is_of_the_working_folder_or_of_one_that_is_given(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Refunds take six working days.")
    (tmp_path / "questions.csv").write_text("question,quote\nHow long?,six working days\n")
    spec = RunSpec(corpus="docs", dataset="questions.csv")
    assert len(spec.experiment(str(tmp_path)).dataset) == 1
    monkeypatch.chdir(tmp_path)
    assert len(spec.experiment().dataset) == 1


def test_a_file_may_name_its_schema(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"$schema": "run.schema.json", "corpus": "docs", "dataset": "questions.csv"}')
    assert load_config(path) == RunSpec(corpus="docs", dataset="questions.csv")


def test_one_status_may_stand_alone_in_a_file_and_in_the_schema():
    content = {"corpus": "docs", "dataset": "questions.csv", "count_as_zero": "failed"}
    assert Draft202012Validator(SCHEMA).is_valid(content)
    assert parse_config(content, "a file").count_as_zero == {"failed"}


def test_a_run_that_is_described_is_measured_as_one_in_python():
    given = {"timeout": 2, "max_concurrency": 3, "on_error": "raise", "batch_queries": False, "budgets": ["9ch"]}
    spec, config = RunSpec(**given), EvaluationConfig(**given)
    assert {name: getattr(spec, name) for name in Measuring.model_fields} == {
        name: getattr(config, name) for name in Measuring.model_fields
    }
