from .langsmith_pull import pull_dataset as pull_dataset
from .langsmith_push import push_dataset as push_dataset
from .push_report import PushReport as PushReport
