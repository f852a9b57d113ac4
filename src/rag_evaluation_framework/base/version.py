"""The version of this package, and of what it uses."""

import string
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires, version

from rag_evaluation_framework.base.optional import DISTRIBUTION

_OF_NAMES = string.ascii_letters + string.digits + "._-"


def installed_version() -> str:
    """Return the version that is installed."""
    return version(DISTRIBUTION)


@cache
def versions() -> dict[str, str]:
    """Return what tells versions of Python, of this package, and of those packages that it may use."""
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
