"""Where generated datasets go: the local store by their name, and LangSmith if it is configured."""

import json
from pathlib import Path

import pytest

from rag_evaluation_framework import TokenLevelDataGenerator, TokenLevelEvaluation, load_dataset
from rag_evaluation_framework.base.notes import collect_notes
from support.scripted_llm import ScriptedModel

FOLDER = Path(".rag-eval/datasets")
DEFAULT = "rag-eval-token-level-v1"


def generate(client, corpus, name=None, upload=False, **options):
    generator = TokenLevelDataGenerator(client, corpus, **{"embedder": None, **options})
    with collect_notes() as notes:
        dataset = generator.generate(2, upload, name)
    return generator, dataset, [*notes]


@pytest.mark.parametrize(("name", "saved_as"), [("mine", "mine"), (None, DEFAULT)])
def test_a_dataset_is_saved_once_by_its_name_or_that_of_the_level_and_found_by_it(served, pages, name, saved_as):
    _, client = served()
    generator, dataset, notes = generate(client, pages, name)
    assert (generator.path, dataset.name) == (FOLDER / f"{saved_as}.json", saved_as)
    assert load_dataset(generator.path, corpus=pages) == dataset
    assert TokenLevelEvaluation(pages, langsmith_dataset_name=saved_as).publishes_to is None
    assert notes == []
    before = generator.path.stat().st_ino, generator.path.stat().st_mtime_ns
    assert generate(client, pages, name)[0].path == generator.path  # the same questions leave it as it is
    assert (generator.path.stat().st_ino, generator.path.stat().st_mtime_ns) == before
    assert {each.name for each in FOLDER.iterdir()} == {f"{saved_as}.json", f"{saved_as}.texts"}


@pytest.mark.parametrize("there", ["other questions", "no dataset", "another level"])
def test_another_file_of_the_name_stays_and_the_new_one_has_a_name_of_its_own(served, pages, there):
    _, client = served()
    FOLDER.mkdir(parents=True)
    if there == "other questions":
        generate(client, pages, check_answers=False)
        _, client = served(ScriptedModel(questions=lambda answer, request: {"questions": answer["questions"][:1]}))
    else:
        record = {"schema_version": 1, "evaluation_type": "document-level", "questions": []}
        (FOLDER / f"{DEFAULT}.json").write_text("{" if there == "no dataset" else json.dumps(record))
    before = (FOLDER / f"{DEFAULT}.json").read_bytes()
    generator, dataset, notes = generate(client, pages)
    assert (FOLDER / f"{DEFAULT}.json").read_bytes() == before
    assert (generator.path, dataset.name) == (FOLDER / f"{DEFAULT}-2.json", f"{DEFAULT}-2")
    assert f"{FOLDER / DEFAULT}.json holds other questions and stays; the new ones are in {generator.path}" in notes
    assert load_dataset(generator.path, corpus=pages).name == f"{DEFAULT}-2"
    assert generate(client, pages)[0].path == generator.path


def test_a_dataset_without_questions_is_not_saved(served, pages):
    _, client = served(ScriptedModel(verdict=lambda question: {"answer": "no"}))
    generator, dataset, notes = generate(client, pages, upload=True)
    assert (len(dataset), generator.path, FOLDER.exists()) == (0, None, False)
    assert len(notes) == 1


def test_it_is_pushed_to_langsmith_and_evaluations_by_its_name_publish_there(served, pages):
    providers, client = served(langsmith=True)
    generator, dataset, notes = generate(client, pages, "mine", upload=True)
    assert notes == []
    (pushed,) = providers.langsmith.datasets.values()
    assert len(pushed.examples) == len(dataset) == 6
    assert generator.langsmith_url
    assert TokenLevelEvaluation(pages, langsmith_dataset_name="mine").publishes_to == "mine"
    assert load_dataset(generator.path, corpus=pages).content_hash == dataset.content_hash


def test_a_dataset_that_was_saved_before_is_pushed_later(served, pages):
    _, client = served()
    path = generate(client, pages, "mine", upload=False)[0].path
    providers, client = served(langsmith=True)
    generator, _, notes = generate(client, pages, "mine", upload=True, root=path.parent.parent)
    assert generator.path == path
    assert list(providers.langsmith.datasets) == ["mine"]
    assert notes == []
    creating = [
        exchange
        for exchange in providers.exchanges
        if exchange.route.startswith("POST") and "examples" in exchange.route
    ]
    state = path.read_bytes()
    generate(client, pages, "mine", upload=True)
    again = [
        exchange
        for exchange in providers.exchanges
        if exchange.route.startswith("POST") and "examples" in exchange.route
    ]
    assert (len(again), path.read_bytes()) == (len(creating), state)


@pytest.mark.parametrize("is_there", [False, True], ids=["not configured", "refusing"])
def test_without_langsmith_that_is_noted_and_the_dataset_is_here(served, pages, is_there):
    providers, client = served(langsmith=is_there)
    providers.fault("GET /datasets", status=403, times=None)
    generator, dataset, notes = generate(client, pages, "mine", upload=True)
    assert len(dataset) == 6
    assert (generator.langsmith_url, generator.path.exists()) == (None, True)
    (note,) = notes
    assert note.startswith(f"the dataset is in {generator.path}, and not in LangSmith: ")
    assert ("LANGSMITH_API_KEY" in note) is not is_there
    assert TokenLevelEvaluation(pages, langsmith_dataset_name="mine").publishes_to is None
    assert is_there or {exchange.route for exchange in providers.exchanges} == {"POST /v1/chat/completions"}


def test_other_questions_in_langsmith_stay_and_that_is_noted(served, pages):
    _, client = served(langsmith=True)
    generate(client, pages, "mine", upload=True, root="elsewhere")
    smaller = type(pages)([pages.documents[0]])
    _, _, notes = generate(client, smaller, "mine", upload=True)
    assert any("only in LangSmith; the latter stay" in note for note in notes)
