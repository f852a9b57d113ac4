"""The one way in which optional packages are imported."""

from importlib import import_module
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
            f"Install it with: pip install '{DISTRIBUTION}[{extra}]'",
            name=package,
        ) from error
