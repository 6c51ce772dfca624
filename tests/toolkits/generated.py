"""What the tests of generated data sets share."""

from collections.abc import Iterable

from toolkits.generator import BUNDLED_SEED, GeneratedDataset

SEEDS = [BUNDLED_SEED, 0, 1, 2, 3, 11, 2024, 987654321]

Record = dict[str, str]


def records(dataset: GeneratedDataset, file: str) -> list[Record]:
    table = dataset.tables[file]
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def values(rows: Iterable[Record], column: str) -> list[str]:
    return [row[column] for row in rows]
