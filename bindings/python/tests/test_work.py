"""Long work: progress, Ctrl-C, the interpreter's lock, threads and forks."""

import multiprocessing
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import rebearing

# Work that takes hours, and stops only if it is told to.
ENDLESS = {
    "mixture": "rebearing.GaussianMixture(8, tol=0, max_iter=10**9, **settings).fit(x)",
    "entropic plan": "rebearing.plan(costs[:1500], reg=1e-5, tol=1e-300, max_iter=10**9, **settings)",
    "exact plan": "rebearing.plan(costs, **settings)",
    "classifier": "rebearing.TransferClassifier('infoot', max_samples=5000, **settings)"
    ".fit(x, x[:, 0] > 0, x + 1)",
}
BEGIN = """
import os, signal, sys, threading, time, traceback, numpy as np, rebearing
[getattr(rebearing, name) for name in rebearing.__all__]  # Imports the modules.
rng = np.random.default_rng(0)
x = rng.normal(size=(5000, 16))
costs = rng.random((4000, 4000))
settings = {}
"""


@pytest.fixture
def start():
    """Starts a program in a process of its own, and ends it if it hangs."""
    running = []

    def run(program):
        pipe = subprocess.PIPE
        words = [sys.executable, "-c", BEGIN + program]
        process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True)
        timer = threading.Timer(60, process.kill)
        timer.start()
        running.append((process, timer))
        return process

    yield run
    for process, timer in running:
        timer.cancel()
        process.kill()
        process.communicate()


def assert_ended(errors, how):
    """Asserts that these errors come from compiled code, and end so."""
    assert re.search(r"_rebearing\.\w+\(", errors), errors
    assert errors.strip().endswith(how), errors


EACH = f"""
for work in {list(ENDLESS.values())}:
    print("ready", flush=True)
    try:
        exec(work)
    except KeyboardInterrupt:
        print(repr(traceback.format_exc()), flush=True)
"""


def test_ctrl_c_ends_the_work(start):
    process = start(EACH)
    for work in ENDLESS:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        since = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert_ended(
            process.stdout.readline().strip("'\n").removesuffix("\\n"), "KeyboardInterrupt"
        )
        print(f"{work}: ended {time.monotonic() - since:.2f} s after Ctrl-C")


# The thread counts how often it finds the main thread in this package. If the work held the lock,
# it would not count to the end.
COUNT = """
package, main = os.path.dirname(rebearing.__file__), threading.get_ident()

def count():
    found = 0
    while found < 100:
        time.sleep(0.001)
        at = sys._current_frames()[main].f_code.co_filename
        found = found + 1 if at.startswith(package) else 0
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=count).start()
"""


@pytest.mark.parametrize("work", ["mixture", "exact plan"])
def test_other_threads_run_during_the_work(start, work):
    _, errors = start(COUNT + ENDLESS[work]).communicate()
    assert_ended(errors, "KeyboardInterrupt")


# The exception comes at the first call.
STOP = """
def progress(stage, done, total):
    raise LookupError(f"{type(stage).__name__} {type(done).__name__} {type(total).__name__}")

settings = {"progress": progress}
"""


def test_an_exception_of_the_callback_ends_the_work(start):
    _, errors = start(STOP + ENDLESS["mixture"]).communicate()
    assert_ended(errors, "LookupError: str int int")


def test_progress_counts_up():
    calls = []

    def progress(stage, done, total):
        calls.append((done, total))
        if len(calls) == 5:
            raise StopIteration

    x = np.random.default_rng(0).normal(size=(5000, 8))
    with pytest.raises(StopIteration):
        rebearing.GaussianMixture(4, tol=0, max_iter=10**4, progress=progress).fit(x)
    done, total = zip(*calls)
    assert list(done) == sorted(done) and done[-1] > done[0]
    assert set(total[1:]) == {10**4}


def fit(seed):
    """The numbers of a fit, as bytes."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 300)
    x = rng.normal(size=(900, 5)) + 4 * y[:, None]
    model = rebearing.GMMOTDAClassifier(method="t").fit(x, y, x + 1)
    mixture = rebearing.GaussianMixture(5, n_init=3, random_state=seed).fit(x)
    return model.predict_proba(x).tobytes(), mixture.means_.tobytes()


def test_threads_get_the_results_of_one_thread():
    alone = [fit(seed) for seed in range(4)]
    assert len(set(alone)) == 4
    found = [None] * 4

    def work(seed):
        found[seed] = fit(seed)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone


@pytest.mark.parametrize("count", ["1", "2", "7"])
def test_the_number_of_threads_does_not_change_a_bit(count, monkeypatch):
    alone = fit(0)
    monkeypatch.setenv("RAYON_NUM_THREADS", count)
    assert fit(0) == alone


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_children_after_a_fork_get_the_results_of_the_parent():
    alone = [fit(seed) for seed in range(2)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(fit, range(2)).get(timeout=60) == alone


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
@pytest.mark.filterwarnings("ignore:.*fork")
def test_joblib_gets_the_results_of_the_parent(backend):
    joblib = pytest.importorskip("joblib")
    alone = [fit(seed) for seed in range(2)]
    parallel = joblib.Parallel(n_jobs=2, backend=backend, timeout=60)
    assert parallel(joblib.delayed(fit)(seed) for seed in range(2)) == alone
