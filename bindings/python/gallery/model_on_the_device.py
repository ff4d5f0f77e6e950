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
    at = {label: samples for domain, label, _, samples in recordings(manifest) if domain == new}
    fault = next(label for label in at if label != library.healthy_)
    monitor = Monitor(model)
    findings = monitor.push(np.concatenate([at[library.healthy_], at[fault]]))
    begin = len(Monitor(model).push(at[library.healthy_]))

    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
    posterior = np.array([found.posterior for found in findings])
    above.stackplot(range(len(findings)), posterior.T, labels=monitor.classes_)
    above.set_ylabel("probability")
    above.set_ylim(0, 1)
    above.set_title(f"{new}: {adapter.verdict_}, a model of {len(model)} bytes")
    above.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    below.plot([np.nan if found.level is None else found.level for found in findings], color="C3")
    raised = next((found.window for found in findings if found.alarm), None)
    if raised is not None:
        below.axvline(raised, color="0.4", linestyle=":", label="alarm")
    for axes in (above, below):
        axes.axvline(begin, color="black", linestyle="--", label=f"{fault} begins")
    below.set_xlabel("window")
    below.set_ylabel("mean probability of a fault")
    below.set_ylim(0, 1.05)
    below.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(Path(out, "model_on_the_device.png"), dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
