"""Processes that are killed while they generate questions: no finished call is made again, and the next completes."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import openai
import pytest

from rag_evaluation_framework import Corpus, TokenLevelDataGenerator, load_dataset
from rag_evaluation_framework.authoring.models import (
    CrossDocumentQuestions,
    NoAnswerQuestions,
    RealQuestions,
    SimpleQuestions,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components.llms import KeptAnswers
from rag_evaluation_framework.components.llms.language_model import answer_key
from rag_evaluation_framework.testing import LoopbackProviders
from support.nightly import nightly
from support.scripted_llm import ScriptedModel

pytestmark = [pytest.mark.no_cover, pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")]

ROUTE = "POST /v1/chat/completions"
DOCUMENTS, QUESTIONS, AT_ONCE = 8, 3, 4
SIMPLE = "embedder=None"
ALL = """strategies=[
    authoring.SimpleQuestions(), authoring.CrossDocumentQuestions(),
    authoring.NoAnswerQuestions(), authoring.RealQuestions(("what answers 3",)),
]"""
FILE = Path(".rag-eval/datasets/mine.json")
LIFE = f"""
import warnings
from openai import OpenAI
from rag_evaluation_framework import Corpus, TokenLevelDataGenerator, authoring
generator = TokenLevelDataGenerator(OpenAI(), Corpus.from_folder("docs"), max_concurrency={AT_ONCE}, OPTIONS)
warnings.simplefilter("ignore")
generator.generate({QUESTIONS}, upload_to_langsmith=False, dataset_name="mine")
"""
STRATEGIES = [
    SimpleQuestions(),
    CrossDocumentQuestions(),
    NoAnswerQuestions(),
    RealQuestions(("what answers 3",)),
]


@pytest.fixture
def model():
    """The wire protocol of a model that is scripted, and a little slow."""
    with LoopbackProviders(ScriptedModel()) as providers:
        providers.fault(ROUTE, delay=0.01, times=None)
        yield providers


def in_folder(folder):
    for number in range(DOCUMENTS):
        path = folder / "docs" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"The answer {number} to {turn} is {number * turn}.\n" for turn in range(QUESTIONS)))
    return folder


def keys(model, first=0):
    """Return what was asked since, by what its answers are found by."""
    asked = [exchange.request.json for exchange in model.exchanges[first:]]
    return Counter(answer_key({"address": f"{model.url}/v1", **body}) for body in asked)


def kept(folder, asked):
    answers = KeptAnswers(folder / ".rag-eval")
    return {key for key in asked if answers.get(key)}


def killed(model, folder, life, after, delay):
    """Let a process generate, and kill it a moment after it has made so many requests."""
    before, connections = len(model.exchanges), set(model._server.connections)
    process = subprocess.Popen([sys.executable, "-c", life], cwd=folder, stderr=subprocess.PIPE)
    give_up = time.monotonic() + 60
    while len(model.exchanges) - before < after and process.poll() is None:
        assert time.monotonic() < give_up
        time.sleep(0.0005)
    time.sleep(delay)
    process.kill()
    assert process.communicate(timeout=60)[1] == b""
    while model._server.connections - connections:  # what was under way is recorded
        time.sleep(0.001)
    return process.returncode


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (ALL, 1),
        nightly(SIMPLE, 100),
        nightly(ALL, 25),
    ],
)
def test_after_a_kill_no_finished_call_is_made_again_and_the_next_run_completes(
    model, tmp_path, monkeypatch, options, count
):
    undisturbed, life = in_folder(tmp_path / "undisturbed"), LIFE.replace("OPTIONS", options)
    subprocess.run([sys.executable, "-c", life], cwd=undisturbed, check=True)
    calls = sum(keys(model).values())
    assert calls == len(keys(model)) >= DOCUMENTS * (1 + 2 * QUESTIONS)
    chance, codes = random.Random(21), Counter()
    for turns in range(count):
        folder = in_folder(tmp_path / str(turns))
        monkeypatch.chdir(folder)
        began, there = len(model.exchanges), set()
        for turn in range(2):  # killed, and killed again, the last time while it finishes
            first = len(model.exchanges)
            left = calls - len(there)
            after = chance.randint(1, calls // 2) if turn == 0 else chance.randint(max(left - 6, 1), max(left, 1))
            codes[killed(model, folder, life, after, chance.random() * 0.03)] += 1
            asked = keys(model, first)
            assert not there & set(asked)
            there |= kept(folder, asked)
            assert len(set(asked) - there) <= AT_ONCE
            if FILE.exists():
                assert FILE.read_bytes() == (undisturbed / FILE).read_bytes()
        first = len(model.exchanges)
        with collect_notes() as notes:
            corpus, client = Corpus.from_folder("docs"), openai.OpenAI()
            given = {"strategies": STRATEGIES} if options == ALL else {"embedder": None}
            generator = TokenLevelDataGenerator(client, corpus, max_concurrency=AT_ONCE, **given)
            dataset = generator.generate(QUESTIONS, upload_to_langsmith=False, dataset_name="mine")
        assert not any("damaged" in text or "cannot be" in text for text in notes)
        assert options == ALL or notes == []
        assert not there & set(keys(model, first))
        assert sum(keys(model, first).values()) == calls - len(there)
        assert max(keys(model, began).values()) <= 3  # each life had it under way
        left = {path.name for path in FILE.parent.iterdir() if path.suffix}
        assert left == {FILE.name, "mine.texts"}
        assert FILE.read_bytes() == (undisturbed / FILE).read_bytes()
        assert load_dataset(FILE, corpus=dataset.corpus).content_hash == dataset.content_hash
    assert codes[-9] >= count
