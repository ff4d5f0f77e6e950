"""This project's methods, called as a user calls them: `rebearing transfer`."""

import json
import subprocess
from pathlib import Path

import numpy as np

# Methods that draw random numbers run with every seed.
SEEDED = ["source-only", "gmm-otda-map", "gmm-otda-t", "hot-da"]
# InfoOT solves an entropic plan in each iteration; a thousand rows of 800 features take minutes.
INFOOT_ROWS = 300


def methods(seeds):
    """Every run: method, classifier and seed."""
    runs = [(name, "softmax", seed) for name in SEEDED for seed in seeds]
    for name in ["otda-exact", "otda-sinkhorn", "otda-affine", "otda-affine-diag"]:
        runs += [(name, kind, 0) for kind in ["softmax", "nearest"]]
    return runs + [(name, "softmax", 0) for name in ["infoot", "infoot-barycentric"]]


def run(rebearing, work, task, name, kind, seed):
    """Accuracy in %, and seconds."""
    files = {}
    for side in ["xs", "ys", "xt", "yt"]:
        files[side] = Path(work) / f"{side}.npy"
        np.save(files[side], getattr(task, side))
    command = [rebearing, "transfer", "--source-x", files["xs"], "--source-y", files["ys"],
               "--target-x", files["xt"], "--target-y", files["yt"], "--scale", "none",
               "--method", name, "--classifier", kind, "--seed", seed, "--json"]
    if name.startswith("infoot"):
        command += ["--max-samples", INFOOT_ROWS]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    answer = json.loads(done.stdout)
    return 100 * answer["accuracy"], total(answer["seconds"])


def total(seconds):
    """The sum of a method's steps."""
    return sum(seconds.values()) if isinstance(seconds, dict) else seconds
