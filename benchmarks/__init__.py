"""Programs that measure, as ratios against a named baseline in the same run."""
