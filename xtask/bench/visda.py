"""gmm-otda-map and gmm-otda-t at the size of VisDA, beside scikit-learn and POT.

    python xtask/bench/visda.py FOLDER --rebearing target/release/rebearing [--share 0.1]

makes two matrices of float32 in FOLDER (152,397 and 55,388 rows, 2048 features, 31 classes; --share
takes fewer rows), runs `rebearing transfer` on them, and then the same steps with scikit-learn and POT:
a diagonal mixture for each class of the source, one of the target, an exact plan between their
components, and for gmm-otda-t a logistic regression (L-BFGS) on source rows that are moved to the
component with the largest share. It prints seconds, peak memory and accuracy of each as JSON. Each
program runs in a process of its own, so that its peak memory is its own. It needs numpy, scikit-learn
and POT.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np

SOURCE, TARGET, FEATURES, CLASSES, PER_CLASS = 152_397, 55_388, 2048, 31, 2
BLOCK = 4096


def make(folder, share):
    """Classes of two clouds each. The target's are moved, stretched and noisier."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES * 2, FEATURES)).astype(np.float32) * 0.5
    for name, rows, moved, noise in (("s", SOURCE, 0.0, 1.0), ("t", TARGET, 0.3, 1.2)):
        rows = int(rows * share)
        shift = moved * rng.normal(size=FEATURES).astype(np.float32)
        y = rng.integers(CLASSES, size=rows)
        cloud = 2 * y + rng.integers(2, size=rows)
        x = np.lib.format.open_memmap(
            folder / f"x{name}.npy", mode="w+", dtype=np.float32, shape=(rows, FEATURES)
        )
        for start in range(0, rows, BLOCK):
            some = cloud[start : start + BLOCK]
            draws = rng.standard_normal((len(some), FEATURES), dtype=np.float32)
            x[start : start + BLOCK] = centres[some] * (1 + moved) + shift + noise * draws
        x.flush()
        np.save(folder / f"y{name}.npy", y)


def measured(command):
    """Seconds, peak memory in GB and standard output of a program."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return time.perf_counter() - start, peak / 2**20, json.loads(done.stdout)


def theirs(folder, method):
    import ot
    from sklearn.linear_model import LogisticRegression
    from sklearn.mixture import GaussianMixture

    xs, ys, xt, yt = (np.load(folder / f"{name}.npy") for name in ("xs", "ys", "xt", "yt"))
    floor = 0.01 * float(xs.var(axis=0).mean())
    fit = lambda x, k: GaussianMixture(  # noqa: E731
        k, covariance_type="diag", reg_covar=floor, n_init=1, random_state=0
    ).fit(x)
    own = [fit(xs[ys == c], PER_CLASS) for c in range(CLASSES)]
    means = np.concatenate([m.means_ for m in own])
    deviations = np.sqrt(np.concatenate([m.covariances_ for m in own]))
    weights = np.concatenate([m.weights_ for m in own]) / CLASSES
    labels = np.repeat(np.eye(CLASSES), PER_CLASS, axis=0)
    target = fit(xt, CLASSES * PER_CLASS)
    cost = ot.dist(means, target.means_) + ot.dist(deviations, np.sqrt(target.covariances_))
    plan = ot.emd(weights, target.weights_, cost)
    if method == "gmm-otda-map":
        table = plan.T @ labels / plan.sum(axis=0)[:, None]
        found = (target.predict_proba(xt) @ table).argmax(axis=1)
    else:
        moved = np.empty_like(xs)
        to = np.sqrt(target.covariances_)
        for c, mixture in enumerate(own):
            rows = np.flatnonzero(ys == c)
            component = PER_CLASS * c + mixture.predict(xs[rows])
            for k in np.unique(component):
                some = rows[component == k]
                l = plan[k].argmax()
                moved[some] = (xs[some] - means[k]) * (to[l] / deviations[k]) + target.means_[l]
        model = LogisticRegression(C=1e4 / len(xs), max_iter=100).fit(moved, ys)
        found = model.predict(xt)
    print(json.dumps({"accuracy": float((found == yt).mean())}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rebearing")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--theirs", metavar="METHOD", help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=["rebearing", "others"])
    args = parser.parse_args()
    if args.theirs:
        return theirs(args.folder, args.theirs)
    args.folder.mkdir(exist_ok=True)
    make(args.folder, args.share)
    matrices = sum((args.folder / f"x{name}.npy").stat().st_size for name in "st") / 2**30
    files = [str(args.folder / name) for name in ("xs.npy", "ys.npy", "xt.npy", "yt.npy")]
    flags = ["--source-x", "--source-y", "--target-x", "--target-y"]
    # The largest peak of all children so far is known, so the leaner program comes first.
    for who in ("rebearing", "others"):
        if args.only not in (None, who):
            continue
        for method in ("gmm-otda-map", "gmm-otda-t"):
            if who == "rebearing":
                command = [args.rebearing, "transfer", "--json", "--scale", "none"]
                command += ["--method", method, "--restarts", "1", "--solver", "exact"]
                command += [word for pair in zip(flags, files) for word in pair]
            else:
                command = [sys.executable, __file__, str(args.folder), "--theirs", method]
            seconds, peak, result = measured(command)
            row = {"program": who, "method": method, "accuracy": result["accuracy"]}
            row |= {"seconds": round(seconds, 1), "peak_gb": round(peak, 2)}
            row |= {"matrices_gb": round(matrices, 2), "steps": result.get("steps")}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
