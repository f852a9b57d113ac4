"""Writes docs/reference/run.schema.json, the JSON schema of configuration files: `python docs/generate_schema.py`.

It is what `RunSpec` says. With `--check` nothing is written: the exit code is 1 if the file is not what would be
written.
"""

import json
import sys
from pathlib import Path

from rag_evaluation_framework.runs import RunSpec

FILE = Path(__file__).resolve().parent / "reference" / "run.schema.json"


def schema() -> str:
    """Return the schema as text."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps({"$schema": dialect, **RunSpec.model_json_schema()}, indent=2) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(schema(), encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != schema():
        sys.exit(f"{FILE.name} is stale: RunSpec has changed. Renew it with: python docs/generate_schema.py")
