"""Folders in which something is made beside its place, to be moved there whole; what killed processes left is removed.

Whoever makes something holds a lock on its folder, which ends with the process however that ends: a process id would be
another's one day. A lock says nothing about other machines that share the file system, so what comes from one of them
is removed only when nothing in it has changed for a day.
"""

import hashlib
import os
import platform
import shutil
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

if sys.platform != "win32":
    import fcntl

_PREFIX = ".rag-eval-unfinished-"
_LONG_AGO = 24 * 60 * 60  # seconds
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@contextmanager
def unfinished(parent: Path) -> Generator[Path]:
    """Make a hidden folder for what is to be moved into the folder `parent`, and remove what is left of it afterwards.

    Folders of processes that were killed are removed first, and `parent` is made if there is none.

    Raises:
        OSError: The folder cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(parent)
    folder, lock = _made(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # not there any more if all went well
        if lock is not None:
            os.close(lock)


def is_unfinished(place: Path) -> bool:
    """Return whether a folder is one in which something is made, or was by a process that was killed."""
    return place.name.startswith(_PREFIX)


def _made(parent: Path) -> tuple[Path, int | None]:
    """Make a folder and lock it, if the file system can do that."""
    while True:
        folder = Path(mkdtemp(prefix=f"{_PREFIX}{_machine()}-", dir=parent))
        try:
            return folder, _locked(folder)
        except (BlockingIOError, FileNotFoundError):  # another process takes it for an abandoned one: let it
            continue


def remove_abandoned(parent: Path) -> None:
    """Remove the hidden folders that killed processes left in a folder."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is in use, or was moved or removed meanwhile
            lock = _locked(folder) if folder.name.startswith(f"{_PREFIX}{_machine()}-") else None
            try:
                if lock is not None or time.time() - _last_change(folder) > _LONG_AGO:
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                if lock is not None:
                    os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder until the descriptor that is returned is closed; None where folders cannot be locked.

    Raises:
        BlockingIOError: Another process holds it.
        FileNotFoundError: It is not there any more.
    """
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()
    except (BlockingIOError, FileNotFoundError):
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _last_change(folder: Path) -> float:
    return max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))


@cache
def _machine() -> str:
    """Return what tells this machine, since it was started, from others: locks are known to it alone."""
    try:
        known = _BOOT.read_bytes()
    except OSError:
        known = platform.node().encode()
    return hashlib.sha256(known).hexdigest()[:8]
