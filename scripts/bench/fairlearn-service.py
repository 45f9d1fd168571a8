"""The peer of B7: POST /validate with FastAPI and fairlearn, in two processes.

    python fairlearn-service.py PORT

Needs fastapi, uvicorn and fairlearn. Like `evenhand serve`, the service checks the arrays, measures demographic parity
and equalized odds with the rates of every group, applies the threshold, and keeps the last 500 results. It computes no
interval.
"""

import os
import sys
import uuid
from collections import OrderedDict
from datetime import datetime, timezone
from typing import Literal

import uvicorn
from fairlearn.metrics import (
    MetricFrame,
    count,
    demographic_parity_difference,
    equalized_odds_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

RATES = {
    "n": count,
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "false_positive_rate": false_positive_rate,
}

app = FastAPI()
results: OrderedDict[str, dict] = OrderedDict()


class Body(BaseModel):
    y_true: list[Literal[0, 1]]
    y_pred: list[Literal[0, 1]]
    sensitive: list[str]
    threshold: float
    with_ci: Literal[False]


@app.post("/validate")
async def validate(body: Body):
    if not len(body.y_true) == len(body.y_pred) == len(body.sensitive):
        raise HTTPException(422, "the arrays differ in length")
    rows = {"y_true": body.y_true, "y_pred": body.y_pred, "sensitive_features": body.sensitive}
    frame = MetricFrame(metrics=RATES, **rows)
    parity = float(demographic_parity_difference(**rows))
    odds = float(equalized_odds_difference(**rows))
    run_id = str(uuid.uuid4())
    result = {
        "run_id": run_id,
        "status": "success",
        "passed": parity <= body.threshold,
        "metrics": {"demographic_parity_difference": parity, "equalized_odds_difference": odds},
        "groups": {str(group): {name: float(value) for name, value in row.items()} for group, row in frame.by_group.iterrows()},
        "timestamp": datetime.now(timezone.utc).isoformat(),
    }
    results[run_id] = result
    if len(results) > 500:
        results.popitem(last=False)
    return result


if __name__ == "__main__":
    # One thread per process for numeric libraries, because both processes share the cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    uvicorn.run("fairlearn-service:app", port=int(sys.argv[1]), workers=2, log_level="warning")
