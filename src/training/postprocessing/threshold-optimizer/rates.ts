/** Weighted counts of the rows of one group: for each label, the selected rows and all rows. */
export interface DecisionCounts {
  readonly truePositives: number;
  readonly falsePositives: number;
  /** The weighted count of all rows with label 1. */
  readonly positives: number;
  /** The weighted count of all rows with label 0. */
  readonly negatives: number;
}

type Rate = (counts: DecisionCounts) => number;

/**
 * Rates by name. Each rate is linear in the two counts of selected rows. A rate of a mixture of decisions is therefore
 * the mixture of the rates of the decisions, with the same weights.
 */
export const RATES = {
  selection_rate: ({ truePositives, falsePositives, positives, negatives }) =>
    (truePositives + falsePositives) / (positives + negatives),
  true_positive_rate: ({ truePositives, positives }) => truePositives / positives,
  false_positive_rate: ({ falsePositives, negatives }) => falsePositives / negatives,
  true_negative_rate: ({ falsePositives, negatives }) => (negatives - falsePositives) / negatives,
  false_negative_rate: ({ truePositives, positives }) => (positives - truePositives) / positives,
  accuracy_score: ({ truePositives, falsePositives, positives, negatives }) =>
    (truePositives + negatives - falsePositives) / (positives + negatives),
  balanced_accuracy_score: ({ truePositives, falsePositives, positives, negatives }) =>
    (0.5 * truePositives) / positives + (0.5 * (negatives - falsePositives)) / negatives,
} as const satisfies Record<string, Rate>;

/** The name of a rate. */
export type RateName = keyof typeof RATES;

/** The labels that must occur for a rate to be defined. */
export const LABELS_NEEDED: Readonly<Record<RateName, readonly (0 | 1)[]>> = {
  selection_rate: [],
  true_positive_rate: [1],
  false_positive_rate: [0],
  true_negative_rate: [0],
  false_negative_rate: [1],
  accuracy_score: [],
  balanced_accuracy_score: [0, 1],
};
