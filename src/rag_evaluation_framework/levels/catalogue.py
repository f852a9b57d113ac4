"""The rules of every evaluation type."""

from collections.abc import Mapping
from typing import Any

from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.levels.chunk import ChunkRules
from rag_evaluation_framework.levels.document import DocumentRules
from rag_evaluation_framework.levels.level_rules import LevelRules
from rag_evaluation_framework.levels.token import TokenRules

RULES: Mapping[EvaluationType, LevelRules[Any]] = {
    rules.level.evaluation_type: rules for rules in (DocumentRules(), ChunkRules(), TokenRules())
}
"""The rules of each level, by the name of its evaluation type."""
