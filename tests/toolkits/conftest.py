"""How Hypothesis works here: the same examples in every run, no clock."""

from hypothesis import settings

settings.register_profile("toolkits", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("toolkits")
