"""Further cases of a kind of which `make test` has one: `make nightly` runs them."""

from collections.abc import Iterable
from typing import Any

import pytest


def nightly(*values: Any) -> Any:
    """Return a case for `pytest.mark.parametrize` that is run at night."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def first_of(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Return cases of one value, of which all but the first are run at night."""
    return [case if number < count else nightly(case) for number, case in enumerate(cases)]
