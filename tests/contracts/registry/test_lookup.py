import pytest

from rag_evaluation_framework.contracts.registry.building import build
from rag_evaluation_framework.errors import ConfigError


def test_a_name_of_any_length_is_refused_in_short():
    with pytest.raises(ConfigError, match="is unknown") as caught:
        build("metric", "x" * 100_000)
    assert len(str(caught.value)) < 1_500
