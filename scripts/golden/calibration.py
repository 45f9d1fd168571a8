"""Writes test/golden/calibration.json: calibration results of scikit-learn and SciPy.

Run from the root of the project:
  python scripts/golden/calibration.py && npx prettier --write test/golden/calibration.json
The file contains the versions of the packages that produced it.
"""

import json
import platform
import warnings

import numpy as np
import scipy
import sklearn
from scipy.optimize import brentq, root
from scipy.special import expit, logit
from sklearn.calibration import _SigmoidCalibration, calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

SEED = 20240607


def draw(random, rows, decimals):
    """Draws scores, labels whose probability is a power of the scores, and weights."""
    scores = np.round(random.uniform(0.02, 0.98, rows), decimals)
    labels = (random.uniform(size=rows) < scores**1.7).astype(int)
    weights = np.round(random.uniform(0.1, 3, rows), 3)
    return scores, labels, weights


def isotonic(random, name, rows, decimals, weighted):
    scores, labels, weights = draw(random, rows, decimals)
    weights = weights if weighted else np.ones(rows)
    model = IsotonicRegression(out_of_bounds="clip").fit(scores, labels, sample_weight=weights)
    queries = np.round(np.concatenate([[0, 1, scores.min(), scores.max()], random.uniform(0, 1, 40)]), 6)
    return {
        "name": name,
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "weights": weights.tolist(),
        "queries": queries.tolist(),
        "expected": model.predict(queries).tolist(),
    }


def smoothed_targets(labels, weights):
    """Returns the targets of Platt (1999), from the total weight of each label."""
    yes, no = weights[labels == 1].sum(), weights[labels == 0].sum()
    return np.where(labels == 1, (yes + 1) / (yes + 2), 1 / (no + 2))


def sigmoid(random, name, input_name, weighted):
    scores, labels, weights = draw(random, 150, 4)
    weights = weights if weighted else np.ones(150)
    values = logit(scores) if input_name == "logit" else scores
    model = _SigmoidCalibration().fit(values, labels, sample_weight=weights)
    targets = smoothed_targets(labels, weights)

    def gradient(parameters):
        error = weights * (expit(parameters[0] * values + parameters[1]) - targets)
        return np.array([np.sum(error * values), np.sum(error)])

    def hessian(parameters):
        p = expit(parameters[0] * values + parameters[1])
        curvature = weights * p * (1 - p)
        mixed = np.sum(curvature * values)
        return np.array([[np.sum(curvature * values**2), mixed], [mixed, np.sum(curvature)]])

    # scikit-learn stops at a small gradient; SciPy continues until the gradient is 0.
    exact = root(gradient, [-model.a_, -model.b_], jac=hessian, tol=1e-14)
    assert np.abs(gradient(exact.x)).max() < 1e-11
    return {
        "name": name,
        "input": input_name,
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "weights": weights.tolist(),
        # scikit-learn's sigmoid is 1 / (1 + exp(a x + b)).
        "sklearn": {"slope": -model.a_, "intercept": -model.b_},
        "scipy": {"slope": exact.x[0], "intercept": exact.x[1]},
    }


def temperature(random, name, sharpness, weighted):
    scores, labels, weights = draw(random, 150, 4)
    weights = weights if weighted else np.ones(150)
    scores = np.round(expit(sharpness * logit(scores)), 6)
    values = logit(scores)
    inverse = brentq(lambda b: np.sum(weights * (expit(b * values) - labels) * values), 1e-3, 1e3, xtol=1e-15)
    return {
        "name": name,
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "weights": weights.tolist(),
        "temperature": 1 / inverse,
    }


def curve(random):
    scores, labels, _ = draw(random, 300, 6)
    rates, means = calibration_curve(labels, scores, n_bins=10, strategy="quantile")
    return {
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "mean_scores": means.tolist(),
        "positive_rates": rates.tolist(),
    }


def losses(random):
    scores, labels, weights = draw(random, 60, 3)
    return {
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "weights": weights.tolist(),
        "brier_score": brier_score_loss(labels, scores, sample_weight=weights),
        "log_loss": log_loss(labels, scores, sample_weight=weights),
    }


def main():
    warnings.simplefilter("error")
    random = np.random.default_rng(SEED)
    golden = {
        "made_by": "scripts/golden/calibration.py",
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "seed": SEED,
        "isotonic": [
            isotonic(random, "distinct scores", 80, 6, False),
            isotonic(random, "weighted distinct scores", 80, 6, True),
            isotonic(random, "tied scores", 120, 1, False),
            isotonic(random, "weighted tied scores", 120, 1, True),
        ],
        "sigmoid": [
            sigmoid(random, "logits", "logit", False),
            sigmoid(random, "weighted logits", "logit", True),
            sigmoid(random, "scores", "score", False),
            sigmoid(random, "weighted scores", "score", True),
        ],
        "temperature": [
            temperature(random, "overconfident scores", 3, False),
            temperature(random, "weighted underconfident scores", 0.4, True),
        ],
        "curve": curve(random),
        "losses": losses(random),
    }
    with open("test/golden/calibration.json", "w", encoding="utf-8") as file:
        json.dump(golden, file)
        file.write("\n")


main()
