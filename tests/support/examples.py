"""How many examples a property is tried on that needs more, or fewer, than others."""

from hypothesis import settings


def examples(count: int) -> settings:
    """Return settings of so many examples at night, and of two fifths in `make test`, as for all others."""
    return settings(max_examples=count * 2 // 5 if settings.get_current_profile_name() == "few" else count)
