"""A program at a terminal of its own, as a person has it: what it prints is read, and keys are sent to it."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress

_MAIN = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.argv = ["rag-eval", *sys.argv[1:]]
from rag_evaluation_framework.cli.main import main
main()
"""
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|\r")
SECONDS = 60


class Terminal:
    """`rag-eval` at a pseudo-terminal.

    Args:
        arguments: The command and its arguments.
        folder: The working folder.
        columns: How wide the terminal is.
        rows: How high it is.
    """

    def __init__(self, *arguments, folder, columns=80, rows=50):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={**kept, "TERM": "xterm-256color"},
            start_new_session=True,
        )
        os.close(slave)
        self.master, self.raw, self.at, self.keys = master, "", 0, 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a character may come in two reads

    @property
    def text(self):
        """All that was printed, without what only colours it."""
        return _CODES.sub("", self.raw)

    def until(self, wanted):
        """Read until a text was printed after what was awaited before; return what was printed up to it."""
        end = time.monotonic() + SECONDS
        while (found := self.text.find(wanted, self.at)) < 0:
            if not self._read(end):
                raise AssertionError(
                    f"{wanted!r} was not printed behind\n{self.text[: self.at]}\n---\n{self.text[self.at :]}"
                )
        before, self.at = self.text[self.at : found + len(wanted)], found + len(wanted)
        return before

    def type(self, line):
        """Type a line and press Enter; every key is counted."""
        self.send(f"{line}\r")

    def send(self, keys):
        """Press keys."""
        self.keys += len(keys)
        os.write(self.master, keys.encode())

    def press_until_ended(self, keys):
        """Press keys, again every five seconds, until the program has ended; return its exit code.

        What arrives in the moment in which a prompt begins to read is lost, as it is for a person, who presses again.
        """
        for _ in range(SECONDS // 5):
            with suppress(OSError):  # it has ended already
                self.send(keys)
            end = time.monotonic() + 5
            while self._read(end):
                pass
            if self.process.poll() is not None:
                break
        return self.end()

    def end(self):
        """Read until the program has ended; return its exit code."""
        end = time.monotonic() + SECONDS
        while self._read(end):
            pass
        code = self.process.wait(SECONDS)
        os.close(self.master)
        return code

    def kill(self):
        """End the program at once, as nothing that it can answer does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.end()

    def _read(self, end):
        """Read what is there; return whether more may come in time."""
        ready, _, _ = select.select([self.master], [], [], max(end - time.monotonic(), 0))
        try:
            data = os.read(self.master, 65536) if ready else b""
        except OSError:  # nobody has the other end any more
            data = b""
        self.raw += self._decoder.decode(data)
        return bool(data)
