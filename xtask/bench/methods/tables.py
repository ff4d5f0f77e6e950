"""Tables in the shape of the paper: methods in rows, tasks in columns, the mean last."""

import math

# Published means in %, with the protocol where it differs from ours.
PUBLISHED = {
    "office": [("JDA (20 source rows a class)", 46.3), ("OT-GL (20 source rows a class)", 47.7)],
    "cstr": [("baseline", 82.5), ("OTDA", 91.4), ("JDOT", 87.2)],
    "cwru": [("source only", 50.40), ("OTDA exact", 81.42), ("OTDA Sinkhorn", 84.39),
             ("OTDA affine", 82.44), ("HOT-DA", 85.22), ("GMM-OTDA MAP", 86.35),
             ("GMM-OTDA T", 86.59)],
}
PROTOCOL = {"cwru": "the paper has other features, three speeds and ten classes"}


def mean(values):
    """The mean of the numbers that are there; not a number if there are none."""
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


class Results:
    """Accuracies and seconds of every run."""

    def __init__(self):
        self.runs = []

    def add(self, group, task, side, method, seed, accuracy, seconds):
        self.runs.append({"group": group, "task": task, "side": side, "method": method,
                          "seed": seed, "accuracy": accuracy, "seconds": seconds})

    def table(self, group):
        """The table of one group, as Markdown."""
        runs = [run for run in self.runs if run["group"] == group]
        tasks = list(dict.fromkeys(run["task"] for run in runs))
        rows = list(dict.fromkeys((run["side"], run["method"]) for run in runs))
        lines = [f"| {group} | | {' | '.join(tasks)} | mean | seconds a task |",
                 "|---|---|" + "---|" * (len(tasks) + 2)]
        for side, method in rows:
            own = [r for r in runs if (r["side"], r["method"]) == (side, method)]
            cells = [mean([r["accuracy"] for r in own if r["task"] == task]) for task in tasks]
            # A method that has no answer for a task has no mean over all tasks.
            average = math.nan if any(map(math.isnan, cells)) else mean(cells)
            seconds = mean([r["seconds"] for r in own])
            text = " | ".join(map(percent, [*cells, average]))
            lines.append(f"| {method} | {side} | {text} | {seconds:.2f} |")
        blank = " | ".join("" for _ in tasks)
        for method, value in PUBLISHED.get(group, []):
            lines.append(f"| {method} | published | {blank} | {value:.1f} | |")
        if group in PROTOCOL:
            lines.append(f"\n({PROTOCOL[group]})")
        return "\n".join(lines) + "\n"


def percent(value):
    return "–" if math.isnan(value) else f"{value:.1f}"
