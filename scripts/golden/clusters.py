"""Writes test/golden/clusters.json: cluster-robust covariances of statsmodels, and survey errors of samplics.

Run from the root of the project:
  python scripts/golden/clusters.py && npx prettier --write test/golden/clusters.json
The file contains the versions of the packages that produced it.
"""

import json
import platform
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd
import statsmodels.api as sm
from samplics.estimation import TaylorEstimator
from samplics.utils.types import PopParam
from statsmodels.stats.sandwich_covariance import cov_cluster

warnings.filterwarnings("ignore")
random = np.random.default_rng(20261128)
DECIMALS = 4


def draw(clusters, crossed):
    """Draws rows of clusters of 1 to 9 rows; crossed clusters have rows of all three groups."""
    rows = []
    for cluster in range(clusters):
        level = random.uniform()
        own = "abc"[cluster % 3]
        for _ in range(random.integers(1, 10)):
            truth = int(random.uniform() < 0.5)
            rows.append(
                {
                    "decision": int(random.uniform() < 0.7 * level + 0.2 * truth),
                    "truth": truth,
                    "score": round(float(0.5 * level + 0.3 * random.uniform() + 0.2 * truth), DECIMALS),
                    "group": random.choice(list("abc")) if crossed else own,
                    "cluster": cluster,
                    "stratum": cluster % 4,
                    "weight": round(float(random.uniform(0.5, 3)), 2),
                }
            )
    return pd.DataFrame(rows)


def robust(data, values, keep, weights):
    """Returns the covariance of group means without correction, and the number of clusters of each group."""
    kept = data[keep]
    dummies = pd.get_dummies(kept["group"]).astype(float)
    model = sm.WLS(values[keep].astype(float), dummies, weights=weights[keep])
    covariance = cov_cluster(model.fit(), kept["cluster"].to_numpy(), use_correction=False)
    return {
        "values": model.fit().params.tolist(),
        "covariance": np.asarray(covariance).tolist(),
        "clusters": data.groupby("group")["cluster"].nunique().tolist(),
    }


def measures(data, weights):
    everything = pd.Series(True, index=data.index)
    positives, selected = data["truth"] == 1, data["decision"] == 1
    return {
        "selection_rate": robust(data, data["decision"], everything, weights),
        "true_positive_rate": robust(data, data["decision"], positives, weights),
        "false_positive_rate": robust(data, data["decision"], ~positives, weights),
        "precision": robust(data, data["truth"], selected, weights),
        "accuracy": robust(data, data["decision"] == data["truth"], everything, weights),
        "mean_prediction": robust(data, data["score"], everything, weights),
        "mean_absolute_error": robust(data, (data["score"] - data["truth"]).abs(), everything, weights),
        "brier_score": robust(data, (data["score"] - data["truth"]) ** 2, everything, weights),
        "generalized_true_positive_rate": robust(data, data["score"], positives, weights),
    }


def survey(data):
    """Returns the standard errors of group means of a stratified sample of clusters, with weights."""
    errors = {}
    for name, column in {"selection_rate": "decision", "mean_prediction": "score"}.items():
        estimator = TaylorEstimator(PopParam.mean)
        estimator.estimate(
            y=data[column].to_numpy(dtype=float),
            samp_weight=data["weight"].to_numpy(),
            stratum=data["stratum"].to_numpy(),
            psu=data["cluster"].to_numpy(),
            domain=data["group"].to_numpy(),
        )
        errors[name] = [float(estimator.stderror[group]) for group in "abc"]
    return errors


cases = []
for name, clusters, crossed, weighted in [
    ("clusters within groups", 90, False, False),
    ("clusters with rows of all groups", 60, True, False),
    ("weights", 60, True, True),
    ("few clusters", 12, False, True),
]:
    data = draw(clusters, crossed)
    weights = data["weight"] if weighted else pd.Series(1.0, index=data.index)
    case = {"name": name, "weighted": weighted, "measures": measures(data, weights)}
    if clusters >= 60:
        case["survey"] = survey(data)
    cases.append({**case, "rows": {column: data[column].tolist() for column in data.columns}})


def experiment(clusters):
    """Draws an experiment whose clusters have rows in both arms and all groups, and the covariance of its cell means."""
    data = draw(clusters, True)
    data["arm"] = random.integers(0, 2, len(data))
    data["cell"] = data["arm"].map({0: "control ", 1: "treatment "}) + data["group"]
    dummies = pd.get_dummies(data["cell"]).astype(float)
    found = {"cells": dummies.columns.tolist(), "clusters": data.groupby("cell")["cluster"].nunique().tolist()}
    for column in ["decision", "score"]:
        for name, weights in {"plain": 1.0, "weighted": data["weight"]}.items():
            model = sm.WLS(data[column].astype(float), dummies, weights=weights).fit()
            covariance = cov_cluster(model, data["cluster"].to_numpy(), use_correction=False)
            found[f"{column} {name}"] = {
                "values": model.params.tolist(),
                "covariance": np.asarray(covariance).tolist(),
            }
    columns = ["decision", "score", "group", "cluster", "weight", "arm"]
    return {**found, "rows": {column: data[column].tolist() for column in columns}}


packages = ["numpy", "pandas", "statsmodels", "samplics"]
versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
with open("test/golden/clusters.json", "w", encoding="utf-8") as file:
    json.dump({"versions": versions, "cases": cases, "experiment": experiment(80)}, file)
