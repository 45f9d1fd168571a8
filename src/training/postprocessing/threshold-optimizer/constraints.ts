import { ValueError } from '../../../exceptions/index.ts';
import { suggestNames } from '../../../internal/arguments.ts';
import { LABELS_NEEDED, type RateName } from './rates.ts';

/** Maps each simple constraint to the rate that must be equal in all groups. */
const CONSTRAINED_RATES = {
  demographic_parity: 'selection_rate',
  selection_rate_parity: 'selection_rate',
  true_positive_rate_parity: 'true_positive_rate',
  false_positive_rate_parity: 'false_positive_rate',
  true_negative_rate_parity: 'true_negative_rate',
  false_negative_rate_parity: 'false_negative_rate',
} as const satisfies Record<string, RateName>;

const SIMPLE_CONSTRAINTS = Object.keys(CONSTRAINED_RATES) as (keyof typeof CONSTRAINED_RATES)[];

/** The constraints of a threshold optimizer. */
export const THRESHOLD_CONSTRAINTS = [...SIMPLE_CONSTRAINTS, 'equalized_odds'] as const;

/** The name of a constraint of a threshold optimizer. */
export type ThresholdConstraintName = (typeof THRESHOLD_CONSTRAINTS)[number];

/** The objectives of a threshold optimizer. */
export const THRESHOLD_OBJECTIVES = [
  'accuracy_score',
  'balanced_accuracy_score',
  'selection_rate',
  'true_positive_rate',
  'true_negative_rate',
] as const satisfies readonly RateName[];

/** The name of an objective of a threshold optimizer. */
export type ThresholdObjectiveName = (typeof THRESHOLD_OBJECTIVES)[number];

/**
 * The objectives that equalized odds supports. The optimizer selects the highest true positive rate that all groups can
 * reach, so the objective must increase with this rate.
 */
const OBJECTIVES_OF_ODDS = ['accuracy_score', 'balanced_accuracy_score'] as const;

/** Returns the rates that must be equal in all groups under a constraint. */
export function constrainedRates(constraint: ThresholdConstraintName): readonly RateName[] {
  return constraint === 'equalized_odds'
    ? ['false_positive_rate', 'true_positive_rate']
    : [CONSTRAINED_RATES[constraint]];
}

/**
 * Returns the labels that must occur in every group, so that the rates of a constraint and an objective are defined.
 */
export function labelsNeeded(
  constraint: ThresholdConstraintName,
  objective: ThresholdObjectiveName,
): readonly (0 | 1)[] {
  const needed = [...constrainedRates(constraint), objective].flatMap((rate) => LABELS_NEEDED[rate]);
  return [...new Set(needed)];
}

/** @throws {ValueError} if the constraint is unknown; the error lists the known constraints */
export function readConstraint(given: string): ThresholdConstraintName {
  return readName('constraint', given, THRESHOLD_CONSTRAINTS, 'Currently only the following constraints are supported');
}

/** @throws {ValueError} if the constraint does not support the objective; the error lists the supported objectives */
export function readObjective(given: string, constraint: ThresholdConstraintName): ThresholdObjectiveName {
  const allowed = constraint === 'equalized_odds' ? OBJECTIVES_OF_ODDS : THRESHOLD_OBJECTIVES;
  return readName('objective', given, allowed, `For ${constraint} only the following objectives are supported`);
}

function readName<Name extends string>(parameter: string, given: string, known: readonly Name[], rule: string): Name {
  const found = known.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ValueError(
    `The ${parameter} parameter must have a supported value. ${rule}: ${known.join(', ')}. Got '${given}' instead.`,
    { context: { parameter, value: given }, suggestion: suggestNames(given, known, 'choices') },
  );
}
