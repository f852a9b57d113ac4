"""Importing optional packages, how to install them, the plug-ins and the versions of what is installed."""

import string
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module, util
from importlib.metadata import EntryPoints, PackageNotFoundError, distribution, entry_points, requires, version
from types import ModuleType
from typing import Never

from ..errors import MissingDependency
from .exits import outcome
from .outside import error_message, error_text

DISTRIBUTION = "rag-evaluation-framework"


def require(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """Import an optional module, or raise an error with the command that installs it.

    Args:
        module: The module to import, for example `"sklearn.decomposition"`.
        extra: The extra of this distribution that installs it.
        needed_by: The component that needs it, by its public name.

    Raises:
        MissingDependency: The module is not installed, or raises whatever else when it is imported.
    """

    def refuse(error: BaseException) -> Never:
        package = module.partition(".")[0]
        # A package that is damaged, or built for other versions of what it uses, raises anything.
        why = error_message(error) if isinstance(error, ImportError) else error_text(error)
        raise MissingDependency(
            f"{needed_by} needs the package that provides `{package}`, which cannot be imported ({why}). "
            f"Install it with: {install_command(extra)}",
            name=package,
        ) from error

    return outcome(lambda: import_module(module), refuse)


def missing_extras(requires: Mapping[str, str]) -> list[str]:
    """Return the extras that would install the missing modules; imports none of them."""
    return sorted({extra for module, extra in requires.items() if not _installed(module)})


def _installed(module: str) -> bool:
    try:
        return util.find_spec(module) is not None
    except (ImportError, ValueError):  # of the package that contains the module; or it is none that was imported
        return False


def install_command(*extras: str) -> str:
    """Return the pip command that installs these extras."""
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"


_announced = cache(entry_points)  # of all kinds at once: each look reads a file of everything that is installed


def plug_ins(kind: str) -> EntryPoints:
    """Return what installed packages announce for a kind of component, or as readers of documents."""
    return _announced().select(group=f"{__name__.partition('.')[0]}.{kind}")


_OF_NAMES = string.ascii_letters + string.digits + "._-"


def installed_version() -> str:
    """Return the version that is installed."""
    return version(DISTRIBUTION)


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of the packages that it may use."""
    found = {"python": sys.version}
    with suppress(PackageNotFoundError):
        for needed in (DISTRIBUTION, *(requires(DISTRIBUTION) or ())):
            name = needed[: len(needed) - len(needed.lstrip(_OF_NAMES))]
            with suppress(PackageNotFoundError):
                installed = distribution(name)
                # The head as it is: to find the version in it takes ten times as long.
                told = installed.read_text("METADATA") or installed.read_text("PKG-INFO") or ""
                found[name] = told.partition("\n\n")[0]
    return found
