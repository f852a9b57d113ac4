"""What `module:attribute` names, imported."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rag_evaluation_framework._outside import class_name, said
from rag_evaluation_framework._support.exits import exit_text
from rag_evaluation_framework.errors import ConfigError

PACKAGE = "rag_evaluation_framework"


def load_attribute(reference: str) -> Any:
    """Return what `module:attribute` names; modules of the working directory are found behind what is installed.

    The module is imported, which runs it; the attribute is looked up and not called.

    Raises:
        ConfigError: There is no such module or attribute, or the module cannot be imported.
    """
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    return load_installed(reference)


def load_installed(reference: str) -> Any:
    """Return what `module:attribute` names among what can be imported already; the search path stays as it is.

    Raises:
        ConfigError: There is no such module or attribute, or the module cannot be imported.
    """
    module_name, _, attribute = reference.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *attribute.split("."))):
        raise ConfigError(f"{reference!r}: expected module:attribute, such as my_module:search")
    try:
        target = import_module(module_name)
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, ImportError) else f"{class_name(error)}: "
        reason = exit_text(error) if isinstance(error, SystemExit) else f"{kind}{said(error)}"
        raise ConfigError(f"{reference!r}: module {module_name!r} cannot be imported: {reason}") from error
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise ConfigError(f"{reference!r}: module {module_name!r} has no {attribute!r}")
        target = getattr(target, part)
    return target
