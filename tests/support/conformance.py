"""What the tests of all conformance suites ask: that nothing built in is left out, and that a suite can fail."""

import inspect

import pytest

from rag_evaluation_framework.contracts.registry.building import load
from rag_evaluation_framework.contracts.registry.loading import built_in, components


def assert_every_built_in_is_tested(kind, namespace):
    """Check that the built-in components of a kind each have a subclass of a suite among these names of a module.

    Those that are named otherwise are tested elsewhere.
    """
    suites = [value for name, value in namespace.items() if name.startswith("Test") and inspect.isclass(value)]
    tested = {getattr(suite, "kind", None) or type(suite().make()) for suite in suites}
    assert {load(kind, name) for name in built_in(kind).keys() & components(kind).keys()} <= tested


def assert_fails(suite, component, test):
    """Check that this test of a suite fails for the components of a class."""
    case = type("Broken", (suite,), {"make": lambda self: component()})()
    with pytest.raises((AssertionError, ZeroDivisionError, ValueError)):
        getattr(case, test)()
