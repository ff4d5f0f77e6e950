"""The tasks: plain matrices from files, and features of recordings.

A task is transductive: a method sees the source with its labels and the target without. It is
tested on the same target rows.
"""

import csv
import itertools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

@dataclass
class Task:
    """One source and one target. Labels count from zero."""

    group: str
    name: str
    xs: np.ndarray
    ys: np.ndarray
    xt: np.ndarray
    yt: np.ndarray


def tasks(folder, rebearing, work, quick, only=None):
    """All tasks of which the data is there, group by group. Says loudly which are skipped."""
    sources = [
        ("office", lambda: office(folder, quick)),
        ("digits", lambda: digits(folder, quick)),
        ("cstr", lambda: cstr(folder, quick)),
        ("cwru", lambda: recordings("cwru", every_pair, folder, rebearing, work, quick)),
        ("uestc", lambda: recordings("uestc", every_pair, folder, rebearing, work, quick)),
        ("adi", lambda: recordings("adi", same_load, folder, rebearing, work, quick)),
    ]
    for group, make in sources:
        if only and group not in only.split(","):
            continue
        try:
            yield group, list(make())
        except FileNotFoundError as missing:
            print(f"SKIPPED: {group}: no {missing.filename}; set REBEARING_DATA", file=sys.stderr)


def office(folder, quick):
    pairs = list(itertools.permutations("ACDW", 2))
    return matrices(folder, "office", "office_caltech_surf", pairs[3:6] if quick else pairs)


def digits(folder, quick):
    pairs = [("mnist", "usps"), ("usps", "mnist")]
    return matrices(folder, "digits", "digits", [] if quick else pairs)


def cstr(folder, quick):
    pairs = [("0", str(target)) for target in range(1, 7)]
    return matrices(folder, "cstr", "cstr_acf", pairs[3:5] if quick else pairs)


def matrices(folder, group, name, pairs):
    where = Path(folder) / "matrices" / name
    load = {d: (np.load(where / f"{d}_x.npy"), np.load(where / f"{d}_y.npy"))
            for d in sorted({d for pair in pairs for d in pair})}
    return [task(group, source, target, load[source], load[target]) for source, target in pairs]


def task(group, source, target, of_source, of_target):
    """A task with the classes that both sides have."""
    (xs, ys), (xt, yt) = of_source, of_target
    classes = np.intersect1d(ys, yt)
    if len(classes) < len(np.union1d(ys, yt)):
        keep_s, keep_t = np.isin(ys, classes), np.isin(yt, classes)
        xs, ys, xt, yt = xs[keep_s], ys[keep_s], xt[keep_t], yt[keep_t]
    index = lambda y: np.searchsorted(classes, y).astype(np.int64)
    xs, xt = xs.astype(np.float32), xt.astype(np.float32)
    return Task(group, f"{source}-{target}", xs, index(ys), xt, index(yt))


def recordings(group, pairs, folder, rebearing, work, quick):
    """Features of all domains of a manifest, standardised by the source's constants."""
    manifest = Path(folder) / f"{group}.csv"
    if not manifest.is_file():
        raise FileNotFoundError(2, "no manifest", str(manifest))
    out = Path(work) / f"{group}.npy"
    command = [rebearing, "features", "--manifest", manifest, "--domain", "all", "--out", out]
    subprocess.run([*map(str, command), "--json"], check=True, stdout=subprocess.DEVNULL)
    x = np.load(out)
    with open(out.with_suffix(".rows.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    labels = np.array([row["label"] for row in rows])
    domains = np.array([row["domain"] for row in rows])
    load = {d: (x[domains == d], labels[domains == d]) for d in sorted(set(domains))}
    chosen = pairs(sorted(load))
    for source, target in chosen[:2] if quick else chosen:
        made = task(group, source, target, load[source], load[target])
        mean, spread = made.xs.mean(0), made.xs.std(0)
        spread[spread == 0] = 1
        made.xs, made.xt = (made.xs - mean) / spread, (made.xt - mean) / spread
        yield made


def every_pair(domains):
    return list(itertools.permutations(domains, 2))


def same_load(domains):
    """Neighbouring speeds of one load, both ways. Domains are called `1800_11lb`."""
    pairs = itertools.permutations(domains, 2)
    speeds = sorted({d.split("_")[0] for d in domains})
    near = lambda a, b: abs(speeds.index(a.split("_")[0]) - speeds.index(b.split("_")[0])) == 1
    return [(a, b) for a, b in pairs if near(a, b) and a.split("_")[1] == b.split("_")[1]]
