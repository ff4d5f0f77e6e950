"""Data and helpers for all tests."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]


class Domains:
    """A labelled source and a shifted target.

    All numbers are multiples of 1/4 and small, so that float16 holds them exactly.
    """

    def __init__(self, rows=40, seed=0):
        rng = np.random.default_rng(seed)
        self.ys = np.repeat([0, 1, 2], rows)
        centres = np.array([[0, 0, 0, 0], [12, 0, -8, 4], [0, 14, 8, -6]])
        source = centres[self.ys] + rng.normal(size=(3 * rows, 4))
        target = centres[self.ys] + rng.normal(size=(3 * rows, 4)) + [2, -1, 1, 0.5]
        self.Xs, self.Xt = np.round(source * 4) / 4, np.round(target * 4) / 4


@pytest.fixture(scope="session")
def domains():
    """A source and a target of three classes."""
    return Domains()


@pytest.fixture(scope="session")
def command():
    """Runs the console script ``rebearing`` and returns its JSON."""
    script = Path(sysconfig.get_path("scripts"), "rebearing")

    def run(*words):
        words = [script, "--json", *words]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def machines(command, tmp_path_factory):
    """The manifest of three simulated machines in four conditions."""
    out = tmp_path_factory.mktemp("machines")
    conditions = "Healthy,InnerRace,OuterRace,Imbalance"
    command("simulate", "--out", out, "--machines", "3", "--seconds", "3", "--classes", conditions)
    return out / "manifest.csv"


@pytest.fixture(scope="session")
def real_data():
    """The folder of real recordings and matrices. They are not part of the project."""
    folder = Path(os.environ.get("REBEARING_DATA", ROOT / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"no {folder}; set REBEARING_DATA")
    return folder
