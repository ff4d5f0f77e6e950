"""The package in a process: imports, signals, progress, the command."""

import doctest
import importlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import rebearing
from rebearing import GaussianMixture


def python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)


def test_importing_brings_neither_scikit_learn_nor_scipy():
    found = python(
        "import rebearing, sys; print([m for m in ('sklearn', 'scipy', 'pandas') if m in sys.modules])"
    )
    assert found.stdout.strip() == "[]", found.stderr


def test_everything_works_without_scikit_learn():
    found = python(
        "import sys; sys.modules['sklearn'] = None\n"
        "import numpy as np, rebearing as r\n"
        "x = np.random.default_rng(0).normal(size=(60, 2)); y = np.repeat([0, 1], 30)\n"
        "x[30:] += 9\n"
        "m = r.GMMOTDAClassifier(n_components=2).fit(x, y, x + 1)\n"
        "print(m.score(x + 1, y), m)\n"
        "print(m.set_params(reg=0.01).get_params()['reg'])\n"
        "try: r.GaussianMixture().predict(x)\n"
        "except ValueError as error: print(type(error).__name__)\n"
    )
    wanted = "1.0 GMMOTDAClassifier(n_components=2) 0.01 NotFittedError"
    assert found.stdout.split() == wanted.split(), found


def test_every_public_name_is_there():
    for name in rebearing.__all__:
        assert getattr(rebearing, name) is not None
    with pytest.raises(AttributeError):
        rebearing.nothing


def large():
    rng = np.random.default_rng(0)
    return rng.normal(size=(100_000, 64))


def test_ctrl_c_stops_a_long_fit():
    main = threading.main_thread().ident
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
    x = large()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        GaussianMixture(200, covariance_type="full", tol=0, max_iter=10**6).fit(x)


def test_progress_is_told_and_its_exception_stops_the_fit():
    told = []

    def progress(stage, done, total):
        told.append((stage, done, total))
        if len(told) == 3:
            raise OSError("enough")

    with pytest.raises(OSError, match="enough"):
        settings = dict(tol=0, max_iter=10**6, progress=progress)
        GaussianMixture(50, covariance_type="diag", **settings).fit(large())
    assert len(told) == 3 and all(0 <= done <= total for _, done, total in told)


def test_other_threads_run_during_a_fit():
    x = large()[:20_000]
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    with pytest.warns(UserWarning):
        GaussianMixture(30, covariance_type="diag", tol=0, max_iter=30).fit(x)
    end = time.monotonic()
    done.set()
    thread.join()
    within = [t for t in ticks if start < t < end]
    # The interpreter's lock was free nearly all the time.
    assert len(within) > 5


def test_the_command_is_in_the_wheel():
    script = os.path.join(os.path.dirname(sys.executable), "rebearing")
    found = subprocess.run([script, "--version"], capture_output=True, text=True)
    assert found.stdout.strip() == f"rebearing {rebearing.__version__}" and found.returncode == 0
    found = subprocess.run([script, "plan", "--cost", "none.npy"], capture_output=True, text=True)
    assert found.returncode == 2 and "error" in found.stderr
    found = subprocess.run([script, "gmm", "--help"], capture_output=True, text=True)
    assert found.returncode == 0 and "--components" in found.stdout


@pytest.mark.parametrize(
    "module", ["_mixture", "_classifiers", "_features", "_transport", "_library", "_adapter"]
)
def test_examples_in_the_documentation_hold(module):
    found = doctest.testmod(importlib.import_module(f"rebearing.{module}"))
    assert found.failed == 0
