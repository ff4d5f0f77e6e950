"""Matrices and labels as the programs that people use write them.

    pip install numpy==2.4.6 polars==2.1.0 pyarrow==26.0.1 pandas==3.1.1
    python matrices.py                 # writes the files in matrices/ beside this file

Numbers that f32 holds exactly: x[i][j] = ((37 i + 11 j) mod 101 - 50) / 64, 12 rows of 3 columns.
Labels: i mod 3 and a name for each. The test computes the same.
"""

import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

OUT = pathlib.Path(__file__).with_name("matrices")
OUT.mkdir(exist_ok=True)
i, j = np.meshgrid(np.arange(12), np.arange(3), indexing="ij")
x = ((37 * i + 11 * j) % 101 - 50) / 64
y = np.arange(12) % 3
names = np.array(["Healthy", "Innenring", "Kugel \u00fc"])[y]
columns = {f"f{c}": x[:, c].astype(np.float32) for c in range(3)}
table = {"label": list(names), "domain": ["a"] * 12, "recording": ["r, 1.wav"] * 12,
         "time": np.arange(12) * 0.5, **columns}

# polars compresses with zstd by default.
pl.DataFrame(table).write_parquet(OUT / "polars.parquet")
pl.DataFrame(table).write_csv(OUT / "polars.csv")
pl.DataFrame({"label": y.astype(np.uint8)}).write_parquet(OUT / "polars-labels.parquet")

# pandas and pyarrow. pandas stores NaN as null.
doubles = {f"f{c}": x[:, c] for c in range(3)}
for codec in ["zstd", "snappy", "brotli"]:
    pq.write_table(pa.table(doubles), OUT / f"pyarrow-{codec}.parquet", compression=codec, row_group_size=5)
gaps = pd.DataFrame(doubles)
gaps.loc[7, "f1"] = np.nan
gaps.to_parquet(OUT / "pandas-null.parquet")
gaps.to_csv(OUT / "pandas-index.csv")
pd.DataFrame({"y": names}).to_parquet(OUT / "pandas-names.parquet")

# Small files that hold much: one page of 72 MB of zeros, and 40 million rows of one number.
zeros = {"x": np.zeros(9_000_000)}
pq.write_table(pa.table(zeros), OUT / "large-page.parquet", compression="zstd", use_dictionary=False,
               data_page_size=1 << 30, max_rows_per_page=1 << 30, row_group_size=1 << 30, write_batch_size=1 << 30)
equal = {"x": np.full(40_000_000, 0.5)}
pq.write_table(pa.table(equal), OUT / "many-rows.parquet", compression="zstd",
               data_page_size=1 << 30, max_rows_per_page=1 << 30, row_group_size=1 << 30, write_batch_size=1 << 30)

# numpy.
np.save(OUT / "x.npy", x.astype(np.float32))
for kind in ["i1", ">i2", "<u4", "<i8", ">u8", "?", "<f4", ">f8", "<U12", ">U12"]:
    name = kind.translate({ord(k): v for k, v in {"<": "little-", ">": "big-", "?": "bool"}.items()})
    np.save(OUT / f"y-{name}.npy", (names if "U" in kind else y).astype(kind))
np.save(OUT / "y-bytes.npy", np.array([name.encode() for name in names]))
np.save(OUT / "y-half.npy", np.array([0.0, 1.0, 1.5]))
np.savetxt(OUT / "numpy.csv", x, delimiter=",")
