"""A table of cases in one test: collected once, and every case that fails is told."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import pytest

_ENDINGS = (Exception, pytest.fail.Exception, pytest.skip.Exception, BaseExceptionGroup)  # a case cannot be skipped


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test on every case.

    The arguments are those of `pytest.mark.parametrize`, which is the better one where a case takes long, needs
    fixtures of its own, or is wanted by name: here, all cases share what is set up.
    """
    keys = names.replace(",", " ").split() if isinstance(names, str) else [*names]
    rows = [dict(zip(keys, case if len(keys) > 1 else [case], strict=True)) for case in cases]

    def on_each(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def on_all(*args: Any, **fixtures: Any) -> None:
            failed: list[BaseException] = []
            for row in rows:
                try:
                    test(*args, **fixtures, **row)
                except _ENDINGS as error:
                    error.add_note(f"The case: {row!r:.2000}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(rows)} cases", failed)

        own = signature(test)
        others = [parameter for name, parameter in own.parameters.items() if name not in keys]
        on_all.__signature__ = own.replace(parameters=others)  # type: ignore[attr-defined]
        return on_all

    return on_each
