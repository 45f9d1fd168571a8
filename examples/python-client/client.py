"""Asks a running service for a verdict, with Python's standard library only.

    EVENHAND_URL=http://127.0.0.1:8000 EVENHAND_KEY=… python client.py predictions.csv
"""

import csv
import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("EVENHAND_URL", "http://127.0.0.1:8000")


def post(path, body):
    """Sends JSON and returns the JSON of the answer. If there is none, the program ends with the reason."""
    headers = {"content-type": "application/json"}
    if "EVENHAND_KEY" in os.environ:
        headers["authorization"] = f"Bearer {os.environ['EVENHAND_KEY']}"
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        details = [each["detail"] for each in problem.get("errors", [])]
        sys.exit("\n".join([f"{problem['status']} {problem['code']}: {problem['detail']}", *details]))
    except urllib.error.URLError as error:
        sys.exit(f"{URL} does not answer: {error.reason}")


with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

result = post(
    "/validate",
    {
        "y_pred": [int(row["predicted"]) for row in rows],
        "y_true": [int(row["wage_above_median"]) for row in rows],
        "sensitive": [row["gender"] for row in rows],
        "metric": "demographic_parity_difference",
        "threshold": 0.2,
    },
)

gap = result["metrics"]["demographic_parity_difference"]
low, high = gap["ci"]
for group, rates in gap["per_group"].items():
    print(f"{group}: {rates['selection_rate']:.1%} of {gap['n_per_group'][group]}")
print(f"gap {gap['value']:.4f}, 95% interval {low:.4f} to {high:.4f}")

# A metric that is undefined does not pass either.
print("passed" if result["passed"] else "failed")
sys.exit(0 if result["passed"] else 1)
