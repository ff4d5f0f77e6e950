"""Recordings in every format that is read, written by the programs that people use.

    pip install numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 pyarrow==26.0.1
    apt-get install sox                # 14.4.2
    python recordings.py               # writes the files in recordings/ beside this file

Three channels, all of numbers that f32 holds exactly, so that values can be compared for equality:
x[i] = ((37 i) mod 101 - 50) / 64, y[i] = -x[i] / 2, z[i] = x[i] + 1; 40 samples of each, at 8000 Hz.
Counts are 64 x. The test computes the same.
"""

import pathlib
import subprocess

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.io import savemat, wavfile

OUT = pathlib.Path(__file__).with_name("recordings")
OUT.mkdir(exist_ok=True)
N, RATE = 40, 8000
i = np.arange(N)
counts = (37 * i) % 101 - 50
x = counts / 64
y, z = -x / 2, x + 1
t = i / RATE

# MATLAB, by scipy: plain and compressed, structures, cells, integers.
variables = {
    "x": x.reshape(-1, 1),
    "xyz": np.stack([x, y, z], axis=1),
    "wide": np.stack([x, y]),
    "counts32": counts.astype(np.int32).reshape(-1, 1),
    "counts8": counts.astype(np.int8).reshape(-1, 1),
    "single": x.astype(np.float32).reshape(1, -1),
    "rpm": 1480.0,
    "note": "press 7",
    "data": {"vibration": {"x": x, "y": y.astype(np.float32)}, "rate": float(RATE)},
    "cells": np.array([x, y, "text"], dtype=object),
    "runs": np.array([(x, 1.0), (y, 2.0)], dtype=[("signal", object), ("load", object)]),
    "seven": np.stack([x + k for k in range(7)], axis=1),
}
savemat(OUT / "plain.mat", variables)
savemat(OUT / "compressed.mat", variables, do_compression=True)
savemat(OUT / "version4.mat", {"x": x}, format="4")

# NumPy.
np.save(OUT / "x.npy", x)
np.save(OUT / "big_endian.npy", x.astype(">f4"))
np.save(OUT / "segments.npy", np.stack([x, y]))
np.save(OUT / "axes.npy", np.stack([x, y, z], axis=1)[np.newaxis].astype(np.float32))
np.save(OUT / "fortran.npy", np.asfortranarray(np.stack([x, y])))
np.save(OUT / "counts.npy", counts.astype(np.int16))
np.savez(OUT / "plain.npz", x=x, y=y.astype(np.float32), counts=counts.astype(np.int64), rate=RATE)
np.savez_compressed(OUT / "compressed.npz", x=x, rate=RATE)

# Tables, by pandas and numpy.
table = pd.DataFrame({"time": t, "x": x, "y": y})
table.to_csv(OUT / "header.csv", index=False)
table[["time", "x"]].to_csv(OUT / "time.csv", index=False)
table.to_csv(OUT / "german.csv", index=False, sep=";", decimal=",")
table[["time", "x"]].to_csv(OUT / "time.tsv", index=False, sep="\t", header=False)
table[["x"]].to_csv(OUT / "index.csv")
pd.DataFrame(np.stack([x, y], axis=1)).to_csv(OUT / "numbered.csv", index=False)
np.savetxt(OUT / "blanks.txt", np.stack([t, x], axis=1), header="made by numpy")
np.savetxt(OUT / "one.csv", x)

# Parquet, by pandas and pyarrow.
table.to_parquet(OUT / "pandas.parquet")
gaps = table[["time", "x"]].copy()
gaps.loc[7, "x"] = np.nan
gaps.to_parquet(OUT / "null.parquet", index=False)
columns = pa.table({
    "f32": x.astype(np.float32), "i16": counts.astype(np.int16), "u32": (counts + 50).astype(np.uint32),
    "i64": counts.astype(np.int64), "text": [str(c) for c in counts],
})
for codec in ["none", "snappy", "gzip", "lz4", "zstd", "brotli"]:
    pq.write_table(columns, OUT / f"{codec}.parquet", compression=codec, row_group_size=16)

# WAV, by scipy and sox.
for name, dtype in [("i16", np.int16), ("i32", np.int32), ("f32", np.float32), ("f64", np.float64)]:
    values = np.stack([x, y], axis=1) * (64 if name.startswith("i") else 1)
    wavfile.write(OUT / f"scipy_{name}.wav", RATE, values.astype(dtype))
wavfile.write(OUT / "scipy_u8.wav", RATE, (counts + 128).astype(np.uint8))
raw = OUT / "raw.s32"
raw.write_bytes((counts.astype("<i4") << 24).tobytes())
source = ["sox", "-D", "-r", str(RATE), "-c", "1", "-e", "signed", "-b", "32", "-L", "-t", "raw", str(raw)]
for name, options in [
    ("i8", ["-b", "8", "-e", "unsigned"]), ("i16", ["-b", "16"]), ("i24", ["-b", "24"]), ("i32", ["-b", "32"]),
    ("f32", ["-b", "32", "-e", "float"]), ("f64", ["-b", "64", "-e", "float"]),
]:
    subprocess.run([*source, *options, str(OUT / f"sox_{name}.wav")], check=True)
raw.unlink()
