from .langsmith_examples import dataset_from_examples as dataset_from_examples
from .langsmith_examples import to_example as to_example
from .load import load_dataset as load_dataset
from .retrieval_harness import Loader as Loader
from .retrieval_harness import folder_loader as folder_loader
from .save import save_dataset as save_dataset
