from .query_result import QueryResult as QueryResult
from .result import EvaluationResult as EvaluationResult
from .result import ExperimentResult as ExperimentResult
from .result import load_result as load_result
from .store import check_root as check_root
