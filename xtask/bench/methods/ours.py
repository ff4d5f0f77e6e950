"""This project's methods, called as a user calls them: `rebearing transfer`."""

import json
import subprocess
from pathlib import Path

import numpy as np


def run(rebearing, work, task, seed, classifier):
    """Accuracy and seconds of every method: {name: (accuracy, seconds)}."""
    files = {}
    for name in ["xs", "ys", "xt", "yt"]:
        files[name] = Path(work) / f"{name}.npy"
        np.save(files[name], getattr(task, name))
    command = [rebearing, "transfer", "--source-x", files["xs"], "--source-y", files["ys"],
               "--target-x", files["xt"], "--target-y", files["yt"], "--scale", "none",
               "--method", "all", "--classifier", classifier, "--seed", seed, "--json"]
    answer = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return rows(json.loads(answer.stdout))


def rows(answer):
    """The methods of an answer that gave labels. `guarded` may refuse, which is no accuracy."""
    methods = answer if isinstance(answer, list) else answer["methods"]
    return {row["method"]: (100 * row["accuracy"], total(row["seconds"]))
            for row in methods if row.get("accuracy") is not None and row["method"] != "guarded"}


def total(seconds):
    return sum(seconds.values()) if isinstance(seconds, dict) else seconds
