"""What a person sees of a run over a large corpus, and what it costs: BM25, `rag-eval run` twice, as in a terminal.

    python benchmarks/large_corpus.py [--documents 20000] [--questions 500] [--folder FOLDER] [--json]
    python benchmarks/large_corpus.py --documents 200000 --questions 5000

The documents are files in folders of a thousand, Markdown of about 1,300 characters, whose words are drawn by Zipf's
law; the questions are a table of quotes. Both are the same for the same numbers. Each run is a process of its own in a
pseudo-terminal, the second in the root of the first. Of each:

- `silence`: the longest time without a byte on standard error, in seconds by the clock, from the start of the process
  to its end; `silences` are all of 1.5 seconds and more, each with what was shown before and after it;
- `first_answer_cpu`: CPU seconds, of all threads, until questions are asked; None if that took too little to be shown;
- `cpu` and `seconds` in all, and `peak_mb`, the most memory, in 10^6 bytes.

`--folder` keeps the documents and the runs there: the documents are taken again, the runs are removed before.
"""

import os

# Read when NumPy is loaded, also by the runs.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import csv
import fcntl
import json
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

WORDS, SENTENCES, WORDS_OF_SENTENCE = 50_000, 18, 11
TOLD = 1.5  # seconds: silences from here on are listed
COLUMNS, CONTROL = 100, re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n")


def make(folder: Path, documents: int, questions: int) -> None:
    """Write the documents to `docs/`, and the questions to `questions.csv`."""
    random = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(random.choice(letters, size)) for size in random.integers(2, 11, WORDS)]
    ranks = np.arange(1, WORDS + 1)
    shares = np.cumsum(1 / ranks) / np.sum(1 / ranks)
    every = documents // questions
    with (folder / "questions.csv").open("w", newline="", encoding="utf-8") as table:
        rows = csv.writer(table)
        rows.writerow(["question", "quote", "document"])
        for number in range(documents):
            drawn: list[int] = np.searchsorted(shares, random.random(SENTENCES * WORDS_OF_SENTENCE)).tolist()
            said = [words[place] for place in drawn]
            sentences = [
                " ".join(said[first : first + WORDS_OF_SENTENCE]).capitalize() + "."
                for first in range(0, len(said), WORDS_OF_SENTENCE)
            ]
            middle = SENTENCES // 2
            text = f"# {said[0]} {said[1]}\n\n{' '.join(sentences[:middle])}\n\n## {said[2]}\n\n"
            path = folder / "docs" / str(number // 1000) / f"{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}{' '.join(sentences[middle:])}\n", encoding="utf-8")
            if number % every == 0 and number // every < questions:
                quote = sentences[int(random.integers(SENTENCES))]
                rows.writerow([f"What of {' '.join(quote.split()[1:8])}?", quote, f"{number // 1000}/{number}.md"])


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has taken."""
    of_process = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(of_process[11]) + int(of_process[12])) / os.sysconf("SC_CLK_TCK")


def watched(folder: Path) -> dict[str, Any]:
    """Run `rag-eval run` in a folder, its standard error a terminal, and return what was measured."""
    told, shown = pty.openpty()
    fcntl.ioctl(shown, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    command = [sys.executable, "-m", "rag_evaluation_framework", "run", "--no-config", "--retriever", "bm25"]
    command += ["--corpus", "docs", "--dataset", "questions.csv"]
    environment = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"} | {"TERM": "xterm"}
    start = last = perf_counter()
    with (folder / "screen.txt").open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=shown
        )
    os.close(shown)
    silences: list[tuple[float, str, str]] = []
    line, first_answer = "the start", None
    while True:
        ready, _, _ = select.select([told], [], [], 0.1)
        try:
            data = os.read(told, 65_536) if ready else None
        except OSError:  # nobody holds the other end any more
            data = b""
        now = perf_counter()
        if data is None:
            continue
        lines = [part.strip() for part in CONTROL.split(data.decode("utf-8", "replace")) if part.strip()]
        silences.append((now - last, line, lines[0] if lines else "the end" if not data else "an empty line"))
        last, line = now, lines[-1] if lines else line
        if not data:
            break
        if first_answer is None and any(part.startswith("Retrieving") for part in lines):
            first_answer = cpu_seconds(process.pid)
    os.close(told)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"rag-eval run ended with {os.waitstatus_to_exitcode(status)}: {line}")
    longest = sorted(silences, reverse=True)
    return {
        "silence": round(longest[0][0], 1),
        "silences": [(round(seconds, 1), *between) for seconds, *between in longest if seconds >= TOLD],
        "first_answer_cpu": first_answer,
        "cpu": round(used.ru_utime + used.ru_stime, 1),
        "seconds": round(perf_counter() - start, 1),
        "peak_mb": round(used.ru_maxrss * 1024 / 1e6),
    }


def main() -> None:
    """Print what two runs showed and took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON in the last line")
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not (folder / "docs").exists():
            make(folder, arguments.documents, arguments.questions)
        shutil.rmtree(folder / ".rag-eval", ignore_errors=True)
        found = {run: watched(folder) for run in ("first", "second")}
    for run, figures in found.items():
        print(f"{run} run: {figures['seconds']} s, {figures['cpu']} s CPU, of these until the first answer", end=" ")
        print(f"{figures['first_answer_cpu']}; at most {figures['peak_mb']} MB")
        for seconds, before, after in figures["silences"]:
            print(f"  {seconds} s of silence between: {before}\n                      and: {after}")
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
