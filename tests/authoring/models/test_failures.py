"""Requests that fail: one loses its questions, a provider that is away ends the asking, another run completes."""

import json
from pathlib import Path

import pytest

from rag_evaluation_framework import TokenLevelDataGenerator, load_dataset
from rag_evaluation_framework.authoring.people import ReviewSession, SavedFile
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components.llms import LanguageModel
from rag_evaluation_framework.errors import ConfigError, ProviderRefused, ProviderUnavailable
from support.scripted_llm import ScriptedModel

CHAT = "POST /v1/chat/completions"
FOLDER = Path(".rag-eval/datasets")


def generator_of(client, corpus, **options):
    model = LanguageModel(client, "a-model", max_retries=0)
    given = {"embedder": None, "max_concurrency": 1, **options}
    return TokenLevelDataGenerator(model, corpus, **given)


def generate(client, corpus, **options):
    generator = generator_of(client, corpus, **options)
    with collect_notes() as notes:
        dataset = generator.generate(2, False, "mine")
    return generator, dataset, [*notes]


def incomplete(served, pages, **options):
    """A dataset of six questions without the two whose quotes the provider failed to bring."""
    providers, client = served()
    providers.fault(CHAT, status=500, times=2, after=4)
    generator, dataset, _ = generate(client, pages, **options)
    assert len(dataset) == 4
    return providers, client, generator


def test_failed_requests_are_told_and_what_fails_again_may_bring_more_and_is_completed_later(served, pages):
    providers, client, generator = incomplete(served, pages)
    (failed,) = generator.failed
    assert (failed.asking, failed.error, failed.status) == ("Asking for quotes", "ProviderUnavailable", 500)
    assert len(failed.messages) == 2
    assert "status 500" in failed.messages[0]
    assert load_dataset(generator.path).metadata["generation"]["failed_requests"] == 2
    providers.fault(CHAT, status=500, times=1)
    assert len(generate(client, pages)[1]) == 5
    generator, dataset, _ = generate(client, pages)
    assert (generator.path, len(dataset)) == (FOLDER / "mine.json", 6)


def test_answers_that_cannot_be_used_lose_their_questions_and_are_asked_for_again(served, pages):
    providers, client = served(ScriptedModel(quote=lambda sentence, request: "I would rather not."))
    generator, dataset, _ = generate(client, pages)
    (failed,) = generator.failed
    assert (len(dataset), len(failed.messages), failed.error) == (0, 6, "InvalidAnswer")
    asked = providers.exchanges[:]
    assert generate(client, pages)[0].failed[0].error == "InvalidAnswer"
    assert len(asked) < len(providers.exchanges) < 2 * len(asked)


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize(("status", "most"), [(401, 1), (402, 1), (404, 1), (429, 1), (403, 3), (500, 3)])
def test_where_no_other_request_would_be_answered_nothing_else_is_asked(served, pages, status, most, at_once):
    providers, client = served()
    providers.fault(CHAT, status=status, times=None, after=4)
    with pytest.raises(
        (ProviderRefused, ProviderUnavailable), match=f"status {status}.* no dataset was made"
    ) as caught:
        generate(client, pages, max_concurrency=at_once)
    assert caught.value.status == status
    assert "What was answered is in .rag-eval/cache/answers" in str(caught.value)
    assert len(providers.exchanges) <= 4 + most - 1 + at_once
    assert not FOLDER.exists()
    providers.clear_faults()
    asked = len(providers.exchanges)
    assert len(generate(client, pages, max_concurrency=at_once)[1]) == 6
    assert len(providers.exchanges) == asked + 3 + 6 + 6 - 4


def test_where_answers_cannot_be_kept_asking_stops(served, pages):
    """A full disk: what is asked for now would be paid for again."""
    providers, client = served()
    Path(".rag-eval/cache").mkdir(parents=True)
    Path(".rag-eval/cache/answers").write_text("")
    generator = generator_of(client, pages)
    with collect_notes(), pytest.raises(ConfigError, match=r"answers cannot be kept .*; nothing else was asked"):
        generator.generate(2, False)
    assert len(providers.exchanges) == 1
    Path(".rag-eval/cache/answers").unlink()
    with collect_notes():
        assert len(generator.generate(2, False)) == 6


def test_of_few_requests_all_have_to_fail(served, pages):
    providers, client = served()
    providers.fault(CHAT, status=503, times=1)
    assert len(generate(client, type(pages)(pages.documents[:2]))[1]) == 2
    providers.fault(CHAT, status=503, times=None)
    with pytest.raises(ProviderUnavailable, match="no dataset was made"):
        generate(client, type(pages)(pages.documents[2:]))


def test_what_is_answered_between_begins_a_new_row_and_a_text_that_is_refused_is_in_none(served, pages):
    providers, client = served()
    for status, after in ((503, 3), (503, 4), (400, 5), (400, 6), (400, 7)):
        providers.fault(CHAT, status=status, times=1, after=after)
    providers.fault(CHAT, status=503, times=2, after=9)
    generator, dataset, _ = generate(client, pages)
    assert 0 < len(dataset) == generator.funnel.kept < 6


@pytest.mark.parametrize("upload", [False, True])
def test_what_is_completed_takes_the_place_of_what_was_incomplete(served, pages, upload):
    providers, client = served(langsmith=True)
    providers.fault(CHAT, status=500, times=2, after=4)
    with collect_notes() as notes:
        generator_of(client, pages).generate(2, upload, "mine")
        generator = generator_of(client, pages)
        dataset = generator.generate(2, upload, "mine")
    assert not [note for note in notes if "other questions" in note]
    assert (generator.path, len(dataset), generator.failed) == (FOLDER / "mine.json", 6, ())
    assert load_dataset(generator.path, corpus=pages).content_hash == dataset.content_hash
    generation = load_dataset(generator.path).metadata["generation"]
    assert generation["failed_requests"] == 0
    assert {path.name for path in FOLDER.iterdir()} == {"mine.json", "mine.texts"}


def reworded(path):
    record = json.loads(path.read_text())
    record["questions"][0]["query"] += "!"
    path.write_text(json.dumps(record))


def reviewed(path):
    session = ReviewSession(SavedFile(path), load_dataset(path))
    session.accept(0)


def removed(path):
    record = json.loads(path.read_text())
    del record["questions"][0]
    path.write_text(json.dumps(record))


def noted(path):
    record = json.loads(path.read_text())
    record["questions"][0]["metadata"]["note"] = "as a customer asked"
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("edited", "documents", "options"),
    [
        (reworded, 3, {}),
        (reviewed, 3, {}),
        (removed, 3, {}),
        (noted, 3, {}),
        (None, 2, {}),
        (None, 3, {"check_answers": False}),
    ],
    ids=["reworded", "reviewed", "removed", "noted", "other documents", "other settings"],
)
def test_what_somebody_has_edited_or_another_generation_left_stays(served, pages, edited, documents, options):
    _, client, generator = incomplete(served, pages)
    if edited is not None:
        edited(generator.path)
    before = generator.path.read_bytes()
    generator, dataset, notes = generate(client, type(pages)(pages.documents[:documents]), **options)
    assert (generator.path, len(dataset)) == (FOLDER / "mine-2.json", 2 * documents)
    assert (FOLDER / "mine.json").read_bytes() == before
    assert any("holds other questions and stays" in note for note in notes)
