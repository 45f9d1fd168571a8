"""Writes test/golden/detectors.json: tests and effect sizes of SciPy and statsmodels for the detectors.

Run from the root of the project:
  python scripts/golden/detectors.py && npx prettier --write test/golden/detectors.json
The file contains the versions of the packages that produced it.
"""

import json
import platform

import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.multitest import multipletests

SEED = 20240611


def corrected_cramers_v(table):
    """Computes the bias-corrected Cramer's V of Bergsma (2013) from the statistic of chi2_contingency."""
    table = np.asarray(table)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n, (rows, columns) = table.sum(), table.shape
    phi2 = stats.chi2_contingency(table, correction=False).statistic / n
    phi2_corrected = max(0, phi2 - (rows - 1) * (columns - 1) / (n - 1))
    rows_corrected = rows - (rows - 1) ** 2 / (n - 1)
    columns_corrected = columns - (columns - 1) ** 2 / (n - 1)
    return float(np.sqrt(phi2_corrected / (min(rows_corrected, columns_corrected) - 1)))


def contingency(name, table):
    table = np.asarray(table)
    kept = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    test = stats.chi2_contingency(kept, correction=False)
    return {
        "name": name,
        "table": table.tolist(),
        "statistic": float(test.statistic),
        "degrees": int(test.dof),
        "p_value": float(test.pvalue),
        "least_expected": float(test.expected_freq.min()),
        "cramers_v": corrected_cramers_v(table),
    }


def anova(name, values, codes):
    values, codes = np.asarray(values, dtype=float), np.asarray(codes)
    kept = ~np.isnan(values) & (codes >= 0)
    groups = [values[kept & (codes == code)] for code in np.unique(codes[kept])]
    test = stats.f_oneway(*groups)
    mean = values[kept].mean()
    between = sum(len(group) * (group.mean() - mean) ** 2 for group in groups)
    return {
        "name": name,
        "values": [None if np.isnan(value) else value for value in values.tolist()],
        "codes": codes.tolist(),
        "statistic": float(test.statistic),
        "degrees": [len(groups) - 1, int(kept.sum()) - len(groups)],
        "p_value": float(test.pvalue),
        "eta_squared": float(between / ((values[kept] - mean) ** 2).sum()),
    }


def goodness(name, observed, shares):
    observed, shares = np.asarray(observed), np.asarray(shares)
    test = stats.chisquare(observed, observed.sum() * shares)
    return {
        "name": name,
        "observed": observed.tolist(),
        "shares": shares.tolist(),
        "statistic": float(test.statistic),
        "p_value": float(test.pvalue),
    }


def columns_and_groups(random):
    """Creates a small table with every kind of column, its tests, and the p-values adjusted over them."""
    rows = 240
    codes = random.integers(0, 3, rows)
    levels = random.integers(0, 4, rows)
    tied = np.where(random.uniform(size=rows) < 0.6, codes, random.integers(0, 3, rows))
    noise = np.round(random.normal(size=rows), 3)
    shifted = np.round(noise + 0.8 * codes, 3)
    text = lambda values, name: [f"{name}{value}" for value in values]
    count = lambda values: [[int(((codes == g) & (values == v)).sum()) for v in np.unique(values)] for g in range(3)]
    tests = [
        contingency("noise_text", count(levels)),
        contingency("tied_text", count(tied)),
        anova("noise_number", noise, codes),
        anova("shifted_number", shifted, codes),
    ]
    p_values = [test["p_value"] for test in tests]
    for test, adjusted in zip(tests, multipletests(p_values, method="fdr_bh")[1]):
        test["adjusted_p_value"] = float(adjusted)
    fields = ["name", "statistic", "degrees", "p_value", "adjusted_p_value", "cramers_v", "eta_squared"]
    return {
        "groups": text(codes, "g"),
        "columns": {
            "noise_text": text(levels, "a"),
            "tied_text": text(tied, "b"),
            "noise_number": noise.tolist(),
            "shifted_number": shifted.tolist(),
        },
        "tests": [{field: test[field] for field in fields if field in test} for test in tests],
    }


def main():
    random = np.random.default_rng(SEED)
    codes = random.integers(0, 4, 200)
    values = np.round(random.normal(10, 3, 200) + codes, 3)
    holes = np.where(random.uniform(size=200) < 0.1, np.nan, values)
    golden = {
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "statsmodels": statsmodels.__version__,
        },
        "seed": SEED,
        "chi_square_tail": [
            [x, k, float(stats.chi2.sf(x, k))]
            for k in [1, 2, 3, 10, 39, 40, 41, 100, 500, 5000, 1_000_000]
            for x in [0, 0.01 * k, 0.5 * k, 0.99 * k, k, k + 1, 1.01 * k, 1.05 * k, 1.5 * k, 4 * k + 20, 400]
        ],
        "f_tail": [
            [f, d1, d2, float(stats.f.sf(f, d1, d2))]
            for d1, d2 in [(1, 1), (1, 30), (4, 7), (2, 997), (12, 1_000_000), (4999, 995_000), (300, 5)]
            for f in [0, 0.01, 0.5, 1, 1.02, 2, 10, 100]
        ],
        "contingency": [
            contingency("two by two", [[30, 10], [10, 30]]),
            contingency("no association at all", [[10, 20], [30, 60]]),
            contingency("less than chance", [[10, 11, 10], [10, 10, 11]]),
            contingency("empty rows and columns", [[12, 0, 7], [0, 0, 0], [3, 0, 21]]),
            contingency("each determines the other", [[40, 0, 0], [0, 30, 0], [0, 0, 20]]),
            contingency("random, 5 by 7", random.poisson(6, (5, 7))),
            contingency("sparse, 40 by 30", random.poisson(0.3, (40, 30))),
        ],
        "anova": [
            anova("four groups", values, codes),
            anova("missing values and groups", holes, np.where(random.uniform(size=200) < 0.1, -1, codes)),
            anova("two groups of unequal size", values, (random.uniform(size=200) < 0.05).astype(int)),
            anova("far from zero", values + 1e9, codes),
        ],
        "goodness_of_fit": [
            goodness("560 and 440 against halves", [560, 440], [0.5, 0.5]),
            goodness("three groups", [120, 45, 35], [0.6, 0.25, 0.15]),
            goodness("a group that never occurs", [70, 30, 0], [0.6, 0.3, 0.1]),
            goodness("as expected", [60, 40], [0.6, 0.4]),
        ],
        "table": columns_and_groups(random),
    }
    with open("test/golden/detectors.json", "w") as file:
        json.dump(golden, file)


if __name__ == "__main__":
    main()
