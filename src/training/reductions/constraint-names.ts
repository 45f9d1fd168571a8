/**
 * The name of a function that measures the loss of a prediction, after the true value and the prediction have been
 * clipped to a range.
 */
export type GroupLossName = 'square' | 'absolute' | 'zero_one';

/** The names of the losses that `bounded_group_loss` supports. */
export const GROUP_LOSSES: readonly GroupLossName[] = ['square', 'absolute', 'zero_one'];

/** The lowest and the highest value of the range to which true values and predictions are clipped. */
export type LossRange = readonly [number, number];

/** Clips a value to a range. */
export function cut(value: number, [low, high]: LossRange): number {
  return Math.min(high, Math.max(low, value));
}

/**
 * Returns the loss as a function of the distance |truth - prediction|. If labels and decisions are 0 or 1, `zero_one`
 * counts errors.
 */
export function lossOf(name: GroupLossName): (distance: number) => number {
  return name === 'square' ? (distance) => distance * distance : (distance) => distance;
}

/** A kind of parity constraint: the events in which groups are compared, and the utility whose mean is compared. */
export interface ParityKind {
  /**
   * The names of the events of rows with label 0 and of rows with label 1. A name is null if the constraint does not
   * apply to rows with this label.
   */
  readonly events: readonly [string | null, string | null];
  /** The utilities of the decisions 0 and 1: first for rows with label 0, then for rows with label 1. */
  readonly utilities: readonly [readonly [number, number], readonly [number, number]];
}

/** The utility of a decision is the decision itself, so mean utilities are selection rates. */
const DECISION = [0, 1] as const;

/** The constraints on decisions 0 and 1. */
export const PARITY_KINDS = {
  demographic_parity: { events: ['all', 'all'], utilities: [DECISION, DECISION] },
  equalized_odds: { events: ['label=0', 'label=1'], utilities: [DECISION, DECISION] },
  true_positive_rate_parity: { events: [null, 'label=1'], utilities: [DECISION, DECISION] },
  false_positive_rate_parity: { events: ['label=0', null], utilities: [DECISION, DECISION] },
  // The utility is the error: 1 if the decision differs from the label.
  error_rate_parity: { events: ['all', 'all'], utilities: [DECISION, [1, 0]] },
} as const satisfies Record<string, ParityKind>;

/** The name of a constraint on decisions. */
export type ParityName = keyof typeof PARITY_KINDS;

/** The name of a constraint of the reductions. */
export type ReductionConstraint = ParityName | 'bounded_group_loss';

/** Every constraint of the reductions. */
export const REDUCTION_CONSTRAINTS: readonly ReductionConstraint[] = [
  ...(Object.keys(PARITY_KINDS) as ParityName[]),
  'bounded_group_loss',
];
