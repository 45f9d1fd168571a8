import { CELLS_PER_GROUP, cellIndex } from '../../metrics/statistics/group-stats.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { type DecisionQuality, type GroupDecisions, judgeCounts, type QualityOptions } from '../decision-quality.ts';
import { decide } from '../estimators/estimator-rows.ts';
import { logit } from '../logistic.ts';
import { countPairs, decisionCounts } from './judge-outputs.ts';

/** The outputs of the networks of a sweep for the held-out rows, from which decisions at other thresholds follow. */
export interface HeldOutScores extends QualityOptions {
  /** The true labels, [n]. */
  readonly y: Uint8Array;
  readonly groups: CategoricalColumn;
  /** The logits of each network, [n]. */
  readonly logits: readonly Float32Array[];
}

/** The decisions in one group (or of all rows), counted by true label. */
export interface GroupConfusion extends GroupDecisions {
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
}

/** The quality of the decisions of one network of a sweep at a threshold. */
export interface ThresholdQuality extends Omit<DecisionQuality, 'groups'> {
  readonly threshold: number;
  /** The groups with held-out rows, in the order of their labels. */
  readonly groups: readonly GroupConfusion[];
  readonly all: GroupConfusion;
}

/** The name of all rows together, where a group has a name. */
const ALL_ROWS = 'all rows';

/**
 * Measures the decisions of one network of a sweep at a threshold of its probabilities. A row whose probability is at
 * least the threshold has a positive decision. At 0.5, the result equals the sweep's point.
 * @param network the index of the network
 * @throws {ValueError} if the threshold is NaN
 */
export function judgeAtThreshold(
  { y, groups, logits, ...options }: HeldOutScores,
  network: number,
  threshold: number,
): ThresholdQuality {
  const decisions = decide(logits[network] ?? new Float32Array(0), logit(threshold));
  const { codes, labels } = groups;
  const counts = decisionCounts(countPairs(undefined, decisions, { y, codes, groupCount: labels.length }));
  const total = new Float64Array(CELLS_PER_GROUP);
  counts.forEach((count, cell) => {
    total[cell % CELLS_PER_GROUP] = (total[cell % CELLS_PER_GROUP] as number) + count;
  });
  const quality = judgeCounts(counts, labels, options);
  const [all] = judgeCounts(total, [ALL_ROWS], options).groups as [GroupDecisions];
  return {
    ...quality,
    threshold,
    groups: quality.groups.map((own) => confusionOf(own, counts, labels.indexOf(own.group))),
    all: confusionOf(all, total, 0),
  };
}

function confusionOf(rates: GroupDecisions, counts: Float64Array, group: number): GroupConfusion {
  const at = (truth: 0 | 1, decision: 0 | 1): number =>
    counts[group * CELLS_PER_GROUP + cellIndex(truth, decision)] as number;
  return {
    ...rates,
    truePositives: at(1, 1),
    falsePositives: at(0, 1),
    trueNegatives: at(0, 0),
    falseNegatives: at(1, 0),
  };
}
