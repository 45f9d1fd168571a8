import { type Cell, type Level, recalls, varies, weightOf } from './facts.ts';
import type { Frame } from './frames.ts';
import type { Gap, LevelValues } from './values.ts';

/** The cases in which the package returns something else than fairlearn on purpose. */
export const CONVENTIONS = {
  'one group': 'A single group has no difference and no ratio. fairlearn returns 0 and 1.',
  'balanced accuracy of one label':
    'A group without one of the labels has no balanced accuracy and no gap. scikit-learn averages over the labels that are present.',
  'R2 of a constant':
    'A group whose true values do not vary has no R2 and no gap. scikit-learn returns 0 or 1, or a negative number of many digits if the mean is rounded.',
  'ratio of negative values': 'Negative values have no ratio. fairlearn divides the smallest value by the largest.',
  'rows without a group':
    'Rows without a group (null or an empty text) are in no group. fairlearn 0.15 rejects null, and an empty text is a group there. Compared with fairlearn 0.14, which counts the rows for the overall value of decisions; for numbers and scores, with fairlearn on the other rows. One for each measure or metric.',
  'rows without a true label':
    'Rows without a true label are dropped. fairlearn rejects them. Compared with fairlearn on the other rows.',
  'a group of weight 0':
    'In a group whose weights are all 0, rates of a label or a decision are 0, as with scikit-learn before 1.9, and other measures have no value (for balanced accuracy and R2, also no gap). scikit-learn 1.9 rejects the weights. Other groups are compared with fairlearn on the other rows.',
  'spellings of a number':
    "Texts such as '1' and '1.0' are the same group. They are different groups in fairlearn. Compared with fairlearn on one spelling. One for each measure or metric.",
  'no row of the positive label':
    'A column without the given positive label is an error, since it is often a misspelling. fairlearn returns rates of 0. One for each measure or metric, which has no values to compare.',
} as const;

/** The name of one of {@link CONVENTIONS}. */
export type Convention = keyof typeof CONVENTIONS;

/** The measures that do not read true labels, and therefore accept rows without them. */
const BLIND = ['selection_rate', 'count', 'mean_prediction'];

/** Returns whether a measure reads true labels. */
export function needsTruth(measure: string): boolean {
  return !BLIND.includes(measure);
}

/** The measures that are 0 if their denominator is 0. */
const ZERO_WITHOUT_ROWS = [
  'true_positive_rate',
  'true_negative_rate',
  'false_positive_rate',
  'false_negative_rate',
  'precision_score',
  'recall_score',
  'f1_score',
  'negative_predictive_value',
];

/** The measures whose gap is unknown if a group with true labels has no value. */
export const NEEDED_IN_ALL_GROUPS: readonly string[] = ['balanced_accuracy_score', 'r2_score'];

/** Returns the value of a group, or of a level, in which no row has a true label and a weight. */
export function valueWithoutRows(measure: string): number {
  return ZERO_WITHOUT_ROWS.includes(measure) ? 0 : NaN;
}

/** A value that this package does not return, with the value that fairlearn returns. */
interface Refusal {
  readonly convention: Convention;
  readonly isTheirs: (value: number) => boolean;
}

/** Returns why the package has no value for a cell although fairlearn has one; otherwise undefined. */
export function refusalOf(measure: string, frame: Frame, cell: Cell): Refusal | undefined {
  if (measure === 'balanced_accuracy_score') {
    const [only, other] = recalls(frame, cell);
    if (only === undefined || other !== undefined) return undefined;
    return { convention: 'balanced accuracy of one label', isTheirs: (value) => Math.abs(value - only) <= 1e-12 };
  }
  if (measure === 'r2_score' && !varies(frame, cell)) {
    // The mean of 0.1, 0.1 and 0.1 is not 0.1 in float64, so that scikit-learn divides by 1e-34.
    const isTheirs = (value: number): boolean => [0, 1, NaN].includes(value) || value < -1e15;
    return { convention: 'R2 of a constant', isTheirs };
  }
  return undefined;
}

/**
 * Returns why fairlearn rejects a measure of a frame, as far as it follows from the rows; undefined if it should not
 * reject it.
 */
export function whyRejected(measure: string, frame: Frame, levels: ReadonlyMap<string, Level>): Convention | undefined {
  if (!needsTruth(measure)) return undefined;
  if (frame.yTrue.includes(null)) return 'rows without a true label';
  const cells = Array.from(levels.values()).flatMap(({ overall, groups }) => [overall, ...groups.values()]);
  // The ROC AUC of a group with one label is NaN, with any weights, so that scikit-learn does not read them.
  const isRead = ({ labelled }: Cell): boolean =>
    measure !== 'roc_auc_score' || new Set(labelled.map((row) => frame.yTrue[row])).size > 1;
  return cells.some((cell) => weightOf(frame, cell.rows) === 0 && isRead(cell)) ? 'a group of weight 0' : undefined;
}

/**
 * Returns whether the package must reject measures because no row has the positive label: no true label is positive, or
 * no decision is positive and a label of the decisions is not among the true labels either.
 */
export function lacksPositive({ positive, yTrue, yPred }: Frame, measures: readonly string[]): boolean {
  if (positive === null) return false;
  const readsTruth = measures.some(needsTruth);
  if (readsTruth && !yTrue.includes(positive)) return true;
  return !yPred.includes(positive) && (!readsTruth || yPred.some((label) => !yTrue.includes(label)));
}

/** Computes a comparison of groups by the formulas of fairlearn. pandas skips NaN in minima and maxima. */
export function fairlearnGap(gap: Gap, { overall, groups }: Pick<LevelValues, 'overall' | 'groups'>): number {
  const known = [...groups.values()].filter((value) => !Number.isNaN(value));
  const least = (values: readonly number[]): number => {
    const numbers = values.filter((value) => !Number.isNaN(value));
    return numbers.length === 0 ? NaN : Math.min(...numbers);
  };
  const most = (values: readonly number[]): number => -least(values.map((value) => -value));
  switch (gap) {
    case 'group_min':
      return least(known);
    case 'group_max':
      return most(known);
    case 'difference between_groups':
      return most(known) - least(known);
    case 'difference to_overall':
      return most(known.map((value) => Math.abs(value - overall)));
    case 'ratio between_groups':
      return least(known) / most(known);
    case 'ratio to_overall':
      return least(known.map((value) => (value / overall > 1 ? overall / value : value / overall)));
  }
}

/** Returns the name of the measures that a named metric compares. */
export function measuresOf(metric: string): readonly string[] {
  const subject = metric.replace(/_(difference|ratio)$/, '');
  if (subject === 'demographic_parity') return ['selection_rate'];
  if (subject === 'equal_opportunity') return ['true_positive_rate'];
  return subject === 'equalized_odds' ? ['true_positive_rate', 'false_positive_rate'] : [subject];
}
