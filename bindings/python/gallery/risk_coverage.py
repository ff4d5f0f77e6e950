"""How many transfers does a promise accept, and how good are they?

    python risk_coverage.py OUT [MANIFEST]

Every machine is adapted to every other one. A transfer is accepted if its predicted accuracy keeps
the promise. The curve goes from the strictest promise (left) to none at all (right).
"""

import sys
from itertools import permutations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from recordings import features, simulated
from rebearing import GuardedAdapter, Library


def main(out, manifest=None):
    if manifest:
        front_end, domains = features(manifest)
    else:
        front_end, domains = features(simulated(out, machines=6), noise=0.1)
    libraries = {
        name: Library.fit(x, y, np.full(len(y), name), front_end)
        for name, (x, y, _) in domains.items()
    }
    predicted, right = [], []
    for source, target in permutations(domains, 2):
        x, y, later = domains[target]
        adapter = GuardedAdapter(pool_is="all", force=True).fit(libraries[source], x[~later])
        predicted.append(adapter.predicted_accuracy_)
        right.append(100 * adapter.score(x[later], y[later]))

    order = np.argsort(predicted)[::-1]
    predicted, right = np.array(predicted)[order], np.array(right)[order]
    count = np.arange(1, len(right) + 1)
    coverage = 100 * count / len(right)

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(coverage, np.cumsum(right) / count, linewidth=2, label="mean of the accepted")
    axes.step(
        coverage, np.minimum.accumulate(right), color="C3", where="post", label="worst of them"
    )
    accepted = 100 * np.mean(predicted >= 0.9)
    text = f"a promise of 90 % accepts {accepted:.0f} %"
    axes.axvline(accepted, color="0.4", linestyle="--", label=text)
    axes.set_title("A promise keeps the poor transfers out")
    axes.set_xlabel("transfers accepted (% of all)")
    axes.set_ylabel("windows right (%)")
    axes.set_xlim(0, 102)
    axes.set_ylim(0, 105)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3)
    figure.savefig(Path(out, "risk_coverage.png"), dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
