"""The pytest plugin: `pytest --rag-eval eval.yaml` makes an ordinary test of every gate of a configuration.

Nothing else of the package is loaded before that option is given.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

COLLECTED = pytest.StashKey[set[Path]]()
"""Where the session keeps which configurations were collected."""

_NEEDED = (8, 0)  # the first pytest with `pytest.Directory`
_ITEMS = "rag_evaluation_framework.testing.gate_items"


def pytest_addoption(parser: Any) -> None:
    """Add the options."""
    group = parser.getgroup("rag-eval")
    group.addoption(
        "--rag-eval",
        action="append",
        default=[],
        metavar="CONFIG",
        help="Run the configuration of `rag-eval run`, and make a test of every gate in it; repeatable.",
    )
    group.addoption(
        "--rag-eval-no-import",
        action="store_true",
        help="Refuse configurations that name code of your own, module:attribute, before it is imported.",
    )


def pytest_configure(config: Any) -> None:
    """Check the configurations.

    Raises:
        UsageError: One is not a file, so that none of its gates would be tested; or pytest is too old.
    """
    if config.getoption("--rag-eval") and pytest.version_tuple[:2] < _NEEDED:
        needed = ".".join(map(str, _NEEDED))
        raise pytest.UsageError(f"--rag-eval: pytest is {pytest.__version__}; expected {needed} or newer")
    for name, path in zip(config.getoption("--rag-eval"), _named(config), strict=True):
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "is not there"
            raise pytest.UsageError(f"--rag-eval {name}: {what}; expected a configuration, such as eval.yaml")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: Any, config: Any, items: list[Any]) -> None:
    """Add the tests of the configurations that pytest did not come by, before any test is deselected.

    What pytest collects and leaves out is as without the option: a configuration may be in a folder such as .rag-eval.
    """
    for path in dict.fromkeys(_named(config)):
        if path not in config.stash.get(COLLECTED, ()):
            items += session.genitems(import_module(_ITEMS).GatesFolder.holding(session, path))


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Let the process end although an engine that did not answer in time goes on."""
    if _named(session.config):
        import_module(_ITEMS).end_if_late(int(exitstatus))


def pytest_collect_file(file_path: Path, parent: Any) -> Any:
    """Return the tests of a configuration that was named by the option."""
    if file_path not in _named(parent.config):
        return None
    return import_module(_ITEMS).GatesFile.of(parent, file_path)


def _named(config: Any) -> list[Path]:
    """Return the configurations that were named; links are followed, so that each is tested once."""
    return [Path(config.invocation_params.dir, name).resolve() for name in config.getoption("--rag-eval")]
