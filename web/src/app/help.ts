/** The explanation of a metric for people who meet it for the first time. */
export interface MetricHelp {
  /** The question that the metric answers. */
  readonly question: string;
  readonly meaning: string;
}

const HELP: Readonly<Record<string, MetricHelp>> = {
  demographic_parity_difference: {
    question: 'Do all groups get the positive decision equally often?',
    meaning:
      'The selection rate of a group is the share of its members who get the positive decision. This number is the highest rate minus the lowest. 0 means equal rates. It does not ask who deserved the decision.',
  },
  demographic_parity_ratio: {
    question: 'What share of the best rate does the worst-off group get?',
    meaning:
      'The lowest selection rate divided by the highest. 1 means equal rates. The four-fifths rule of the US guidelines for employment tests asks for at least 0.8.',
  },
  equalized_odds_difference: {
    question: 'Is the decision equally often right, and equally often wrong, for all groups?',
    meaning:
      'Compares two rates between groups: how often people with a positive outcome get the positive decision (true positive rate), and how often people with a negative outcome get it anyway (false positive rate). This number is the larger of the two gaps.',
  },
  equal_opportunity_difference: {
    question: 'Do people with a positive outcome get the positive decision equally often in all groups?',
    meaning:
      'The true positive rate is the share of people with a positive outcome who get the positive decision. This number is the highest rate minus the lowest.',
  },
  predictive_parity_difference: {
    question: 'Is a positive decision equally often right in all groups?',
    meaning:
      'Precision is the share of positive decisions that turned out to be right. This number is the highest precision minus the lowest.',
  },
  roc_auc_difference: {
    question: 'Do the scores separate good from bad outcomes equally well in all groups?',
    meaning:
      'The area under the ROC curve (AUC) is the probability that a person with a positive outcome has a higher score than one with a negative outcome: 0.5 is chance, 1 is perfect. This number is the highest AUC minus the lowest. It does not depend on a threshold.',
  },
  accuracy_parity_difference: {
    question: 'Is the decision equally often right for all groups?',
    meaning:
      'Accuracy is the share of decisions that equal the outcome. This number is the highest accuracy minus the lowest.',
  },
};

/** Returns the explanation of a metric. */
export function helpOf(metric: string): MetricHelp | undefined {
  return HELP[metric];
}

/** The limits that the page offers, in words: the metric and the first value. */
export const LIMITS: readonly {
  readonly metric: string;
  readonly words: string;
  readonly value: number;
  readonly needs: 'decision' | 'truth' | 'score';
}[] = [
  {
    metric: 'demographic_parity_difference',
    words: 'Selection rates differ by at most',
    value: 0.1,
    needs: 'decision',
  },
  {
    metric: 'demographic_parity_ratio',
    words: 'The lowest selection rate, divided by the highest, is at least',
    value: 0.8,
    needs: 'decision',
  },
  {
    metric: 'equalized_odds_difference',
    words: 'True and false positive rates differ by at most',
    value: 0.1,
    needs: 'truth',
  },
  {
    metric: 'equal_opportunity_difference',
    words: 'True positive rates differ by at most',
    value: 0.1,
    needs: 'truth',
  },
  { metric: 'predictive_parity_difference', words: 'Precision differs by at most', value: 0.1, needs: 'truth' },
  { metric: 'roc_auc_difference', words: 'The AUC of the scores differs by at most', value: 0.05, needs: 'score' },
];

/** Terms that the page uses, each with its explanation. */
export const TERMS = {
  interval:
    'The interval holds the values that the data are compatible with. If it is wide, the data cannot distinguish a small gap from a large one. At a level of 95%, such intervals contain the true gap in 95 of 100 samples.',
  detectable:
    'The smallest gap that data of this size would show with a probability of 80%. Smaller gaps can exist without being seen.',
  excluded:
    'Groups with too few rows are not compared, because their rates say little. They are listed, never dropped silently.',
  control:
    'A control column splits the data, for example by department or grade. Groups are then also compared within each part. A gap can vanish or reverse there (Simpson’s paradox).',
  weight: 'A weight says how many people a row stands for, as in survey data.',
  cluster:
    'If one person, school or household has several rows, these rows resemble each other. Name the column that says which rows belong together. Otherwise the page is more certain than the data allow.',
  positive: 'The positive decision is the one that people want: hired, approved, admitted.',
  truth:
    'The outcome that turned out later, independent of the decision: repaid, reoffended, performed well. With it, errors can be compared. Leave it out if you do not have it.',
} as const;
