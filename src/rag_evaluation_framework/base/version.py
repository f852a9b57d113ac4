"""The version of this package."""

from importlib.metadata import version

from rag_evaluation_framework.base.optional import DISTRIBUTION


def installed_version() -> str:
    """Return the version that is installed."""
    return version(DISTRIBUTION)
