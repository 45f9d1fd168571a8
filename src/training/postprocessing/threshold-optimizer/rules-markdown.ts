import { escapeMarkdown, markdownTable } from '../../../metrics/markdown-table.ts';
import { mixDecisions, type ThresholdInterpolation, type ThresholdOperation } from './threshold-rule.ts';
import type { ThresholdRules } from './threshold-rules.ts';

/** Scores between two thresholds that all have one probability. */
interface ScoreBand {
  /** Where they end above; undefined where they do not. */
  readonly upper: Cut | undefined;
  readonly lower: Cut | undefined;
  /** As it is printed. */
  readonly probability: string;
}

/** Where a decision changes along the scores: behind the threshold with '>', before it with '<'. */
interface Cut {
  readonly threshold: number;
  readonly isBehind: boolean;
}

/** The rules as a Markdown table: for each group, the scores and the probability of a positive decision. */
export function rulesToMarkdown(rules: ThresholdRules): string {
  const rows = rules.groups.flatMap(({ group, n, interpolation }) =>
    scoreBands(interpolation).map(({ upper, lower, probability }, place) => [
      place === 0 ? escapeMarkdown(group) : '',
      place === 0 ? String(n) : '',
      describeScores(upper, lower),
      probability,
    ]),
  );
  return [
    `### Thresholds: ${rules.constraint}, ${rules.objective}`,
    '',
    markdownTable(['Group', 'Rows', 'Score', 'Probability of a positive decision'], rows),
    '',
    `The largest gap between groups that the constraint speaks of is ${formatRate(rules.gap)} on these rows, in ` +
      `expectation; ${rules.objective} is ${formatRate(rules.objectiveValue)}. Thresholds and probabilities are ` +
      'rounded to six digits here. Every decision needs the group.',
  ].join('\n');
}

/** The bands of scores of a rule, from high scores to low ones; neighbours of one probability are one. */
function scoreBands(rule: ThresholdInterpolation): ScoreBand[] {
  const cuts = [rule.operation0, rule.operation1]
    .filter(({ threshold }) => Number.isFinite(threshold))
    .map(cutOf)
    .sort((a, b) => b.threshold - a.threshold || Number(b.isBehind) - Number(a.isBehind))
    .filter((cut, place, all) => place === 0 || !isSame(cut, all[place - 1] as Cut));
  const merged: ScoreBand[] = [];
  for (let band = 0; band <= cuts.length; band++) {
    const mixed = mixDecisions(rule, decisionIn(rule.operation0, band), decisionIn(rule.operation1, band));
    const probability = formatRate(Math.min(1, mixed));
    const isSameAsBefore = merged.at(-1)?.probability === probability;
    const upper = isSameAsBefore ? merged.pop()?.upper : cuts[band - 1];
    merged.push({ upper, lower: cuts[band], probability });
  }
  return merged;

  /** Bands 0 to k lie above cut k. */
  function decisionIn(operation: ThresholdOperation, band: number): number {
    const { operator, threshold } = operation;
    const cut = cutOf(operation);
    const isAbove = Number.isFinite(threshold)
      ? band <= cuts.findIndex((other) => isSame(other, cut))
      : threshold === -Infinity;
    return Number(isAbove === (operator === '>'));
  }
}

function cutOf({ operator, threshold }: ThresholdOperation): Cut {
  return { threshold, isBehind: operator === '>' };
}

function isSame(a: Cut, b: Cut): boolean {
  return a.threshold === b.threshold && a.isBehind === b.isBehind;
}

function describeScores(upper: Cut | undefined, lower: Cut | undefined): string {
  const ends = [
    ...(lower === undefined ? [] : [`${lower.isBehind ? 'above' : 'at least'} ${formatScore(lower.threshold)}`]),
    ...(upper === undefined ? [] : [`${upper.isBehind ? 'at most' : 'below'} ${formatScore(upper.threshold)}`]),
  ];
  return ends.length === 0 ? 'any' : ends.join(', ');
}

function formatScore(threshold: number): string {
  return String(Number(threshold.toPrecision(6)));
}

function formatRate(rate: number): string {
  return String(Number(rate.toFixed(6)));
}
