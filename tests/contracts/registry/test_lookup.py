import pytest

from rag_evaluation_framework.contracts.registry.building import build, load
from rag_evaluation_framework.errors import ConfigError


def test_a_name_of_any_length_is_refused_in_short():
    with pytest.raises(ConfigError, match="is unknown") as caught:
        build("metric", "x" * 100_000)
    assert len(str(caught.value)) < 1_500


@pytest.mark.parametrize("name", [{}, [], None, 5])
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(ConfigError, match=r"^chunker .*: expected a name"):
        load("chunker", name)
