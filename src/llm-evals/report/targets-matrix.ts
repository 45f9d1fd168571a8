import { effectsChart } from '../../charts/effects-chart.ts';
import { numberColumn, type ReportBlock, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import {
  bracketText,
  counted,
  formatCount,
  formatNumber,
  NOTHING,
  pValuePhrase,
  pValueText,
} from '../../internal/format.ts';
import type { LlmTargetsResult } from '../run/llm-targets-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import type { LlmTargetDifference } from '../scoring/llm-target-difference.ts';
import { FINDING_WORDS, findingOf, testedP, undefinedByReason } from './finding.ts';
import {
  intervalText,
  intervalTitle,
  metricName,
  metricPairTitle,
  metricTitle,
  nullText,
  numberText,
  pairSuffix,
  tableOf,
} from './report-words.ts';

/** The maximum number of pairs of targets that have a column in the matrix. */
const MAX_COLUMNS = 3;

/** The maximum number of charts. The differences with the smallest p-values come first. */
const MAX_CHARTS = 3;

/** The maximum number of rows in the table of differences. */
const MAX_ROWS = 90;

/** The maximum number of differences that are described in sentences. */
const MAX_SENTENCES = 12;

/** Returns the title of a pair of targets, such as "new \u2212 old". */
export function targetsTitle([first, second]: readonly [string, string]): string {
  return `${labelText(first)} \u2212 ${labelText(second)}`;
}

/** Returns the title of a difference, such as "Decision gap by gender (woman \u2212 man): new \u2212 old". */
function differenceTitle(difference: LlmTargetDifference): string {
  return `${sizeTitle(difference)}: ${targetsTitle(difference.targets)}`;
}

/** The name of the size of a gap says that it has no sign. */
function sizeTitle(difference: LlmTargetDifference): string {
  const title = metricPairTitle(difference);
  return isSize(difference) ? title.replace(' size', ' (size, without the sign)') : title;
}

/** Returns whether a difference compares the sizes of two gaps. */
function isSize({ metric }: Pick<LlmMetricResult, 'metric'>): boolean {
  return metric.endsWith('_size');
}

/**
 * Builds the tables of metrics by target: one table for all answers, and one for each dimension. The last columns
 * contain the differences.
 */
export function matrixBlocks(result: LlmTargetsResult): ReportBlock[] {
  const differences = Object.values(result.differences).filter((each) => !isSize(each));
  const metrics = Object.values(result.targets).flatMap((target) => Object.values(target.metrics));
  const rows = rowsOf([...differences, ...metrics]);
  const dimensions = [...new Set(rows.map(({ dimension }) => dimension))];
  const ordered = [...dimensions.filter((name) => name === null), ...dimensions.filter((name) => name !== null)];
  const tables = ordered.flatMap((dimension) =>
    matrixTable(
      result,
      rows.filter((row) => row.dimension === dimension),
      dimension,
    ),
  );
  return tables.length === 0
    ? [{ kind: 'paragraph', text: 'No metric was computed.' }]
    : [{ kind: 'paragraph', text: matrixWords(result) }, ...tables];
}

/** A row of the matrix: a metric, in all targets and differences. */
type MatrixRow = Pick<LlmMetricResult, 'metric' | 'dimension' | 'evaluator'>;

function rowsOf(metrics: readonly LlmMetricResult[]): MatrixRow[] {
  const rows = new Map<string, MatrixRow>();
  for (const { metric, dimension, evaluator } of metrics) {
    const key = JSON.stringify([metric, dimension]);
    if (!rows.has(key)) rows.set(key, { metric, dimension, evaluator });
  }
  return [...rows.values()];
}

function matrixWords({ targets, differences }: LlmTargetsResult): string {
  const level = intervalTitle(Object.values(differences));
  const pairs = pairsOf(differences);
  const more =
    pairs.length > MAX_COLUMNS
      ? ` The ${formatCount(pairs.length)} pairs of targets are in the table "All differences".`
      : ` The last ${pairs.length === 1 ? 'column contains the difference' : 'columns contain the differences'} on the same items.`;
  const several = Object.values(differences).some((each) => each.pairs.length > 1)
    ? ' A dimension with more than two values has several gaps: a cell has the gap of the pair that differs most, and a difference that of the pair that differs most between targets.'
    : '';
  return `Each cell has the value and its ${level === 'Interval' ? 'interval' : level} for one of ${counted(Object.keys(targets).length, 'target')}. An asterisk (*) marks values that are statistically distinguishable from noise (adjusted p of at most 0.05).${more}${several}`;
}

function pairsOf(differences: LlmTargetsResult['differences']): (readonly [string, string])[] {
  const pairs = new Map(Object.values(differences).map(({ targets }) => [JSON.stringify(targets), targets]));
  return [...pairs.values()];
}

function matrixTable(
  { targets, differences }: LlmTargetsResult,
  rows: readonly MatrixRow[],
  dimension: string | null,
): ReportTable[] {
  const all = pairsOf(differences);
  const pairs = all.length > MAX_COLUMNS ? [] : all;
  const own = Object.values(differences);
  const find = (row: MatrixRow, pair: readonly [string, string]): LlmTargetDifference | undefined =>
    own.find(
      (each) =>
        each.metric === row.metric &&
        each.dimension === row.dimension &&
        JSON.stringify(each.targets) === JSON.stringify(pair),
    );
  const cells = rows.map((row) => [
    rowTitle(row, own),
    ...Object.entries(targets).map(([name, { metrics }]) => {
      const metric = Object.values(metrics).find((each) => each.metric === row.metric && each.dimension === dimension);
      return metric === undefined ? valueOfTarget(row, name, own) : cellOf(metric);
    }),
    ...pairs.map((pair) => {
      const difference = find(row, pair);
      return difference === undefined ? NOTHING : cellOf(difference);
    }),
  ]);
  const columns = [...Object.keys(targets).map(labelText), ...pairs.map(targetsTitle)].map(numberColumn);
  return tableOf(dimension === null ? 'All answers' : `By ${labelText(dimension)}`, ['Metric', ...columns], cells);
}

function rowTitle(row: MatrixRow, differences: readonly LlmTargetDifference[]): string {
  const named = differences.find((each) => each.metric === row.metric && each.dimension === row.dimension);
  const name = metricName(row as LlmMetricResult);
  // With several pairs of values, each target can have its value from another pair.
  return named?.pairs.length === 1 ? `${name}${pairSuffix(named)}` : name;
}

/** Returns the value of a measure that a target has no metric for. The differences contain it. */
function valueOfTarget(row: MatrixRow, name: string, differences: readonly LlmTargetDifference[]): string {
  const known = differences.find(
    (each) => each.metric === row.metric && each.dimension === row.dimension && each.targets.includes(name),
  );
  const value = known?.targetValues[known.targets.indexOf(name)];
  return value === undefined || Number.isNaN(value) ? NOTHING : shortNumber(value);
}

function cellOf(metric: LlmMetricResult): string {
  if (Number.isNaN(metric.value)) return 'undefined';
  const mark = findingOf(metric) === 'shown' ? ' *' : '';
  return `${shortNumber(metric.value)}${metric.ci === null ? '' : ` ${bracketText(metric.ci)}`}${mark}`;
}

function shortNumber(value: number): string {
  return formatNumber(value, 3).replace(/^-(?=0\.0*$)/, '');
}

/** Returns the differences that count as findings: not the control, which should make no difference, and no sizes. */
export function comparedMetrics({
  differences,
  config,
}: Pick<LlmTargetsResult, 'differences' | 'config'>): LlmTargetDifference[] {
  const control = config.counterfactual?.controlDimension;
  return Object.values(differences).filter(
    (each) => !isSize(each) && (control === undefined || each.dimension !== control),
  );
}

/** Describes the differences in sentences: those that are distinguishable from noise, and how many are not. */
export function differenceSentences(result: LlmTargetsResult): string[] {
  const tested = comparedMetrics(result);
  const shown = tested.filter((each) => findingOf(each) === 'shown');
  const notShown = tested.filter((each) => findingOf(each) === 'not_shown').length;
  const rest = shown.length - MAX_SENTENCES;
  return [
    ...shown.slice(0, MAX_SENTENCES).map((each) => differenceSentence(each, result)),
    ...(rest > 0
      ? [`${counted(rest, 'more difference')} distinguishable from noise: see the table of all differences.`]
      : []),
    ...(notShown === 0 ? [] : [notShownSentence(notShown, shown.length)]),
    ...undefinedByReason(
      tested.filter((each) => findingOf(each) === 'undefined'),
      (metric) => metricTitle(metric),
    ),
  ];
}

function notShownSentence(count: number, shown: number): string {
  const which =
    shown === 0
      ? `None of ${counted(count, 'difference')} is`
      : `${counted(count, 'other difference')} ${count === 1 ? 'is' : 'are'} not`;
  return `${which} statistically distinguishable from noise. That does not show that the targets are alike: the table lists the minimum detectable differences.`;
}

/** Describes a difference in one sentence. */
function differenceSentence(difference: LlmTargetDifference, result: LlmTargetsResult): string {
  const { targets, targetValues, value, ci, n } = difference;
  const [first, second] = targets.map(labelText);
  const values = `${numberText(targetValues[0])} for ${first ?? ''}, ${numberText(targetValues[1])} for ${second ?? ''}`;
  const p = testedP(difference);
  const basis = [
    ...(ci === null ? [] : [`interval ${intervalText(ci)}`]),
    counted(n, 'item'),
    ...(p === null ? [] : [`adjusted p ${pValuePhrase(p)}`]),
  ].join(', ');
  return `${metricPairTitle(difference)}: ${values}; difference ${numberText(value)} (${basis}).${sizeSentence(difference, result)}`;
}

/** Says which target has the larger gap. The sign of a gap says only whose value is larger. */
function sizeSentence({ metric, dimension, targets }: LlmTargetDifference, { differences }: LlmTargetsResult): string {
  const size = Object.values(differences).find(
    (each) =>
      each.metric === `${metric}_size` && each.dimension === dimension && each.targets.join() === targets.join(),
  );
  if (size === undefined || Number.isNaN(size.value) || size.value === 0) return '';
  const which = size.value > 0 ? 'larger' : 'smaller';
  return ` The gap of ${labelText(targets[0])} is ${which} by ${numberText(Math.abs(size.value))}.`;
}

/** Draws the metrics whose differences are clearest: a dot for each target, and a square for the difference. */
export function differenceCharts(comparison: LlmTargetsResult): ReportBlock[] {
  const { targets } = comparison;
  const clearest = comparedMetrics(comparison)
    .filter((each) => Number.isFinite(each.value) && testedP(each) !== null)
    .sort((a, b) => (testedP(a) ?? 1) - (testedP(b) ?? 1));
  const drawn = new Map<string, LlmTargetDifference>();
  for (const each of clearest) {
    const name = JSON.stringify([each.metric, each.dimension]);
    if (!drawn.has(name) && drawn.size < MAX_CHARTS) drawn.set(name, each);
  }
  return [...drawn.values()].map((difference): ReportBlock => {
    const { metric, dimension, targets: pair, targetValues, n, value, ci } = difference;
    const groups = Object.entries(targets).flatMap(([name, result]) => {
      const own = Object.values(result.metrics).find((each) => each.metric === metric && each.dimension === dimension);
      if (own !== undefined) return [{ label: labelText(name), n: own.n, value: own.value, ci: own.ci }];
      const index = pair.indexOf(name);
      return index < 0 ? [] : [{ label: labelText(name), n, value: targetValues[index] ?? NaN, ci: null }];
    });
    return {
      kind: 'picture',
      chart: () =>
        effectsChart({
          title: metricPairTitle(difference),
          subtitle: 'Dots are targets, the square is a difference, lines are intervals; n is the number of items',
          groups,
          overall: { label: targetsTitle(pair), n, value, ci },
        }),
    };
  });
}

/** Builds the table with a row for each difference. */
export function differenceTable({ differences }: LlmTargetsResult): ReportBlock[] {
  const all = Object.values(differences).filter(({ undefinedReason }) => undefinedReason === null);
  const detectable = 'Minimum detectable difference (80% power)';
  const numbers = [
    'First',
    'Second',
    'Difference',
    intervalTitle(all),
    'Without an effect',
    'Adjusted p',
    'Items',
    detectable,
  ];
  const rows = all
    .slice(0, MAX_ROWS)
    .map((each) => [
      differenceTitle(each),
      ...each.targetValues.map((value) => numberText(Number.isNaN(value) ? null : value)),
      ...[numberText(each.value), intervalText(each.ci), nullText(each), pValueText(each.adjustedPValue)],
      ...[formatCount(each.n), numberText(each.minimumDetectableGap)],
      FINDING_WORDS[findingOf(each)],
    ]);
  const rest = all.length - rows.length;
  return [
    ...tableOf('All differences', ['Difference', ...numbers.map(numberColumn), 'Significant'], rows),
    ...(rest > 0
      ? [{ kind: 'paragraph' as const, text: `${formatCount(rest)} more differences are in the JSON.` }]
      : []),
  ];
}
