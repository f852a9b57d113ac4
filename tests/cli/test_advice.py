"""Advice that names parameters, on a command line that has options."""

import pytest

from rag_evaluation_framework.cli import generate
from rag_evaluation_framework.cli.generate import advising_on_options, as_options
from rag_evaluation_framework.errors import ConfigError, InvalidAnswer, RagEvalError


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("give one, such as relevance_threshold=0.2", "give one, such as --relevance-threshold 0.2"),
        ("or give another embedder=", "or give another --embedder"),
        ("dataset_name='a/b'; expected a name", "--name 'a/b'; expected a name"),
        ("give it more (max_tokens), or ask for less", "give it more (--max-tokens), or ask for less"),
        ("my_embedder=3 and the embedder", "my_embedder=3 and the embedder"),
    ],
)
def test_parameters_are_named_as_options(told, expected):
    assert as_options(told) == expected


def test_every_option_that_is_named_exists(rag_eval, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = rag_eval("generate", "--help").out.split()
    assert {as_options(f"{name}=") for name in generate._PARAMETERS} <= {*shown}


@pytest.mark.parametrize("kind", [ConfigError, InvalidAnswer])
def test_errors_name_options(kind):
    with pytest.raises(RagEvalError, match=r"^--max-tokens 0 is too low$"), advising_on_options():
        raise kind("max_tokens=0 is too low")
