import { differenceInDifferences, type FourCells, logitInteraction, type RateCell } from '../../stats/ab/index.ts';
import { detectableDifference, differencePower } from '../../stats/ab/power.ts';
import type { ABEffect, ABGroup, ABRow } from './ab-test-fields.ts';
import type { GroupCells } from './arm-cells.ts';
import { definedInterval, numberOrNull } from './defined.ts';

/** How pairs are compared. */
export interface PairRule {
  readonly alpha: number;
  /** Undefined: one look. */
  readonly tau: number | undefined;
  readonly minimumEffect: number;
}

/** A group, the one it is compared with, and what was counted of both. */
export interface PairArguments {
  readonly identity: Pick<ABRow, 'attribute' | 'metric' | 'measure'>;
  readonly overall: ABEffect;
  readonly group: ABGroup;
  readonly reference: ABGroup;
  readonly cells: { readonly group: GroupCells; readonly reference: GroupCells };
  /** Why nothing can be tested. */
  readonly problem: string | undefined;
  readonly rule: PairRule;
}

type PairTest = Pick<
  ABRow,
  | 'fairnessChange'
  | 'standardError'
  | 'interval'
  | 'pValue'
  | 'sizeChange'
  | 'logitInteraction'
  | 'power'
  | 'detectable'
>;

const UNTESTED: PairTest = {
  fairnessChange: null,
  standardError: null,
  interval: null,
  pValue: null,
  sizeChange: Object.freeze({ value: null, interval: null, pValue: null, adjustedPValue: null }),
  logitInteraction: null,
  power: null,
  detectable: null,
};

/** A pair of groups; the verdict of one that cannot be tested is there, that of others waits for all p-values. */
export function comparePair(pair: PairArguments): ABRow {
  const { identity, overall, group, reference, rule } = pair;
  const reason = pair.problem ?? group.excluded ?? reference.excluded;
  const tested = reason === null ? testPair(pair) : UNTESTED;
  const disparity = (of: ABEffect, to: ABEffect, arm: 'control' | 'treatment'): number | null => {
    const [own, other] = [of[arm], to[arm]];
    return own === null || other === null ? null : own - other;
  };
  const untestable = reason ?? (tested.pValue === null ? 'the outcome has no spread inside the groups' : null);
  return {
    ...identity,
    group: group.group,
    reference: reference.group,
    n: Object.freeze({
      control: Object.freeze({ group: group.n.control, reference: reference.n.control }),
      treatment: Object.freeze({ group: group.n.treatment, reference: reference.n.treatment }),
    }),
    effect: Object.freeze({ overall, group, reference }),
    disparity: Object.freeze({
      control: disparity(group, reference, 'control'),
      treatment: disparity(group, reference, 'treatment'),
    }),
    ...tested,
    adjustedPValue: null,
    minimumEffect: numberOrNull(rule.minimumEffect),
    finding: 'cannot_tell',
    verdict: `cannot tell: ${untestable ?? ''}`,
  };
}

function testPair({ cells, rule }: PairArguments): PairTest {
  const four: FourCells = {
    control: { group: cells.group.control.cell, reference: cells.reference.control.cell },
    treatment: { group: cells.group.treatment.cell, reference: cells.reference.treatment.cell },
  };
  const { alpha, tau, minimumEffect } = rule;
  const result = differenceInDifferences(four, { alpha, tau });
  const ofTest = { standardError: result.standardError, degrees: result.degrees, alpha, tau };
  return {
    fairnessChange: numberOrNull(result.change),
    standardError: numberOrNull(result.standardError),
    interval: definedInterval(result.interval),
    pValue: numberOrNull(result.pValue),
    sizeChange: {
      value: numberOrNull(result.sizeChange),
      interval: definedInterval(result.sizeInterval),
      pValue: numberOrNull(result.sizePValue),
      adjustedPValue: null,
    },
    logitInteraction: logitOf(cells),
    power: numberOrNull(differencePower(minimumEffect, ofTest)),
    detectable: numberOrNull(detectableDifference(ofTest)),
  };
}

function logitOf({ group, reference }: PairArguments['cells']): ABRow['logitInteraction'] {
  const rates = [group.control.rate, reference.control.rate, group.treatment.rate, reference.treatment.rate];
  if (rates.includes(undefined)) return null;
  const [ofGroup, ofReference, groupAfter, referenceAfter] = rates as [RateCell, RateCell, RateCell, RateCell];
  const found = logitInteraction({
    control: { group: ofGroup, reference: ofReference },
    treatment: { group: groupAfter, reference: referenceAfter },
  });
  return Number.isNaN(found.estimate) ? null : found;
}
