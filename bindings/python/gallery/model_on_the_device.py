"""A model file, run by the device's own code: from samples to an alarm.

    python model_on_the_device.py OUT [MANIFEST]

The last machine of the manifest is new, and all others are known. Without a manifest, they are
simulated.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from recordings import recordings, simulated
from rebearing import GuardedAdapter, Library, Monitor


def main(out, manifest=None):
    manifest = manifest or simulated(out)
    machines = list(dict.fromkeys(domain for domain, *_ in recordings(manifest)))
    *known, new = machines
    library = Library.from_manifest(manifest, known)
    adapter = GuardedAdapter(pool_is="all").fit_manifest(library, manifest, new)
    model = adapter.to_rbm()
    Path(out, "model.rbm").write_bytes(model)

    # The machine is healthy, and then a fault begins.
    of_new = [recording for recording in recordings(manifest) if recording[0] == new]
    healthy = next(samples for _, label, _, samples in of_new if label == library.healthy_)
    fault, rate, faulty = next(rest for _, *rest in of_new if rest[0] != library.healthy_)
    monitor = Monitor(model)
    findings = monitor.push(np.concatenate([healthy, faulty]))
    seconds = (len(healthy) + len(faulty)) / rate / len(findings)
    time = seconds * (1 + np.arange(len(findings)))

    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
    posterior = np.array([found.posterior for found in findings])
    above.stackplot(time, posterior.T, labels=monitor.classes_)
    above.set_title(f"{new}: a model of {len(model)} bytes in the device's code")
    above.set_ylabel("probability")
    above.set_ylim(0, 1)

    level = [np.nan if found.level is None else found.level for found in findings]
    below.plot(time, level, color="C3", label="level of the alarm")
    alarms = [at for at, found in zip(time, findings) if found.alarm]
    below.axvspan(alarms[0], alarms[-1], color="C3", alpha=0.15, label="alarm")
    for axes in (above, below):
        axes.axvline(len(healthy) / rate, color="black", linestyle="--", label=f"{fault} begins")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        axes.margins(x=0)
    below.set_xlabel("time (s)")
    below.set_ylabel("mean probability of a fault")
    below.set_ylim(0, 1.05)
    figure.savefig(Path(out, "model_on_the_device.png"), dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
