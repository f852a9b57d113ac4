"""The gates of a run as JUnit XML, which continuous integration shows."""

import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..base.files import checked_path, open_at_once, temporary_folder, write_over
from ..contracts.roles import Outcome, Sink
from ..errors import ConfigError, SaveFailed
from ..report.junit import gates_as_junit
from ..runs import store

_BEGIN = b'<testsuites name="rag-eval"'


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
        self._remove_earlier()
        try:
            with temporary_folder(next(filter(Path.exists, Path(self.path).absolute().parents))):
                pass
        except OSError as error:
            why = f"cannot be written ({store.reason(error)}); choose another file, such as gates.xml"
            raise ConfigError(f"JUnit XML {self.path}: {why}") from error

    def _remove_earlier(self) -> None:
        path = Path(self.path)
        try:
            mode = path.lstat().st_mode
        except OSError:  # there is none, or it cannot be written either
            return
        begin = b""
        if stat.S_ISREG(mode):
            try:
                with open_at_once(path) as file:
                    begin = file.read(len(_BEGIN))
            except OSError as error:
                why = f"cannot be read ({store.reason(error)}); choose another file, such as gates.xml"
                raise ConfigError(f"JUnit XML {path}: {why}") from error
        if begin != _BEGIN:
            what = "a folder" if stat.S_ISDIR(mode) else "there"
            raise ConfigError(
                f"JUnit XML {path}: is {what}, and is not the JUnit XML of an earlier run; choose another file, such "
                "as gates.xml"
            )
        with suppress(OSError):
            path.unlink()

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
