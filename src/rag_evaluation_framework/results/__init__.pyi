from .load import load_result as load_result
from .means import statistics_record as statistics_record
from .named_runs import find_run as find_run
from .query_result import QueryResult as QueryResult
from .query_result import QueryResults as QueryResults
from .result import EvaluationResult as EvaluationResult
from .result import ExperimentResult as ExperimentResult
from .store import check_root as check_root
