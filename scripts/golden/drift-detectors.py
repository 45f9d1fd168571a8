"""Writes test/golden/drift-detectors.json: the alarms and warnings of river's detectors on random streams.

Run from the root of the project:
  python scripts/golden/drift-detectors.py && npx prettier --write test/golden/drift-detectors.json
The file contains the versions of the packages that produced it.
"""

import json
import platform

import numpy as np
import river
from river import drift

SEED = 20240921


def draw(random):
    """Draws decisions whose rate jumps, drifts and stays constant, as text; rare decisions; scores that jump."""
    rates = np.concatenate([np.full(1000, 0.3), np.full(1000, 0.5), np.linspace(0.5, 0.1, 1000), np.full(500, 0.1)])
    rare = np.repeat([0.02, 0.08], 1500)
    scores = random.normal(size=1500) + np.repeat([0, 1, 0.3], 500)
    return {
        "decisions": "".join(str(int(value)) for value in random.uniform(size=rates.size) < rates),
        "rare": "".join(str(int(value)) for value in random.uniform(size=rare.size) < rare),
        "scores": np.round(scores, 3).tolist(),
    }


DETECTORS = [
    ("adwin", drift.ADWIN, {}, {}),
    (
        "adwin",
        drift.ADWIN,
        {"delta": 0.1, "clock": 7, "max_buckets": 3, "min_window_length": 2, "grace_period": 1},
        {"delta": 0.1, "clock": 7, "maxBuckets": 3, "minWindowLength": 2, "gracePeriod": 1},
    ),
    ("adwin", drift.ADWIN, {"delta": 0.5, "clock": 1}, {"delta": 0.5, "clock": 1}),
    ("page_hinkley", drift.PageHinkley, {"threshold": 10}, {"threshold": 10}),
    ("page_hinkley", drift.PageHinkley, {"threshold": 5, "mode": "up"}, {"threshold": 5, "mode": "up"}),
    ("page_hinkley", drift.PageHinkley, {"threshold": 5, "mode": "down"}, {"threshold": 5, "mode": "down"}),
]
BINARY = [
    ("ddm", drift.binary.DDM, {}, {}),
    ("hddm_a", drift.binary.HDDMA, {}, {}),
    ("hddm_a", drift.binary.HDDMA, {"two_sided_test": True}, {"twoSidedTest": True}),
    ("hddm_w", drift.binary.HDDMW, {}, {}),
    ("hddm_w", drift.binary.HDDMW, {"two_sided_test": True}, {"twoSidedTest": True}),
]


def watch(name, make, given, params, stream, values):
    detector = make(**given)
    alarms, warnings = [], []
    for index, value in enumerate(values):
        detector.update(value)
        if detector.drift_detected:
            alarms.append(index)
        elif getattr(detector, "warning_detected", False):
            warnings.append(index)
    return {"name": name, "params": params, "stream": stream, "alarms": alarms, "warnings": warnings}


streams = draw(np.random.default_rng(SEED))
cases = []
for stream, kept in streams.items():
    values = [int(digit) for digit in kept] if isinstance(kept, str) else kept
    for case in DETECTORS + (BINARY if isinstance(kept, str) else []):
        cases.append(watch(*case, stream, values))
versions = {"python": platform.python_version(), "numpy": np.__version__, "river": river.__version__}
with open("test/golden/drift-detectors.json", "w") as file:
    json.dump({"versions": versions, "seed": SEED, "streams": streams, "cases": cases}, file)
