"""What holds of all conformance suites: which there are, where their tests are, and what they ask of a subclass."""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from rag_evaluation_framework import testing
from rag_evaluation_framework.contracts.registry.loading import KINDS
from rag_evaluation_framework.testing.components import assert_named
from support.conformance import assert_every_built_in_is_tested, assert_fails

_TESTS = {
    kind: import_module(f"tests.testing.test_{kind}_conformance")
    for kind in KINDS
    if kind != "sink"  # one call, and any answer
}
_SUITES = [getattr(testing, name) for name in testing.__all__ if name.endswith("Conformance")]


def test_every_kind_of_component_has_a_file_of_tests_and_a_suite_that_the_room_exports_and_that_needs_a_factory():
    files = {path.name for path in Path(__file__).parent.glob("test_*_conformance.py")}
    assert files == {f"test_{kind}_conformance.py" for kind in _TESTS}
    others = {"__init__", "fakes", "loopback_providers"}
    modules = {path.stem for path in Path(testing.__file__).parent.glob("*.py")} - others
    assert {suite.__module__.rpartition(".")[2] for suite in _SUITES} == modules
    for suite in _SUITES:
        with pytest.raises(TypeError, match="make"):
            suite()


@pytest.mark.parametrize("kind", [kind for kind in _TESTS if kind != "engine"])  # of which there is one, behind a port
def test_every_built_in_component_has_a_conformance_test(kind):
    assert_every_built_in_is_tested(kind, vars(_TESTS[kind]))


@pytest.mark.parametrize("kind", _TESTS)
def test_a_broken_component_fails_its_suite(kind):
    """A suite that no component can fail proves nothing: each of these breaks one promise."""
    for suite, cases in _TESTS[kind].BROKEN.items():
        for broken, test in cases:
            assert_fails(suite, broken, test)


def test_a_component_is_called_by_one_line_of_text_that_stays():
    def called(name):
        return SimpleNamespace(name=name)

    assert_named(called("bm25"), called("bm25"))
    for first, second in ((" ", " "), ("a\nb", "a\nb"), ("one", "another")):
        with pytest.raises(AssertionError):
            assert_named(called(first), called(second))
