"""Other people's code may raise anything: what becomes of it."""

import pytest

from rag_evaluation_framework.base.exits import errors_as, on_failure, outcome
from rag_evaluation_framework.errors import ConfigError, DatasetError


class Odd(BaseException):
    pass


def raising(error):
    def call():
        raise error

    return call


@pytest.mark.parametrize("error", [ValueError("a"), SystemExit(0), Odd(), ConfigError("b"), GeneratorExit()])
def test_whatever_a_call_raises_is_handed_to_who_makes_a_value_of_it(error):
    assert outcome(raising(error), lambda caught: [caught]) == [error]
    assert outcome(lambda: 1, pytest.fail) == 1


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), BaseExceptionGroup("several", [ValueError(), KeyboardInterrupt()])]
)
def test_an_interrupt_is_no_outcome(error):
    with pytest.raises(KeyboardInterrupt):
        outcome(raising(error), lambda _: None)


def test_errors_of_others_are_made_ours_and_all_else_passes():
    cause = ZeroDivisionError("c")
    with pytest.raises(ConfigError, match=r"^it raised c$") as made, errors_as(lambda e: ConfigError(f"it raised {e}")):
        raise cause
    assert made.value.__cause__ is cause
    for error in (DatasetError("of ours"), SystemExit(0), KeyboardInterrupt(), Odd()):
        with pytest.raises(type(error)) as passed, errors_as(lambda e: ConfigError(f"it raised {e}")):
            raise error
        assert passed.value is error


@pytest.mark.parametrize("error", [ValueError("a"), StopIteration(), SystemExit(0), KeyboardInterrupt(), Odd()])
def test_what_is_to_be_done_on_a_failure_is_done_before_it_is_raised(error):
    seen = []
    with pytest.raises(type(error)) as passed, on_failure(seen.append):
        raise error
    assert passed.value is error
    assert seen == [error]
    with on_failure(seen.append):
        pass
    assert seen == [error]
