from .junit import JUnitSink as JUnitSink  # junit
from .langsmith_datasets import PushReport as PushReport
from .langsmith_datasets import pull_dataset as pull_dataset
from .langsmith_datasets import push_dataset as push_dataset
from .langsmith_evaluators import get_langsmith_evaluators as get_langsmith_evaluators
from .langsmith_evaluators import to_langsmith_evaluator as to_langsmith_evaluator
from .langsmith_publishing import LangSmithSink as LangSmithSink  # langsmith
from .langsmith_publishing import PublishedExperiment as PublishedExperiment
from .langsmith_publishing import publish_experiment as publish_experiment
from .sending import FolderSink as FolderSink  # folder
from .sending import FunctionSink as FunctionSink
from .sending import Sent as Sent
from .sending import StepSummarySink as StepSummarySink  # step-summary
from .sending import finish as finish
from .sending import prepared as prepared
from .sending import send as send
