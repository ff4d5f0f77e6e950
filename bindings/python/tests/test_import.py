"""Importing the package is quick and brings nothing along."""

import subprocess
import sys

import pytest

import rebearing


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout.split()


def test_the_import_brings_no_other_package():
    loaded = run("import sys, rebearing; print(*sys.modules)")
    assert "rebearing._rebearing" in loaded
    roots = {name.split(".")[0] for name in loaded}
    for package in ("sklearn", "scipy", "pandas", "polars", "pyarrow", "joblib", "skada", "ot"):
        assert package not in roots


def test_the_time_of_the_import_is_shown():
    timed = "import time; t = time.perf_counter(); import rebearing; print(time.perf_counter() - t)"
    seconds = sorted(float(run(timed)[0]) for _ in range(5))
    print(f"import rebearing takes {1000 * seconds[2]:.0f} ms")


BARE = """
import sys
for package in ("sklearn", "scipy", "pandas", "polars", "pyarrow"):
    sys.modules[package] = None  # As if it were not installed.
import numpy as np, rebearing
rng = np.random.default_rng(0)
y = np.repeat([0, 1], 50)
x = rng.normal(size=(100, 3)) + 6 * y[:, None]
model = rebearing.GMMOTDAClassifier().set_params(random_state=3).fit(x, y, x + 1)
print(model.score(x + 1, y), rebearing.GaussianMixture(2).fit(x).n_iter_ > 0)
"""


def test_numpy_is_enough():
    assert run(BARE) == ["1.0", "True"]


def test_every_name_is_there():
    for name in rebearing.__all__:
        assert getattr(rebearing, name) is not None
        assert name in dir(rebearing)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rebearing.nonsense
