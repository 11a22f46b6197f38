# SPDX-License-Identifier: MIT
"""fields_peers.py duckdb|polars log|short|csv table|statistics FILE: one column of FILE, as bench/fields makes it.

table: each value with its count, in order. statistics: count, least, greatest, sum, mean, deviation and four
quantiles. Only that column is converted, and all processors are used."""

import sys

COLUMNS = {"log": 11, "short": 6, "csv": 10}
COLUMN = {"log": "c11", "short": "c6", "csv": "c7"}
SEPARATOR = {"log": " ", "short": " ", "csv": ","}
QUANTILES = [0.5, 0.9, 0.99, 0.999]


def by_duckdb(kind, job, file):
    import duckdb

    types = ", ".join(
        f"'c{i}': '{'DOUBLE' if f'c{i}' == COLUMN[kind] else 'VARCHAR'}'"
        for i in range(1, COLUMNS[kind] + 1)
    )
    source = (
        f"read_csv('{file}', auto_detect=false, delim='{SEPARATOR[kind]}', quote='\"', escape='\"', "
        f"header=false, columns={{{types}}})"
    )
    column = COLUMN[kind]
    if job == "table":
        query = f"SELECT {column}, count(*) FROM {source} GROUP BY 1 ORDER BY 1"
    else:
        query = (
            f"SELECT count({column}), min({column}), max({column}), sum({column}), avg({column}), "
            f"stddev_pop({column}), quantile_disc({column}, {QUANTILES}) FROM {source}"
        )
    return duckdb.sql(query).fetchall()


def by_polars(kind, job, file):
    import polars

    names = [f"c{i}" for i in range(1, COLUMNS[kind] + 1)]
    column = polars.col(COLUMN[kind])
    rows = polars.scan_csv(
        file,
        separator=SEPARATOR[kind],
        has_header=False,
        schema={name: polars.Float64 if name == COLUMN[kind] else polars.String for name in names},
    )
    if job == "table":
        query = rows.group_by(column).len().sort(COLUMN[kind])
    else:
        query = rows.select(
            column.count().alias("count"),
            column.min().alias("min"),
            column.max().alias("max"),
            column.sum().alias("sum"),
            column.mean().alias("mean"),
            column.std(ddof=0).alias("stddev"),
            *(column.quantile(q, interpolation="equiprobable").alias(f"p{100 * q:g}") for q in QUANTILES),
        )
    return query.collect(engine="streaming").rows()


peer, kind, job, file = sys.argv[1:]
for row in {"duckdb": by_duckdb, "polars": by_polars}[peer](kind, job, file):
    print(*row, sep="\t")
