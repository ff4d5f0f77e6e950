"""From samples to a model file: the same bits as the command's."""

import csv
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from rebearing import GuardedAdapter, Library, Monitor, RebearingError, SpectralFeatures


def command(*words):
    script = os.path.join(os.path.dirname(sys.executable), "rebearing")
    found = subprocess.run([script, "--json", *map(str, words)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machines")
    command("simulate", "--out", folder, "--seconds", "4")
    return folder / "manifest.csv"


@pytest.fixture(scope="module")
def library(machines):
    return Library.from_manifest(machines, "motor-a")


def rows(machines):
    with open(machines) as file:
        return list(csv.DictReader(file))


def test_a_library_is_the_commands(machines, library, tmp_path):
    out = tmp_path / "a.json"
    command("fit", "--manifest", machines, "--domain", "motor-a", "--out", out)
    assert library.to_json() == out.read_bytes()
    assert Library.load(out) == library
    library.save(tmp_path / "b.json")
    assert (tmp_path / "b.json").read_bytes() == out.read_bytes()
    copy = pickle.loads(pickle.dumps(library))
    assert copy == library and copy.domains_ == ["motor-a"] and copy.healthy_ == "Healthy"


def test_a_library_of_all_machines_is_the_commands(machines, tmp_path):
    out = tmp_path / "all.json"
    command("fit", "--manifest", machines, "--domain", "all", "--out", out)
    assert Library.from_manifest(machines).to_json() == out.read_bytes()


@pytest.mark.parametrize("pool_is", ["all", "unknown"])
@pytest.mark.parametrize("encoding", ["f32", "i16"])
def test_a_model_is_the_commands(machines, library, tmp_path, pool_is, encoding):
    out = tmp_path / "b.rbm"
    library.save(tmp_path / "a.json")
    found = command(
        *("adapt", "--source", tmp_path / "a.json", "--manifest", machines, "--domain", "motor-b"),
        *("--pool-is", pool_is, "--encoding", encoding, "--out", out),
    )
    adapter = GuardedAdapter(pool_is, encoding=encoding).fit_manifest(library, machines, "motor-b")
    assert adapter.to_rbm() == out.read_bytes()
    assert adapter.verdict_ == found["verdict"]
    assert adapter.predicted_accuracy_ == found["predicted_accuracy"]
    assert list(adapter.classes_) == found["classes"]


def test_the_monitor_says_what_predict_says(machines, library, tmp_path):
    adapter = GuardedAdapter("all").fit_manifest(library, machines, "motor-b")
    (tmp_path / "b.rbm").write_bytes(adapter.to_rbm())
    row = next(row for row in rows(machines) if row["domain"] == "motor-b")
    path = machines.parent / row["path"]
    wanted = command("predict", "--model", tmp_path / "b.rbm", path)["files"][0]["reports"]
    recording = recorded(path)
    monitor = Monitor(adapter.to_rbm())
    found = [finding for piece in np.array_split(recording, 11) for finding in monitor.push(piece)]
    assert [one.label for one in found] == [one["label"] for one in wanted] and found
    for one, other in zip(found, wanted):
        assert one.window == other["window"]
        posterior = [np.float32(other["posterior"][name]) for name in monitor.classes_]
        assert one.posterior.tolist() == posterior
        assert one.state == other["decision"]["state"]
    # A copy starts afresh.
    again = pickle.loads(pickle.dumps(monitor)).push(recording)
    assert [one.label for one in again] == [one.label for one in found]


def recorded(path):
    """The samples of a simulated recording."""
    return pytest.importorskip("scipy.io.wavfile").read(path)[1]


def test_features_are_those_of_the_library(machines, library):
    one = rows(machines)[0]
    recording = recorded(machines.parent / one["path"])
    features = SpectralFeatures(float(one["rate_hz"]))
    windows = features.windows(recording)
    assert windows.dtype == np.float32 and windows.shape[1] == 32
    length = features.window_len
    some = np.stack([recording[1024 * i : 1024 * i + length] for i in range(4)])
    assert (features.fit_transform(some) == windows[:4]).all()
    names = features.get_feature_names_out()
    assert len(set(names)) == 32 and names[0].startswith("band_0_")
    dense = features.windows(recording, stride=256)
    assert (dense[::4][: len(windows)] == windows).all()


def test_an_adapter_of_features_names_what_the_recordings_give(machines):
    table = rows(machines)
    features = SpectralFeatures(float(table[0]["rate_hz"]))
    parts = [features.windows(recorded(machines.parent / row["path"])) for row in table]
    count = [len(part) for part in parts]
    x = np.vstack(parts)
    label = np.repeat([row["label"] for row in table], count)
    domain = np.repeat([row["domain"] for row in table], count)
    recording = np.repeat(np.arange(len(table)), count)
    known, new = domain == "motor-a", domain == "motor-b"
    library = Library.fit(x[known], label[known], domain[known], features, recording=recording[known])
    adapter = GuardedAdapter("all").fit(library, x[new], recording=recording[new])
    assert adapter.verdict_ == "adapt" and adapter.score(x[new], label[new]) > 0.9
    assert adapter.predict_proba(x[new]).shape == (new.sum(), len(library.classes_))
    assert Monitor(adapter.to_rbm()).classes_ == library.classes_
    # skada's way, with numbers as labels.
    numbers = np.unique(label, return_inverse=True)[1]
    healthy = int(numbers[label == "Healthy"][0])
    signs = np.where(known, 1, -2)
    other = GuardedAdapter("all", features=features, healthy=healthy)
    other.fit(x, numbers, sample_domain=signs)
    assert (other.predict(x[new]) == numbers[new]).mean() > 0.9
    assert other.unknown_ == -1
    copy = pickle.loads(pickle.dumps(adapter))
    assert (copy.predict(x[new]) == adapter.predict(x[new])).all()
    with pytest.raises(RebearingError, match="features"):
        GuardedAdapter().fit(library, x[new][:, :5])


def test_bad_models_and_libraries_are_refused(tmp_path):
    with pytest.raises(RebearingError):
        Monitor(b"nothing")
    with pytest.raises(RebearingError, match="not a source mixture"):
        Library.from_json("{}")
    with pytest.raises(RebearingError, match="cannot be read"):
        Library.load(tmp_path / "none.json")
    with pytest.raises(RebearingError, match="rate"):
        SpectralFeatures(-1).fit()
    with pytest.raises(RebearingError, match="3072 samples"):
        SpectralFeatures(12000).transform(np.zeros((2, 100)))
