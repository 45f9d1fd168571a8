"""Trains a model with scikit-learn, and writes its decisions about people whom it has not seen.

    python train.py wages.csv predictions.csv
"""

import sys

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rows = pd.read_csv(sys.argv[1])
train, test = train_test_split(rows, test_size=0.5, random_state=1, stratify=rows["gender"])

# The model does not see the gender. Its decisions can still differ between women and men.
model = make_pipeline(
    make_column_transformer(
        (StandardScaler(), ["education", "experience"]),
        (OneHotEncoder(handle_unknown="ignore"), ["occupation", "union"]),
    ),
    LogisticRegression(),
)
model.fit(train, train["wage_above_median"])

predictions = test[["gender", "wage_above_median"]].assign(
    predicted=model.predict(test),
    score=model.predict_proba(test)[:, 1].round(6),
)
predictions.to_csv(sys.argv[2], index=False)
