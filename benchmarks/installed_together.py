"""Whether all extras install beside the frameworks whose results are evaluated, and hold none of them back.

    python benchmarks/installed_together.py [PACKAGE ...]

Asks pip, without installing anything, for the versions of each package alone, and together with
`rag-evaluation-framework[all]` of this tree. Ends with 1 where the package itself gets another version then, or none.
Needs the network.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("langchain", "langchain-openai", "llama-index", "llama-index-retrievers-bm25", "haystack-ai")


def resolved(*wanted: str) -> dict[str, str]:
    """Return the version of each package that pip would install into an empty environment; nothing if it finds none."""
    options = ["--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    command = [sys.executable, "-m", "pip", "install", *options, *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  of this file
    if done.returncode:
        print(*(line for line in done.stderr.splitlines() if line.startswith("ERROR")), sep="\n", file=sys.stderr)
        return {}
    found = [each["metadata"] for each in json.loads(done.stdout)["install"]]
    return {each["name"].lower().replace("_", "-"): each["version"] for each in found}


def main() -> int:
    """Compare the versions, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    held_back = 0
    for package in parser.parse_args().packages:
        alone, together = resolved(package), resolved(f"{REPOSITORY}[all]", package)
        same = alone.get(package) == together.get(package) is not None
        held_back += not same
        print(f"{package}: alone {alone.get(package)}, together {together.get(package)}", flush=True)
        for name in sorted(alone.keys() & together.keys() - {package}):
            if alone[name] != together[name]:
                print(f"    {name}: alone {alone[name]}, together {together[name]}", flush=True)
    return int(held_back > 0)


if __name__ == "__main__":
    sys.exit(main())
