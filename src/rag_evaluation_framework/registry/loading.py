"""What `module:attribute` names, imported."""

import logging
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Never

from rag_evaluation_framework.base.exits import exit_text, outcome
from rag_evaluation_framework.base.outside import class_name, one_line, said
from rag_evaluation_framework.errors import ConfigError

PACKAGE = "rag_evaluation_framework"

_log = logging.getLogger(PACKAGE)


def load_attribute(reference: str) -> Any:
    """Return what `module:attribute` names; modules of the working directory are found behind what is installed.

    The module is imported, which runs it; the attribute is looked up and not called. Before that, the log of this
    package says which file is run, as the command line shows on standard error.

    Raises:
        ConfigError: There is no such module or attribute, or the module cannot be imported.
    """
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    module_name = reference.partition(":")[0]
    if module_name not in sys.modules:
        with suppress(Exception):  # what is wrong is told when it is imported
            found = find_spec(module_name.partition(".")[0])  # of a dotted name it would import the packages around
            if found is not None:
                _log.info("importing %s from %s", reference, one_line(_place(found)))
    return load_installed(reference)


def _place(found: ModuleSpec) -> str:
    """Return the file of a module, or the folder of a package."""
    folders = found.submodule_search_locations
    return str(found.origin) if folders is None else ", ".join(folders)


def load_installed(reference: str) -> Any:
    """Return what `module:attribute` names among what can be imported already; the search path stays as it is.

    Raises:
        ConfigError: There is no such module or attribute, or the module cannot be imported.
    """
    module_name, _, attribute = reference.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *attribute.split("."))):
        raise ConfigError(f"{reference!r}: expected module:attribute, such as my_module:search")

    def refuse(error: BaseException) -> Never:
        kind = "" if isinstance(error, ImportError) else f"{class_name(error)}: "
        reason = exit_text(error) if isinstance(error, SystemExit) else f"{kind}{said(error)}"
        if isinstance(error, ModuleNotFoundError):
            reason += f"; looked for in {Path.cwd()}, and among what is installed"
        raise ConfigError(f"{reference!r}: module {module_name!r} cannot be imported: {reason}") from error

    target = outcome(lambda: import_module(module_name), refuse)
    for part in attribute.split("."):
        if not hasattr(target, part):
            near = get_close_matches(part, dir(target), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"{reference!r}: module {module_name!r} has no {attribute!r}{hint}")
        target = getattr(target, part)
    return target
