"""The pytest plugin: `pytest --rag-eval eval.yaml` makes an ordinary test of every gate of a configuration.

Nothing else of the package is loaded before that option is given.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

_ITEMS = "rag_evaluation_framework.testing.gate_items"


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    group = parser.getgroup("rag-eval")
    group.addoption(
        "--rag-eval",
        action="append",
        default=[],
        metavar="CONFIG",
        help="Run the configuration of `rag-eval run`, and make a test of every gate in it; repeatable.",
    )


def pytest_configure(config: Any) -> None:
    """Let pytest collect the configurations beside what it was given."""
    config.args.extend(path for path in config.getoption("--rag-eval") if path not in config.args)


def pytest_collect_file(file_path: Path, parent: Any) -> Any:
    """Return the tests of a configuration that was named by the option."""
    named = parent.config.getoption("--rag-eval")
    if not any(file_path == Path(parent.config.invocation_params.dir, name).resolve() for name in named):
        return None
    return import_module(_ITEMS).GatesFile.from_parent(parent, path=file_path)
