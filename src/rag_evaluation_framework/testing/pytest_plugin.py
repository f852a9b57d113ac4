"""The pytest plugin: `pytest --rag-eval eval.yaml` makes an ordinary test of every gate of a configuration.

Nothing else of the package is loaded before that option is given.
"""

from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

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
    """Let pytest collect the configurations beside what it was given.

    Raises:
        UsageError: One is not a file, so that none of its gates would be tested.
    """
    for name, path in zip(config.getoption("--rag-eval"), _named(config), strict=True):
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "is not there"
            raise pytest.UsageError(f"--rag-eval {name}: {what}; expected a configuration, such as eval.yaml")
        if str(path) not in config.args:
            config.args.append(str(path))


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: Any) -> bool | None:
    """Let pytest come by configurations in folders that it leaves out, such as .rag-eval, and by nothing else there."""
    named = _named(config)
    if any(collection_path == path or collection_path in path.parents for path in named):
        return False
    left_out = config.getini("norecursedirs")
    inside = {folder for path in named for folder in path.parents} & {*collection_path.parents}
    return True if any(fnmatch(folder.name, pattern) for folder in inside for pattern in left_out) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: Any, config: Any, items: list[Any]) -> None:
    """Check that every configuration was collected, before any test is deselected.

    Raises:
        UsageError: One was not, so that its gates would not be tested.
    """
    collected = {item.path for item in items}
    missing = [path for path in _named(config) if path not in collected]
    if missing and not session.testsfailed and not config.getoption("lf", default=False):
        raise pytest.UsageError(
            f"--rag-eval {missing[0]}: was not collected; name it beside the paths of the tests, too"
        )


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Let the process end although an engine that did not answer in time goes on."""
    if _named(session.config):
        import_module(_ITEMS).end_if_late(int(exitstatus))


def pytest_collect_file(file_path: Path, parent: Any) -> Any:
    """Return the tests of a configuration that was named by the option."""
    if file_path not in _named(parent.config):
        return None
    return import_module(_ITEMS).GatesFile.from_parent(parent, path=file_path)


def _named(config: Any) -> list[Path]:
    """Return the configurations that were named; links are followed, as pytest does not collect them."""
    return [Path(config.invocation_params.dir, name).resolve() for name in config.getoption("--rag-eval")]
