"""The one way in which optional packages are imported."""

from collections.abc import Mapping
from importlib import import_module, util
from types import ModuleType

from rag_evaluation_framework.errors import MissingDependency

DISTRIBUTION = "rag-evaluation-framework"


def require(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """Import an optional module, or say how to install it.

    Args:
        module: What to import, for example `"sklearn.decomposition"`.
        extra: The extra of this distribution that installs it.
        needed_by: The component that needs it, as its user knows it.

    Raises:
        MissingDependency: The module is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependency(
            f"{needed_by} needs the package that provides `{package}`, which cannot be imported ({error}). "
            f"Install it with: {install_command(extra)}",
            name=package,
        ) from error


def missing_extras(requires: Mapping[str, str]) -> list[str]:
    """Return the extras of those modules that are not installed, without importing any."""
    return sorted({extra for module, extra in requires.items() if not _installed(module)})


def _installed(module: str) -> bool:
    try:
        return util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that the module is in
        return False


def install_command(*extras: str) -> str:
    """Return the command that installs these extras."""
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"
