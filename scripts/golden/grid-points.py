"""Writes test/golden/grid-points.json: the multipliers of fairlearn's GridSearch, and the best of them.

Run from the root of the project:
  python scripts/golden/grid-points.py && npx prettier --write test/golden/grid-points.json
The file contains the versions of the packages that produced it. The learner is weighted least squares without an
intercept, cut at 0.5, as in the tests.
"""

import json
import logging
import platform
import warnings

import fairlearn
import numpy as np
import pandas as pd
from fairlearn.reductions import (
    BoundedGroupLoss,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    GridSearch,
    SquareLoss,
    TruePositiveRateParity,
)

SEED = 20250114
MOMENTS = {
    "demographic_parity": DemographicParity,
    "equalized_odds": EqualizedOdds,
    "error_rate_parity": ErrorRateParity,
    "true_positive_rate_parity": TruePositiveRateParity,
    "false_positive_rate_parity": FalsePositiveRateParity,
}


class LeastSquares:
    """Weighted least squares with minimum norm; as a classifier it predicts 1 above 0.5."""

    def __init__(self, is_classifier):
        self.is_classifier = is_classifier

    def fit(self, x, y, sample_weight):
        root = np.sqrt(np.asarray(sample_weight))
        self.coefficients = np.linalg.lstsq(x * root[:, None], np.asarray(y) * root, rcond=None)[0]

    def predict(self, x):
        values = x @ self.coefficients
        return 1 * (values > 0.5) if self.is_classifier else values


def draw_rows(random, groups, shares, rows):
    """Draws rows whose label and first feature depend on the group."""
    sensitive = random.choice(groups, size=rows, p=shares)
    shift = np.array([groups.index(group) for group in sensitive]) / len(groups)
    score = random.normal(size=rows) + shift
    x = np.column_stack([score.round(3), random.normal(size=rows).round(3), np.ones(rows)])
    return x, (score + random.normal(size=rows) > 0.4).astype(int), sensitive


def named(vector):
    """Returns multipliers by name, without those that are 0."""
    name = (lambda key: f"{key[1]}/{key[2]}/{key[0]}") if vector.index.nlevels == 3 else (lambda key: f"all/{key}/+")
    return {name(key): float(value) for key, value in vector.items() if value != 0}


def run(data, constraint, size, limit):
    x, y, sensitive = data
    is_loss = constraint == "bounded_group_loss"
    moment = BoundedGroupLoss(SquareLoss(0, 1)) if is_loss else MOMENTS[constraint]()
    search = GridSearch(LeastSquares(not is_loss), constraints=moment, grid_size=size, grid_limit=limit)
    search.fit(x, pd.Series(y), sensitive_features=pd.Series(sensitive))
    violations = [float(search.gammas_[column].max()) for column in search.gammas_.columns]
    return {
        "constraint": constraint,
        "grid_size": size,
        "grid_limit": limit,
        "lambdas": [named(search.lambda_vecs_[column]) for column in search.lambda_vecs_.columns],
        "errors": [float(value) for value in search.objectives_],
        "violations": violations,
        "best_index": int(search.best_idx_),
    }


def main():
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    random = np.random.default_rng(SEED)
    # The group that comes last in the rows has no axis in the grid. Here it is not the smallest group.
    two = draw_rows(random, ["a", "b"], [0.25, 0.75], 60)
    three = draw_rows(random, ["a", "b", "c"], [0.5, 0.2, 0.3], 90)
    # Group d has only rows with label 1, so its axis in the other event has no effect. Its rows come first.
    x, y, sensitive = draw_rows(random, ["a", "b", "d"], [0.4, 0.4, 0.2], 60)
    order = np.argsort(sensitive != "d", kind="stable")
    one_label = (x[order], np.where(sensitive == "d", 1, y)[order], sensitive[order])
    cases = {
        "two groups": (two, [
            ("demographic_parity", 10, 2.0), ("demographic_parity", 11, 1.0), ("error_rate_parity", 6, 2.0),
            ("true_positive_rate_parity", 9, 2.0), ("false_positive_rate_parity", 12, 2.0),
            ("equalized_odds", 13, 2.0), ("equalized_odds", 15, 2.0), ("equalized_odds", 30, 2.0),
            ("bounded_group_loss", 10, 2.0),
        ]),
        "three groups": (three, [
            ("demographic_parity", 15, 2.0), ("equalized_odds", 10, 2.0), ("equalized_odds", 50, 3.0),
            ("true_positive_rate_parity", 20, 2.0), ("bounded_group_loss", 20, 2.0),
        ]),
        "a group with one label": (one_label, [("equalized_odds", 12, 2.0), ("false_positive_rate_parity", 14, 2.0)]),
    }
    body = {
        "source": "fairlearn.reductions.GridSearch",
        "versions": {
            "fairlearn": fairlearn.__version__,
            "numpy": np.__version__,
            "pandas": pd.__version__,
            "python": platform.python_version(),
        },
        "seed": SEED,
        "cases": [
            {
                "name": name,
                "x": data[0].tolist(),
                "y": data[1].tolist(),
                "sensitive": data[2].tolist(),
                "runs": [run(data, *options) for options in runs],
            }
            for name, (data, runs) in cases.items()
        ],
    }
    with open("test/golden/grid-points.json", "w", encoding="utf-8") as file:
        json.dump(body, file)


main()
