"""Reads the recordings of a manifest, for the scripts of this gallery."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.io import loadmat, wavfile

from rebearing import SpectralFeatures


def simulated(out, machines=4, seconds=4):
    """Simulates machines with the command of this package, and returns their manifest."""
    folder = Path(out, f"machines-{machines}")
    settings = [f"--machines={machines}", f"--seconds={seconds}"]
    command = [sys.executable, "-m", "rebearing", "simulate", "--out", folder]
    subprocess.run(command + settings, check=True, stdout=subprocess.DEVNULL)
    return folder / "manifest.csv"


def recordings(manifest):
    """Yields the machine, the label, the rate and the samples of each recording.

    Pieces of one recording are joined.
    """
    with open(manifest, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            path = Path(manifest).parent / row["path"]
            if path.suffix == ".wav":
                samples = wavfile.read(path)[1]
            elif path.suffix == ".mat":
                samples = loadmat(path)[row["channel"]]
            elif path.suffix == ".npz":
                arrays = np.load(path)
                samples = np.column_stack([arrays[axis] for axis in row["channel"].split(";")])
            else:
                samples = np.load(path)
            if path.suffix != ".npz":
                samples = samples.ravel()
            yield row["domain"], row["label"], float(row["rate_hz"]), samples


def features(manifest, noise=0.0):
    """Returns the front end, and for each machine features, labels and a mark for the test.

    The first 60 % of each recording are for adaptation. The rest is for the test, and no window
    reaches over the split. Each machine gets more noise than the one before it, by ``noise``.
    """
    parts, rng = {}, np.random.default_rng(0)
    for domain, label, rate, samples in recordings(manifest):
        place = list(parts).index(domain) if domain in parts else len(parts)
        samples = samples + noise * place * rng.normal(size=samples.shape)
        front_end = SpectralFeatures(rate, axes=samples.shape[1] if samples.ndim == 2 else 1)
        split = len(samples) * 6 // 10
        for later, part in enumerate((samples[:split], samples[split:])):
            rows = front_end.windows(part)
            parts.setdefault(domain, []).append((rows, [label] * len(rows), [later] * len(rows)))
    domains = {}
    for domain, some in parts.items():
        x, y, later = (np.concatenate(column) for column in zip(*some))
        domains[domain] = (x, y, later == 1)
    return front_end, domains
