"""What LangSmith's SDK says of publications is kept back, and nothing of others: not their output, not their logs."""

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
import warnings
from contextlib import closing

import pytest

from rag_evaluation_framework import TokenLevelEvaluation
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import publish_experiment, push_dataset
from support.published import CORPUS, NAME, published_dataset, published_result, quick_client, retrieve


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        push_dataset(published_dataset(), NAME)
        yield opened


def state():
    """What of the process a publication could change for others."""
    loggers = [logging.getLogger(), *map(logging.getLogger, ("langsmith", "langsmith.client"))]
    return (
        sys.stdout,
        sys.stderr,
        [(logger.level, logger.disabled, list(logger.handlers)) for logger in loggers],
        logging.root.manager.disable,
        list(warnings.filters),
        warnings.showwarning,
    )


@pytest.mark.parametrize("delays", [(0.1, 0.4), (0.4, 0.1)])
def test_two_evaluations_side_by_side_leave_the_process_as_it_was(providers, tmp_path, delays, capsys):
    evaluation = TokenLevelEvaluation(CORPUS, langsmith_dataset_name=NAME, root=tmp_path)
    before = state()
    for delay in delays:
        providers.fault("POST /sessions", delay=delay)

    async def both():
        runs = (evaluation.arun(retriever=retrieve, k=k) for k in (1, 2))
        return await asyncio.gather(*runs)

    first, second = asyncio.run(both())
    assert state() == before
    assert (first.raw_results.complete, second.raw_results.complete) == (True, True)
    assert capsys.readouterr() == ("", "")


def test_what_other_threads_print_while_something_is_published_is_printed(providers, capsys):
    providers.fault("POST /sessions", delay=0.5)
    providers.fault("POST /runs/multipart", delay=0.3)
    publication = threading.Thread(target=publish_experiment, args=(published_result(), NAME))
    publication.start()
    ticks = 0
    while publication.is_alive():
        print("tick", ticks)
        print("tock", ticks, file=sys.stderr)
        ticks += 1
        time.sleep(0.02)
    publication.join()
    assert ticks > 10
    assert capsys.readouterr() == (
        "".join(f"tick {tick}\n" for tick in range(ticks)),
        "".join(f"tock {tick}\n" for tick in range(ticks)),
    )


def test_nothing_is_printed_and_others_show_and_log_what_they_always_do(providers, capfd, caplog):
    publish_experiment(published_result(), NAME)
    assert capfd.readouterr() == ("", "")
    providers.fault("POST /runs/multipart", status=422, times=None)
    with closing(quick_client()) as client:
        client.evaluate(lambda inputs: inputs, data=NAME, evaluators=[]).wait()
        client.flush()
    out, err = capfd.readouterr()
    assert "View the evaluation results for experiment" in out
    assert "8it" in err
    assert "multipart ingest" in caplog.text


def test_a_failed_question_and_a_loss_are_not_logged_but_told(providers, caplog, capfd):
    providers.fault("POST /runs/multipart", status=422, times=None)
    told = publish_experiment(published_result(), NAME, patience=0.1)
    assert "422 Client Error" in told.problems[0]
    with closing(quick_client()) as client:
        publish_experiment(published_result(name="theirs"), NAME, client=client, patience=0.1)
    assert "multipart ingest" in caplog.text  # of theirs, which is theirs to configure
    assert "Error running target function" not in caplog.text
    assert capfd.readouterr() == ("", "")


def command(*arguments, **environment):
    run = [sys.executable, "-P", "-m", "rag_evaluation_framework", *arguments]
    return subprocess.run(
        run, capture_output=True, text=True, env={**os.environ, **environment}, timeout=60, check=False
    )


@pytest.mark.parametrize("login", ["", "user:pwpwpw@"])
def test_nothing_is_logged_after_the_one_line_of_an_address_where_nobody_is(login, providers, tmp_path):
    folder = published_result().save(tmp_path / "run")
    done = command("publish", str(folder), NAME, LANGSMITH_ENDPOINT=f"http://{login}127.0.0.1:9")
    assert done.returncode == 2
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert done.stderr.startswith("error: LangSmith at http://")
    assert "no answer" in done.stderr
    assert "pwpwpw" not in done.stderr


def test_nothing_is_logged_by_the_threads_of_a_client_that_is_closed(caplog, monkeypatch):
    with LoopbackProviders() as opened:
        result, environment = published_result(), dict(opened.environment)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    before = set(threading.enumerate())
    with pytest.raises(ProviderError, match="no answer"):
        publish_experiment(result, NAME)
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("langsmith")] == []
