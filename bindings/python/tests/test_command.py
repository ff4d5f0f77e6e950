"""The console script gives the same bits as the calls."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import rebearing


@pytest.mark.parametrize("kind", ["diag", "full", "tied", "spherical"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mixtures(domains, command, tmp_path, kind, dtype):
    x, out = domains.Xs.astype(dtype), tmp_path / "g.json"
    np.save(tmp_path / "x.npy", x)
    words = ["--data", tmp_path / "x.npy", "--components", "4", "--covariance", kind]
    command("gmm", *words, "--seed", "7", "--restarts", "3", "--out", out)
    written = json.loads(out.read_text())
    found = rebearing.GaussianMixture(4, covariance_type=kind, n_init=3, random_state=7).fit(x)
    for name in ("weights", "means", "covariances"):
        assert np.array(written[name]).tobytes() == getattr(found, f"{name}_").tobytes()


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ([], {}),
        (["--solver", "sinkhorn", "--epsilon", "0.02"], {"reg": 0.02}),
        (
            ["--solver", "relaxed", "--epsilon", "0.02", "--tau", "0.3"],
            {"reg": 0.02, "reg_m": (0.3, None)},
        ),
    ],
    ids=["exact", "sinkhorn", "relaxed"],
)
def test_plans(command, tmp_path, words, settings):
    rng = np.random.default_rng(1)
    cost = rng.random((30, 20)) - 0.2
    a, b = (weights / weights.sum() for weights in (rng.random(30), rng.random(20)))
    files = {"cost": cost, "a": a, "b": b}
    for name, values in files.items():
        np.save(tmp_path / f"{name}.npy", values)
    inputs = [word for name in files for word in (f"--{name}", tmp_path / f"{name}.npy")]
    said = command("plan", *inputs, *words, "--out", tmp_path / "p.npy")
    found, log = rebearing.plan(cost, a, b, **settings, log=True)
    assert np.load(tmp_path / "p.npy").tobytes() == found.tobytes()
    assert said["cost"] == log["cost"]


METHODS = ["guarded", "gmm-otda-map", "gmm-otda-t", "source-only", "otda-exact", "otda-sinkhorn"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", ["source", "each"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_transfers(domains, command, tmp_path, method, scale, dtype):
    labels = np.array(["fine", "worn", "broken"])[domains.ys] if dtype == np.float64 else domains.ys
    xs, xt = domains.Xs.astype(dtype), domains.Xt.astype(dtype)
    files = {"source-x": xs, "source-y": labels, "target-x": xt}
    for name, values in files.items():
        np.save(tmp_path / f"{name}.npy", values)
    inputs = [word for name in files for word in (f"--{name}", tmp_path / f"{name}.npy")]
    settings = ["--method", method, "--scale", scale, "--restarts", "3", "--seed", "5"]
    out, shares = tmp_path / "labels.npy", tmp_path / "shares.npy"
    command("transfer", *inputs, *settings, "--out", out, "--probabilities", shares)
    model = rebearing.TransferClassifier(method, scale=scale, n_init=3, random_state=5)
    model.fit(xs, labels, xt)
    assert (np.load(out) == model.predict(xt)).all()
    assert np.load(shares).tobytes() == model.predict_proba(xt).tobytes()


def test_bad_input_ends_with_exit_code_2(tmp_path):
    script = Path(sysconfig.get_path("scripts"), "rebearing")
    words = [script, "gmm", "--data", tmp_path / "none.npy", "--components", "2", "--out", "g.json"]
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "none.npy" in done.stderr and "Traceback" not in done.stderr
    assert not os.listdir(tmp_path)
