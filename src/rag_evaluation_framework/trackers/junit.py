"""The gates of a run as JUnit XML, which continuous integration shows."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..base.exits import errors_as
from ..base.files import checked_path, open_at_once, temporary_folder, write_over
from ..contracts.roles import Outcome, Sink
from ..errors import ConfigError, SaveFailed
from ..report.junit import gates_as_junit
from ..runs import store

_BEGIN = b'<testsuites name="rag-eval"'
_ANOTHER = "choose another file, such as gates.xml"


@dataclass(frozen=True)
class JUnitSink(Sink):
    """Writes the gates of a run as JUnit XML.

    Attributes:
        path: The file.
    """

    path: str | Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", checked_path(self.path, ConfigError))

    @property
    def failure(self) -> str:
        """Message if it fails."""
        return f"the JUnit XML {self.path} is not written"

    def prepare(self) -> None:
        """Remove the JUnit XML of an earlier run, and see that another can be written.

        It would be taken for that of this run if this one fails early. Nothing else is removed or replaced, whatever it
        is.

        Raises:
            ConfigError: Something else is there, or it cannot be read or written.
        """
        path, begin = Path(self.path), b""

        def refused(error: Exception) -> ConfigError:
            why = store.reason(error)
            return ConfigError(f"JUnit XML {path}: cannot be read or written ({why}); {_ANOTHER}")

        with errors_as(refused):
            if os.path.lexists(path):
                if path.is_file() and not path.is_symlink():
                    with open_at_once(path) as file:
                        begin = file.read(len(_BEGIN))
                if begin != _BEGIN:
                    what = "a folder" if path.is_dir() else "there"
                    raise ConfigError(
                        f"JUnit XML {path}: is {what}, and is not the JUnit XML of an earlier run; {_ANOTHER}"
                    )
                with suppress(OSError):
                    path.unlink()
            with temporary_folder(next(filter(Path.exists, path.absolute().parents))):
                pass

    def send(self, outcome: Outcome) -> None:
        """Write the file, all at once.

        Raises:
            SaveFailed: It cannot be written.
        """
        try:
            write_over(Path(self.path), gates_as_junit(outcome))
        except OSError as error:
            why = f"{store.reason(error)}; choose another file"
            raise SaveFailed(why, outcome.result) from error
