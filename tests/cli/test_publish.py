"""`rag-eval publish`: a run becomes an experiment in LangSmith."""

import pytest

from rag_evaluation_framework.runs import load_result
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import push_dataset
from support.published import NAME, is_there_once, published_dataset, published_result


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        push_dataset(published_dataset(), NAME)
        yield opened


@pytest.fixture
def saved(folder):
    """A run in the store."""
    return published_result().save()


def test_a_run_is_published_and_its_address_is_kept(rag_eval, providers, saved):
    outcome = rag_eval("publish", "last", NAME)
    assert (outcome.code, outcome.err) == (0, "")
    result = load_result(saved)
    experiment = is_there_once(providers, result)
    told, address = outcome.out.splitlines()
    assert told == f"experiment {experiment.name} in LangSmith: 8 of 8 runs and 36 of 36 scores are there"
    assert address == result.experiment_url
    again = rag_eval("publish", saved, NAME)
    assert again.code == 0
    assert load_result(saved).experiment_url == again.out.splitlines()[1] != address


def test_what_did_not_arrive_is_told_and_the_code_is_2(rag_eval, providers, saved):
    providers.fault("POST /runs/multipart", status=422, times=None)
    outcome = rag_eval("publish", "last", NAME)
    assert outcome.code == 2
    assert outcome.err.startswith("error: experiment ")
    assert "is incomplete: 0 of 8 runs and 0 of 36 scores are there" in outcome.err
    providers.clear_faults()
    assert rag_eval("publish", "last", NAME).code == 0
    is_there_once(providers, load_result(saved))
