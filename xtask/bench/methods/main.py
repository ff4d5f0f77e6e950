"""Runs every method on every task and prints the tables: `cargo xtask bench methods`."""

import argparse
import json
import math
import sys
import tempfile
import time
import warnings

import data
import ours
import pot_methods
import skada_methods
from tables import Results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rebearing", help="the command")
    parser.add_argument("--data", help="folder of the data")
    parser.add_argument("--only", help="groups, with commas between them")
    for flag in ["--deep", "--json", "--quick", "--check"]:
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    # Solvers that stop at their iteration limit are judged by their labels.
    warnings.filterwarnings("ignore")
    if options.check:
        check(options.deep)
        return
    results = Results()
    with tempfile.TemporaryDirectory() as work:
        found = data.tasks(options.data, options.rebearing, work, options.quick, options.only)
        for group, tasks in found:
            for task in tasks:
                measure(task, results, work, options)
                print(f"    {group} {task.name}", file=sys.stderr, flush=True)
            if tasks and not options.json:
                print(results.table(group), flush=True)
    if options.json:
        print(json.dumps({"runs": results.runs}))


def measure(task, results, work, options):
    seeds = range(1 if options.quick else 3)
    for name, kind, seed in ours.methods(seeds):
        try:
            accuracy, seconds = ours.run(options.rebearing, work, task, name, kind, seed)
        except ValueError as error:
            print(f"    ours {name} on {task.name}: {error}", file=sys.stderr)
            accuracy, seconds = math.nan, math.nan
        results.add(task.group, task.name, "ours", label(name, kind), seed, accuracy, seconds)
    for name, make in pot_methods.methods().items():
        began = time.perf_counter()
        carried = attempt(f"POT {name} on {task.name}", lambda: pot_methods.carry(make, task))
        spent = time.perf_counter() - began
        for kind in ["softmax", "nearest"]:
            timed(results, task, "POT", label(name, kind), 0,
                  lambda: carried if carried is None else pot_methods.classify(carried, task, kind),
                  spent)
    for seed in seeds:
        timed(results, task, "sklearn + POT", "gmm-otda-map", seed,
              lambda: pot_methods.gmm_otda(task, seed))
    if not options.quick:
        for name, make in skada_methods.methods("softmax", task.xs).items():
            timed(results, task, "skada", name, 0,
                  lambda: skada_methods.predict(make, name, task))
    if options.deep:
        deep_methods(task, results, seeds)


def label(name, kind):
    """The name of a row. Softmax is the rule; the other classifier is named."""
    return name if kind == "softmax" else f"{name}, {kind}"


def deep_methods(task, results, seeds):
    import deep
    import large_scale
    for seed in seeds:
        for name in deep.METHODS:
            timed(results, task, "jax", name, seed, lambda: deep.predict(name, task, seed))
        for name in large_scale.METHODS:
            timed(results, task, "jax", name, seed,
                  lambda: large_scale.predict(name, task, seed, "softmax"))


def attempt(what, work):
    """The result of `work`, or `None` and its error on stderr."""
    try:
        return work()
    except (ValueError, ArithmeticError) as error:
        print(f"    {what}: {error}", file=sys.stderr)
        return None


def timed(results, task, side, method, seed, predict, spent=0.0):
    """Adds a run. A method that fails on a task has a dash there. `spent` are earlier seconds."""
    began = time.perf_counter()
    found = attempt(f"{side} {method} on {task.name}", predict)
    seconds = spent + time.perf_counter() - began
    accuracy = math.nan if found is None else 100 * float((found == task.yt).mean())
    results.add(task.group, task.name, side, method, seed, accuracy, seconds)


def check(deep):
    import check as known
    known.pot_and_skada()
    if deep:
        known.deep()


if __name__ == "__main__":
    main()
