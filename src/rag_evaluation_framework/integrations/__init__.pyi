from .langsmith_datasets import PushReport as PushReport
from .langsmith_datasets import pull_dataset as pull_dataset
from .langsmith_datasets import push_dataset as push_dataset
from .langsmith_evaluators import get_langsmith_evaluators as get_langsmith_evaluators
from .langsmith_evaluators import to_langsmith_evaluator as to_langsmith_evaluator
from .publishing import PublishedExperiment as PublishedExperiment
from .publishing import publish_experiment as publish_experiment
