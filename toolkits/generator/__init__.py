"""Makes data sets: a whole office in six tables, from one number."""

from toolkits.generator.dataset import (
    BUNDLED_SEED,
    DatasetExistsError,
    GeneratedDataset,
    GeneratedTable,
    generate,
    write_dataset,
    write_whole,
)

__all__ = [
    "BUNDLED_SEED",
    "DatasetExistsError",
    "GeneratedDataset",
    "GeneratedTable",
    "generate",
    "write_dataset",
    "write_whole",
]
