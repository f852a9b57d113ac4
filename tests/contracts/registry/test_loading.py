import sys

import pytest

from rag_evaluation_framework.contracts.registry.loading import load_attribute
from rag_evaluation_framework.errors import ConfigError


class TestLoadAttribute:
    def test_modules_of_the_working_directory_and_installed_ones_are_found(self, own_parts, tmp_path):
        sys.path[:] = [entry for entry in sys.path if entry not in ("", str(tmp_path))]
        assert load_attribute(f"{own_parts}:search")("q", 1) == ["q"]
        assert load_attribute("json:dumps") is __import__("json").dumps

    @pytest.mark.parametrize("reference", ["json", "json:", "json:no.such", "json:dumps.no"])
    def test_a_reference_without_a_target_is_refused(self, reference):
        with pytest.raises(ConfigError, match=r"has no|expected module:attribute"):
            load_attribute(reference)
