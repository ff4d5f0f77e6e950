"""The Python side of `cargo xtask bench host`: scikit-learn and POT, called as their users call them.

    python worker.py             # a task a line on stdin, a JSON object a line on stdout
    python worker.py TASK…       # one task

A task is a name and `key=value` words; the Rust side (host-tools/engine/examples/bench_host) takes the same
ones. Reading the files and writing the results is not part of the `seconds` in an answer.
"""

import json
import pathlib
import sys
import time
import warnings

import numpy as np
import ot
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

# An iteration limit that is reached is part of some measurements.
warnings.simplefilter("ignore", ConvergenceWarning)


class Clock:
    """Time on the wall, and time on the processor, which tells more where the machine is shared."""

    def __init__(self):
        self.cpu = time.process_time()
        self.wall = time.perf_counter()

    def seconds(self):
        return time.perf_counter() - self.wall

    def stop(self):
        """The first fields of an answer."""
        seconds = self.seconds()
        return {"seconds": seconds, "cpu_seconds": time.process_time() - self.cpu}


class Task:
    """The words of a task, and the files they name."""

    def __init__(self, line):
        self.name, *words = line.split()
        self.words = dict(word.split("=", 1) for word in words)

    def __getitem__(self, key):
        return self.words[key]

    def get(self, key):
        return self.words.get(key)

    def load(self, name):
        return np.load(pathlib.Path(self["folder"]) / f"{name}.npy")

    def matrix(self, name):
        """A feature matrix in the task's precision; `rows` and `dims` take a corner of it."""
        x = self.load(name)[: self.number("rows"), : self.number("dims")]
        return np.ascontiguousarray(x, dtype={"f32": np.float32, "f64": np.float64}[self["precision"]])

    def number(self, key):
        return int(self[key]) if key in self.words else None

    def start(self, name, dtype):
        """Weights, means and precisions to start from."""
        weights, means, variances = (self.load(f"{name}-{k}") for k in ("weights", "means", "variances"))
        dims = self.number("dims")
        return (
            weights.astype(dtype),
            means[:, :dims].astype(dtype),
            (1 / variances[:, :dims]).astype(dtype),
        )

    def write(self, **arrays):
        """Results for comparison: float64, little endian, nothing else."""
        if out := self.get("out"):
            for key, array in arrays.items():
                np.asarray(array, dtype="<f8").tofile(f"{out}-{key}")


def mixture(task, components, start=None):
    weights, means, precisions = start or (None, None, None)
    return GaussianMixture(
        components,
        covariance_type="diag",
        tol=float(task["tolerance"]),
        max_iter=int(task["iterations"]),
        reg_covar=float(task["floor"]),
        random_state=task.number("seed") or 0,
        weights_init=weights,
        means_init=means,
        precisions_init=precisions,
    )


def em(task):
    x = task.matrix(task["data"])
    start = task.start(task["start"], x.dtype)
    clock = Clock()
    model = mixture(task, len(start[0]), start).fit(x)
    answer = clock.stop()
    task.write(weights=model.weights_, means=model.means_, variances=model.covariances_)
    return {
        **answer,
        "iterations": model.n_iter_,
        "log_likelihood": float(model.lower_bound_),
    }


def density(task):
    """An E-step that leaves nothing out: the log-likelihood of every sample."""
    x = task.matrix(task["data"])
    weights, means, precisions = task.start(task["start"], x.dtype)
    model = mixture(task, len(weights))
    model.weights_, model.means_, model.covariances_ = weights, means, 1 / precisions
    model.precisions_cholesky_ = np.sqrt(precisions)
    clock = Clock()
    likelihoods = model.score_samples(x)
    answer = clock.stop()
    return {**answer, "log_likelihood": float(likelihoods.mean(dtype=float))}


def exact(task):
    a, b, cost = task.load(task["a"]), task.load(task["b"]), task.load(task["cost"])
    clock = Clock()
    plan, log = ot.emd(a, b, cost, numItermax=10_000_000, log=True)
    answer = clock.stop()
    return {**answer, "cost": log["cost"], "marginal_error": marginal_error(plan, a, b)}


def sinkhorn(task):
    a, b, cost = task.load(task["a"]), task.load(task["b"]), task.load(task["cost"])
    clock = Clock()
    plan, log = ot.sinkhorn(
        a, b, cost / cost.max(), float(task["epsilon"]), method=task["method"],
        stopThr=float(task["tolerance"]), numItermax=1_000_000, log=True,
    )
    answer = clock.stop()
    task.write(plan=plan)
    return {
        **answer,
        "iterations": int(log.get("niter", log.get("n_iter", 0))),
        "cost": float((plan * cost).sum()),
        "marginal_error": marginal_error(plan, a, b),
    }


def marginal_error(plan, a, b):
    return float(np.abs(plan.sum(1) - a).sum() + np.abs(plan.sum(0) - b).sum())


def adapt(task):
    """The whole method: two mixtures, their costs, the plan, labels for every target sample."""
    name, components = task["data"], int(task["components"])
    reading = Clock()
    source, labels = task.matrix(f"{name}-source"), task.load(f"{name}-source-labels")
    target = task.matrix(f"{name}-target")
    given = task["start"] == "given"
    classes = int(labels.max()) + 1
    per_class = components // classes
    starts = [None] * classes
    target_start = None
    if given:
        joined = task.start(f"{name}-source-{components}", source.dtype)
        starts = list(zip(*(np.split(part, classes) for part in joined)))
        target_start = task.start(f"{name}-target-{components}", target.dtype)

    read = reading.seconds()
    clock = Clock()
    models = [
        mixture(task, per_class, starts[c]).fit(source[labels == c]) for c in range(classes)
    ]
    weights = np.concatenate([m.weights_ for m in models]).astype(float)
    weights /= weights.sum()
    means = np.concatenate([m.means_ for m in models])
    deviations = np.sqrt(np.concatenate([m.covariances_ for m in models]))
    source_labels = np.repeat(np.eye(classes), per_class, axis=0)
    fitted_source = clock.seconds()
    model = mixture(task, components, target_start).fit(target)
    fitted_target = clock.seconds()
    # W2² of diagonal Gaussians is the squared distance of means and deviations side by side.
    cost = ot.dist(
        np.hstack([means, deviations]), np.hstack([model.means_, np.sqrt(model.covariances_)])
    ).astype(float)
    target_weights = model.weights_.astype(float)
    target_weights /= target_weights.sum()
    plan, log = ot.emd(weights, target_weights, cost, numItermax=10_000_000, log=True)
    target_labels = plan.T @ source_labels / plan.sum(0)[:, None]
    transported = clock.seconds()
    predicted = (model.predict_proba(target) @ target_labels).argmax(1)
    ended = clock.seconds()
    answer = clock.stop()

    task.write(labels=predicted)
    truth = task.load(f"{name}-target-labels")
    return {
        **answer,
        "seconds_read": read,
        "seconds_source": fitted_source,
        "seconds_target": fitted_target - fitted_source,
        "seconds_transport": transported - fitted_target,
        "seconds_labels": ended - transported,
        "iterations": model.n_iter_,
        "iterations_source": sum(m.n_iter_ for m in models),
        "cost": float(log["cost"]),
        "accuracy": float((predicted == truth).mean()),
    }


def about(_):
    """What is measured against."""
    return {
        "seconds": 0,
        "scikit-learn": sklearn.__version__,
        "POT": ot.__version__,
        "numpy": np.__version__,
    }


TASKS = {f.__name__: f for f in (em, density, exact, sinkhorn, adapt, about)}


def answer(line):
    task = Task(line)
    result = TASKS[task.name](task)
    with open("/proc/self/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM"))
    whole = {"process_cpu_seconds": time.process_time(), "peak_bytes": 1024 * int(peak.split()[1])}
    return json.dumps({**result, **whole})


if __name__ == "__main__":
    if words := sys.argv[1:]:
        print(answer(" ".join(words)))
    else:
        for line in sys.stdin:
            print(answer(line), flush=True)
