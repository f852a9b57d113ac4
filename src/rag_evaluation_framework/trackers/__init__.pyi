from .folder import FolderSink as FolderSink  # folder
from .function import FunctionSink as FunctionSink
from .junit import JUnitSink as JUnitSink  # junit
from .langsmith import LangSmithSink as LangSmithSink  # langsmith
from .sending import Sent as Sent
from .sending import finish as finish
from .sending import prepared as prepared
from .sending import send as send
from .step_summary import StepSummarySink as StepSummarySink  # step-summary
