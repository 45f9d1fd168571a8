"""Computes the metrics of frames with fairlearn. Run by run.ts:

    python peer.py REQUESTS ANSWERS

Reads a JSON object per line (`peerRequest` in peer.ts) and writes an answer per line, in the same order. A measure that
fairlearn rejects has the text of the error instead of its values.
"""

import json
import math
import sys
import warnings
from functools import partial

import fairlearn.metrics as flm
import numpy as np
import pandas as pd
import sklearn
import sklearn.metrics as skm

# scikit-learn and numpy warn about empty denominators, which many frames have on purpose.
warnings.simplefilter("ignore")
np.seterr(all="ignore")
# The types of arguments are checked by scikit-learn's own tests. This takes a fifth of the time.
sklearn.set_config(skip_parameter_validation=True)


def of_class(metric, positive):
    """Returns a metric of one class against all others."""

    def one_against_all(y_true, y_pred, **weights):
        return metric((y_true == positive).astype(int), (y_pred == positive).astype(int), **weights)

    return one_against_all


RATES = {
    "true_positive_rate": flm.true_positive_rate,
    "true_negative_rate": flm.true_negative_rate,
    "false_positive_rate": flm.false_positive_rate,
    "false_negative_rate": flm.false_negative_rate,
}
SHARES = {
    "accuracy_score": skm.accuracy_score,
    "zero_one_loss": skm.zero_one_loss,
    "balanced_accuracy_score": skm.balanced_accuracy_score,
}
POSITIVE_SHARES = {
    "precision_score": skm.precision_score,
    "recall_score": skm.recall_score,
    "f1_score": skm.f1_score,
}
NUMBERS = {
    "mean_prediction": flm.mean_prediction,
    "mean_absolute_error": skm.mean_absolute_error,
    "mean_squared_error": skm.mean_squared_error,
    "root_mean_squared_error": skm.root_mean_squared_error,
    "r2_score": skm.r2_score,
}
SCORES = {
    "roc_auc_score": skm.roc_auc_score,
    # Without labels, both need both labels in each group.
    "log_loss": partial(skm.log_loss, labels=[0, 1]),
    "brier_score": partial(skm.brier_score_loss, labels=[0, 1]),
}


def functions_of(request):
    """Returns the metric functions of a kind of frame, by name."""
    kind, positive = request["kind"], request["positive"]
    if kind == "numbers":
        return NUMBERS
    if kind == "scores":
        return SCORES
    if kind == "classes":
        # precision, recall and F1 of a class, computed by scikit-learn from all classes.
        labelled = {name: partial(one, labels=[positive], average="macro") for name, one in POSITIVE_SHARES.items()}
        shares = {name: of_class(one, positive) for name, one in {**RATES, **SHARES}.items()}
        return {
            "selection_rate": partial(flm.selection_rate, pos_label=positive),
            "count": flm.count,
            "negative_predictive_value": of_class(partial(skm.precision_score, pos_label=0), positive),
            **shares,
            **labelled,
        }
    chosen = {} if positive is None else {"pos_label": positive}
    named = {"selection_rate": flm.selection_rate, **RATES, **POSITIVE_SHARES}
    return {
        **{name: partial(one, **chosen) for name, one in named.items()},
        "count": flm.count,
        "negative_predictive_value": partial(skm.precision_score, pos_label=request["negative"]),
        **SHARES,
    }


def columns_of(request, keep):
    """Returns the columns as arrays, without the rows that are not kept."""

    def array(values):
        values = values if keep is None else [values[row] for row in keep]
        # A missing number is NaN. Texts are never missing in outcomes.
        return np.array([math.nan if value is None else value for value in values])

    def features(columns):
        data = {name: values if keep is None else [values[row] for row in keep] for name, values in columns}
        if len(data) == 1:
            ((name, values),) = data.items()
            return pd.Series(values, name=name)
        return pd.DataFrame(data)

    return {
        "y_true": array(request["y_true"]),
        "y_pred": array(request["y_pred"]),
        "weights": None if request["weights"] is None else array(request["weights"]),
        "sensitive": features(request["sensitive"]),
        "control": features(request["control"]) if request["control"] else None,
    }


def number(value):
    value = float(value)
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def keys_of(key):
    parts = key if isinstance(key, tuple) else (key,)
    return [part.item() if isinstance(part, np.generic) else part for part in parts]


def metric_frame(metrics, columns):
    weights = columns["weights"]
    weighted = {} if weights is None else {"sample_weight": weights}
    return flm.MetricFrame(
        metrics=metrics,
        y_true=columns["y_true"],
        y_pred=columns["y_pred"],
        sensitive_features=columns["sensitive"],
        control_features=columns["control"],
        sample_params={name: {} if name == "count" else weighted for name in metrics},
    )


def table_of(frame, name, controls):
    """Returns the values of a measure, level by level of the control features."""
    gaps = {
        "difference between_groups": frame.difference(method="between_groups"),
        "difference to_overall": frame.difference(method="to_overall"),
        "ratio between_groups": frame.ratio(method="between_groups"),
        "ratio to_overall": frame.ratio(method="to_overall"),
        "group_min": frame.group_min(),
        "group_max": frame.group_max(),
    }
    groups = [(keys_of(key), value) for key, value in frame.by_group[name].items()]
    if controls == 0:
        return [
            {
                "level": [],
                "overall": number(frame.overall[name]),
                "groups": [[key, number(value)] for key, value in groups],
                "gaps": {gap: number(values[name]) for gap, values in gaps.items()},
            }
        ]
    return [
        {
            "level": keys_of(level),
            "overall": number(overall),
            "groups": [[key[controls:], number(value)] for key, value in groups if key[:controls] == keys_of(level)],
            "gaps": {gap: number(values[name].loc[level]) for gap, values in gaps.items()},
        }
        for level, overall in frame.overall[name].items()
    ]


def error_of(error):
    return {"error": f"{type(error).__name__}: {error}"}


def measure(request, keep):
    columns = columns_of(request, keep)
    functions = functions_of(request)
    metrics = {name: functions[name] for name in request["measures"]}
    controls = len(request["control"])
    try:
        frame = metric_frame(metrics, columns)
        return {name: table_of(frame, name, controls) for name in metrics}
    except Exception:
        answers = {}
        # One rejected measure must not hide the others.
        for name, function in metrics.items():
            try:
                answers[name] = table_of(metric_frame({name: function}, columns), name, controls)
            except Exception as error:
                answers[name] = error_of(error)
        return answers


def call(request, keep):
    """Calls the named functions of fairlearn; for several classes, returns the mean over the classes."""
    columns = columns_of(request, keep)
    answers = []
    for one in request["metrics"]:
        function = getattr(flm, one["metric"])
        options = {"method": one["method"]}
        if one["agg"] is not None:
            options["agg"] = one["agg"]
        if columns["weights"] is not None:
            options["sample_weight"] = columns["weights"]
        try:
            values = [
                function(
                    columns["y_true"] if label is None else (columns["y_true"] == label).astype(int),
                    columns["y_pred"] if label is None else (columns["y_pred"] == label).astype(int),
                    sensitive_features=columns["sensitive"],
                    **options,
                )
                for label in one["classes"] or [None]
            ]
            answers.append(number(np.mean(values)))
        except Exception as error:
            answers.append(error_of(error))
    return answers


def answer(request):
    def run(keep_measures, keep_metrics):
        return {"measures": measure(request, keep_measures), "metrics": call(request, keep_metrics)}

    kept = request["kept"]
    return {
        "index": request["index"],
        "raw": run(None, None),
        "kept": None if kept is None else run(kept["measures"], kept["metrics"]),
    }


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as requests, open(sys.argv[2], "w", encoding="utf-8") as answers:
        for line in requests:
            answers.write(json.dumps(answer(json.loads(line)), allow_nan=False) + "\n")
            answers.flush()
