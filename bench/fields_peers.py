# SPDX-License-Identifier: MIT
"""fields_peers.py duckdb|polars log|short|csv|json table|statistics FILE: one column of FILE, as bench/fields makes it.

table: each value with its count, in order. statistics: count, least, greatest, sum, mean, deviation and four
quantiles. Only that column is converted, and all processors are used."""

import sys

COLUMNS = {"log": 11, "short": 6, "csv": 10}
COLUMN = {"log": "c11", "short": "c6", "csv": "c7"}
SEPARATOR = {"log": " ", "short": " ", "csv": ","}
QUANTILES = [0.5, 0.9, 0.99, 0.999]


def csv_for_duckdb(kind, file):
    types = ", ".join(
        f"'c{i}': '{'DOUBLE' if f'c{i}' == COLUMN[kind] else 'VARCHAR'}'"
        for i in range(1, COLUMNS[kind] + 1)
    )
    return (
        f"read_csv('{file}', auto_detect=false, delim='{SEPARATOR[kind]}', quote='\"', escape='\"', "
        f"header=false, columns={{{types}}})"
    )


def by_duckdb(kind, job, file):
    import duckdb

    if kind == "json":
        column = "http.latency_ms"
        source = f"read_ndjson('{file}', columns={{http: 'STRUCT(latency_ms DOUBLE)'}})"
    else:
        column, source = COLUMN[kind], csv_for_duckdb(kind, file)
    if job == "table":
        query = f"SELECT {column}, count(*) FROM {source} GROUP BY 1 ORDER BY 1"
    else:
        query = (
            f"SELECT count({column}), min({column}), max({column}), sum({column}), avg({column}), "
            f"stddev_pop({column}), quantile_disc({column}, {QUANTILES}) FROM {source}"
        )
    return duckdb.sql(query).fetchall()


def rows_for_polars(kind, file):
    import polars

    if kind == "json":
        schema = {"http": polars.Struct({"latency_ms": polars.Float64})}
        rows = polars.scan_ndjson(file, schema=schema)
        return rows.select(polars.col("http").struct.field("latency_ms").alias("c"))
    names = [f"c{i}" for i in range(1, COLUMNS[kind] + 1)]
    rows = polars.scan_csv(
        file,
        separator=SEPARATOR[kind],
        has_header=False,
        schema={name: polars.Float64 if name == COLUMN[kind] else polars.String for name in names},
    )
    return rows.select(polars.col(COLUMN[kind]).alias("c"))


def by_polars(kind, job, file):
    import polars

    column, rows = polars.col("c"), rows_for_polars(kind, file)
    if job == "table":
        query = rows.group_by(column).len().sort("c")
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
