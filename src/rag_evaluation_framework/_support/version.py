"""The version of this package."""

from importlib.metadata import version

from rag_evaluation_framework._support.optional import DISTRIBUTION


def installed_version() -> str:
    """Return the version that is installed."""
    return version(DISTRIBUTION)
