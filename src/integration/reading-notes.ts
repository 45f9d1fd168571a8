import { counted, formatCount, formatNumber, formatShare, nameSome, rangeText } from '../internal/format.ts';
import { sumOf } from '../internal/values.ts';
import { selectedLabelsOf, ungroupedRows } from '../metrics/compare/missing-rows.ts';
import { type DecisionRateName, type MeasureName, rateCells } from '../metrics/measures/index.ts';
import type { ControlCell, MetricFrame } from '../metrics/frame/index.ts';
import { metricDefinition } from '../metrics/metric-definitions.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import {
  ALL_CELLS,
  CELLS_BY_DECISION,
  cellIndex,
  type ClassificationStats,
  decisionTotals,
  type GroupStats,
  sumCells,
} from '../metrics/statistics/group-stats.ts';
import { type MeasureOptions, SCORE_THRESHOLD } from '../schemas/validate-values.ts';
import { NO_COINCIDENCE } from '../stats/share-difference.ts';
import { INTERSECTION_SEPARATOR, isFavourable, type LabelCounts, oftenMeansMissing } from '../table/index.ts';
import { judge } from './assertions.ts';
import { type GateRequest, type GateVerdict, gatesOf, nameOfAttribute } from './gates.ts';

/** The JSON keys of the label columns. */
const LABEL_COLUMNS = { predictions: 'y_pred', 'true labels': 'y_true' } as const;

/** How each label of one column was interpreted, with its number of rows. */
interface ColumnLabels {
  readonly positive: LabelCounts;
  readonly negative: LabelCounts;
  readonly missing: LabelCounts;
}

/** {@link ColumnLabels} of predictions and truth. A column that holds only 0 and 1 is omitted. */
export type ReadLabels = Readonly<Partial<Record<(typeof LABEL_COLUMNS)[keyof typeof LABEL_COLUMNS], ColumnLabels>>>;

/** Returns how the labels of decisions and of true labels were read. */
export function readLabelsOf(stats: readonly GroupStats[]): ReadLabels {
  const readings = stats.flatMap((one) => one.readings ?? []);
  return Object.fromEntries(
    readings.flatMap(({ role, positive, negative, missing }) =>
      role === 'predictions' || role === 'true labels' ? [[LABEL_COLUMNS[role], { positive, negative, missing }]] : [],
    ),
  );
}

/** The options that notes depend on. */
type NotedRequest = GateRequest & Pick<MeasureOptions, 'average' | 'scoreThreshold'>;

/** What was read and measured. */
interface MeasuredRows {
  /** The statistics of decisions of each attribute; empty without decisions. All attributes have the same outcomes. */
  readonly decided: readonly ClassificationStats[];
  /** The statistics within the levels of a control feature, of one attribute. */
  readonly crossed: { readonly stats: GroupStats; readonly cells: readonly ControlCell[] } | undefined;
  /** The groups of each attribute, with their numbers of rows. */
  readonly groups: readonly ReadonlyMap<string, number>[];
  readonly labels: ReadLabels;
  /** The metrics of each attribute. */
  readonly metrics: readonly Readonly<Record<string, MetricResult>>[];
}

/** Returns notes on labels, scores, thresholds and groups that may have been read in another sense than meant. */
export function readingNotes(
  request: NotedRequest,
  { decided, crossed, groups, labels, metrics }: MeasuredRows,
  scores: ArrayLike<number> = [],
): string[] {
  const [first] = decided;
  return [
    ...thresholdNotes(request, first, scores),
    ...codedScoreNotes(scores),
    ...groupNotes(request.names, groups),
    ...totalNotes(request.names, decided),
    ...ungatedNotes(request),
    // Each class is compared with all others, so that each is positive once.
    ...(request.average === undefined
      ? [
          ...ungroupedNotes(request.names, decided),
          ...favourableNotes(labels),
          ...oppositeNotes(first),
          ...equalNotes(first),
          ...(first === undefined ? [] : selectedLabelsOf(first)),
          ...controlNotes(first, crossed),
        ]
      : []),
    ...reversedScoreNotes(metrics),
  ];
}

/** Notes outcomes in which a label such as 'hired' is negative, and another label is the positive one. */
export function favourableNotes(labels: ReadLabels): string[] {
  return Object.values(labels).flatMap(({ positive, negative }) => {
    const [positives, negatives] = [Object.keys(positive), Object.keys(negative)];
    const favourable = negatives.find(isFavourable);
    const [counted] = positives;
    if (favourable === undefined || counted === undefined || positives.some(isFavourable)) return [];
    return [
      `'${counted}' counts as the positive label, and '${favourable}' as a negative one. If '${favourable}' is the favourable one, name it as the positive label: ratios and error rates change`,
    ];
  });
}

/** The smallest number of rows with either true label in a group whose rates are compared. */
const MIN_LABELLED = 30;

/**
 * Notes decisions that are worse than chance in every group: usually, another label is the positive one of the
 * decisions than of the true labels.
 */
function oppositeNotes(decided: ClassificationStats | undefined): string[] {
  if (decided?.hasTruth !== true) return [];
  const partsOf = (name: DecisionRateName): { readonly above: Float64Array; readonly below: Float64Array } => {
    const { above, below } = rateCells(name);
    return { above: sumCells(decided.counts, above), below: sumCells(decided.counts, below) };
  };
  const [ones, zeros] = [partsOf('true_positive_rate'), partsOf('false_positive_rate')];
  const groups = [...decided.labels.keys()].filter((group) =>
    [ones, zeros].every(({ below }) => (below[group] as number) >= MIN_LABELLED),
  );
  const rateOf = ({ above, below }: typeof ones, group: number): number => (above[group] as number) / (below[group] as number); // prettier-ignore
  const isOpposite = groups.length > 0 && groups.every((group) => rateOf(ones, group) < rateOf(zeros, group));
  if (!isOpposite) return [];
  const total = (cells: Float64Array): number => sumOf(groups.map((group) => cells[group] as number));
  const [rightRate, wrongRate] = [ones, zeros].map(({ above, below }) => total(above) / total(below)) as [number, number]; // prettier-ignore
  const error = Math.sqrt((rightRate * (1 - rightRate)) / total(ones.below) + (wrongRate * (1 - wrongRate)) / total(zeros.below)); // prettier-ignore
  if (wrongRate - rightRate < NO_COINCIDENCE * error) return [];
  return [
    `in every group, decisions are positive more often for rows with a negative true label (${formatShare(wrongRate)} in total) than for rows with a positive one (${formatShare(rightRate)}). Check which labels are positive: --positive-label and --y-true-positive-label, in code positiveLabel and yTruePositiveLabel`,
  ];
}

/** Notes decisions that all equal the true label: the two may be one column, or the model may know the rows. */
function equalNotes(decided: ClassificationStats | undefined): string[] {
  // Small counts that were left out look like none.
  if (decided?.hasTruth !== true || decided.minCell !== undefined) return [];
  const total = (truth: 0 | 1, decision: 0 | 1): number =>
    sumOf(sumCells(decided.counts, [cellIndex(truth, decision)]));
  const isEqual = total(0, 1) + total(1, 0) === 0 && Math.min(total(0, 0), total(1, 1)) >= MIN_LABELLED;
  if (!isEqual) return [];
  return [
    'every decision equals its true label. Check that the true labels are not a copy of the decisions, and that a model has not learned these rows',
  ];
}

/**
 * Notes a control feature of which each level has one decision only, or that is known for one decision only: it may have
 * been set with the decision.
 */
function controlNotes(decided: ClassificationStats | undefined, crossed: MeasuredRows['crossed']): string[] {
  if (decided === undefined || crossed?.stats.kind !== 'classification') return [];
  if (decisionTotals(decided).some((total) => total < MIN_LABELLED)) return [];
  const { counts } = crossed.stats;
  const { positive, negative } = CELLS_BY_DECISION;
  /** The levels with a decision. */
  const levelsWith = (cells: readonly number[]): ReadonlySet<string> =>
    new Set(
      [...sumCells(counts, cells)].flatMap((count, index) => (count > 0 ? (crossed.cells[index]?.level ?? []) : [])),
    );
  const [positives, negatives] = [levelsWith(positive), levelsWith(negative)];
  if ([...positives].some((level) => negatives.has(level)) || positives.size + negatives.size === 0) return [];
  if (positives.size === 0 || negatives.size === 0) {
    return [
      `the control feature is known only for rows with a ${positives.size > 0 ? 'positive' : 'negative'} decision, so that no gap within a level can be seen. Use what was known before the decision`,
    ];
  }
  return [
    'within each level of the control feature, all decisions are equal, so that no gap within a level can be seen. If the level follows from the decision, or is different for each row, it is no control feature. Use what was known before the decision',
  ];
}

/** Notes rows without a group whose decisions differ from those with a group by more than chance. */
function ungroupedNotes(names: readonly string[], decided: readonly ClassificationStats[]): string[] {
  return decided.flatMap((stats, index) =>
    ungroupedRows(stats, decided.length === 1 ? 'a group' : `a value of '${names[index] as string}'`),
  );
}

/** The largest number of levels whose intervals are computed for a note, since intervals take time. */
const MAX_JUDGED_LEVELS = 10;

/** The number of levels that a note describes. */
const SHOWN_LEVELS = 3;

/**
 * Notes gates that pass over all rows, although groups differ within a level of the control feature by more than the
 * gate allows, interval included. The levels with the most rows are judged.
 * @param verdicts the verdicts of one attribute
 * @param frame the measures of the same attribute, with the levels of the control feature
 */
export function levelNotes(
  request: Pick<MeasureOptions, 'agg'>,
  verdicts: readonly GateVerdict[],
  frame: MetricFrame,
): string[] {
  const levels = Object.entries(frame.byLevel)
    .map(([level, inside]) => ({ level, inside, rows: sumOf(Object.values(inside.nPerGroup)) }))
    .sort((a, b) => b.rows - a.rows)
    .slice(0, MAX_JUDGED_LEVELS);
  return verdicts.flatMap((verdict) => {
    const { attribute, metric, passed, threshold } = verdict;
    const { measures, comparison, agg } = metricDefinition(metric);
    // In a mean of the gaps of several measures, one of them may be large.
    const isMean = measures.length > 1 && (agg ?? request.agg) === 'mean';
    if (passed !== true || threshold === null || isMean) return [];
    const found = levels.flatMap(({ level, inside }) => {
      const [gap] = measures.flatMap((measure) => gapBeyond(inside, measure, comparison, verdict));
      return gap?.ci ? [`${formatNumber(gap.value)} (${rangeText(gap.ci)}) within '${level}'`] : [];
    });
    if (found.length === 0) return [];
    const more = found.length > SHOWN_LEVELS ? `; and ${String(found.length - SHOWN_LEVELS)} more` : '';
    return [
      `the gate on ${metric} passes for '${attribute}' over all levels of the control feature together, but within ${String(found.length)} of ${counted(levels.length, 'level')}, the ${comparison === 'ratio' ? 'ratio' : 'gap'} is on the other side of ${String(threshold)}, interval included: ${found.slice(0, SHOWN_LEVELS).join('; ')}${more}. The gate does not judge single levels`,
    ];
  });
}

/**
 * Returns the comparison of a measure within a level if it fails the gate, interval included. The interval takes time, so
 * the value is judged first.
 */
function gapBeyond(
  inside: MetricFrame,
  measure: MeasureName,
  comparison: 'difference' | 'ratio',
  { threshold, comparator }: GateVerdict,
): MetricResult[] {
  const compare = (withCi: boolean): MetricResult =>
    inside.metric(measure, comparison, { withCi, withEffectSize: false, withPValue: false });
  const fails = (gap: MetricResult): boolean => {
    const { status, straddles } = judge(gap, threshold ?? undefined, comparator ?? undefined);
    return status === 'fail' && !straddles;
  };
  if (!fails(compare(false))) return [];
  const gap = compare(true);
  return gap.ci !== null && fails(gap) ? [gap] : [];
}

/** Notes attributes without a gate, if others have one. */
function ungatedNotes(request: NotedRequest): string[] {
  const gates = gatesOf(request);
  if (gates.length === 0) return [];
  const { names } = request;
  const gated = new Set<string | undefined>(
    gates.flatMap(({ attributes }) => attributes?.map((given) => nameOfAttribute(given, names)) ?? [...names]),
  );
  const rest = names.filter((name) => !gated.has(name));
  if (rest.length === 0) return [];
  return [`no gate applies to ${nameSome(rest)}, so that the verdict says nothing about ${rest.length === 1 ? 'it' : 'them'}`]; // prettier-ignore
}

/** Notes scores that are higher for the negative label in every group: the upper end of each interval is below 0.5. */
function reversedScoreNotes(attributes: MeasuredRows['metrics']): string[] {
  const isReversed = attributes
    .flatMap((metrics) => Object.values(metrics))
    .some(({ perGroup, perGroupCi }) => {
      const measured = Object.entries(perGroup).filter(
        ([, { roc_auc: auc }]) => auc !== undefined && !Number.isNaN(auc),
      );
      const highest = measured.map(([label]) => perGroupCi?.[label]?.['roc_auc']?.[1] ?? NaN);
      return highest.length > 0 && highest.every((end) => end < 0.5);
    });
  if (!isReversed) return [];
  return [
    'in every group, the ROC AUC is below 0.5, interval included: rows with a positive true label have the lower scores. If a high score stands for the negative label, use 1 minus the score, or name the other positive label',
  ];
}

/**
 * Returns notes on groups that may not be meant.
 * @param groups the groups of each attribute, with their numbers of rows
 */
export function groupNotes(names: readonly string[], groups: readonly ReadonlyMap<string, number>[]): string[] {
  return [
    ...numberNotes(names, groups),
    ...codedGroupNotes(names, groups),
    ...abbreviationNotes(names, groups),
    ...linesOfNamesNotes(names, groups),
  ];
}

/** The number of groups above which groups that are numbers are probably not meant. */
const MANY_NUMBERS = 20;

/** Returns whether a label is a number or starts with a date. */
function isAmount(label: string): boolean {
  return label.trim() !== '' && (!Number.isNaN(Number(label)) || /^\d{4}-\d{2}-\d{2}(?!\d)/.test(label));
}

/** Notes columns of many numbers or dates, such as ages, of which each is a group. */
function numberNotes(names: readonly string[], groups: MeasuredRows['groups']): string[] {
  return names.flatMap((name, index) => {
    const labels = [...(groups[index]?.keys() ?? [])];
    if (labels.length <= MANY_NUMBERS || !labels.every(isAmount)) return [];
    const kind = labels.every((label) => !Number.isNaN(Number(label))) ? 'numbers' : 'dates';
    return [
      `column '${name}' has ${String(labels.length)} different ${kind}, and each is a group. To compare ranges, such as ${kind === 'numbers' ? 'under 40 and from 40' : 'years'}, write them to a column first`,
    ];
  });
}

/** Numbers that often stand for a missing value. */
const CODES = new Set([-1, -8, -9, -99, -999, -9999, 9, 98, 99, 998, 999, 9999]);

/** Notes a group such as 9 or -1 beside groups that are smaller numbers: usually, a code for a missing value. */
function codedGroupNotes(names: readonly string[], groups: MeasuredRows['groups']): string[] {
  return names.flatMap((name, index) => {
    const labels = [...(groups[index]?.keys() ?? [])];
    if (labels.length > MANY_NUMBERS || !labels.every((label) => /^-?\d+$/.test(label.trim()))) return [];
    const rest = labels.map(Number).filter((label) => !CODES.has(label));
    const [smallest, largest] = [Math.min(...rest), Math.max(...rest)];
    // Among 0 to 8, the group 9 is one of ten; and -1, 0 and 1 are also three answers.
    const isCode = (label: number): boolean =>
      CODES.has(label) && (label < 0 ? smallest >= 0 && (label < -1 || largest > 1) : label > 2 * largest + 1);
    const codes = labels.filter((label) => isCode(Number(label))).sort((a, b) => Number(a) - Number(b));
    if (rest.length < 2 || codes.length === 0) return [];
    return [
      `${counted(codes.length, 'group')} of '${name}' may be ${codes.length === 1 ? 'a code' : 'codes'} for a missing value, since the others are from ${String(smallest)} to ${String(largest)}: ${nameSome(codes)}. If so, name ${codes.length === 1 ? 'it' : 'them'} with --na-values ${codes.join(',')}, in code naValues, if no other column uses it for something else`,
    ];
  });
}

/** The smallest number of letters of a word that may be shortened to its first one. */
const MIN_WORD = 3;

/** Matches words of sexes in English, German, French and Spanish. */
const SEX_WORD = /^(fe)?male$|^(wo)?man$|^weiblich$|^männlich$|^frau$|^mann$|^femme$|^homme$|^féminin$|^masculin$|^femenino$|^masculino$|^mujer$|^hombre$/i; // prettier-ignore

/** Notes groups such as 'F' and 'female', of which one may be the first letter of the other. */
function abbreviationNotes(names: readonly string[], groups: MeasuredRows['groups']): string[] {
  return names.flatMap((name, index) => {
    const labels = [...(groups[index]?.keys() ?? [])];
    if (labels.length > MANY_NUMBERS) return [];
    const words = labels.filter(
      (label) => label.length >= MIN_WORD && /^\p{L}+$/u.test(label) && !oftenMeansMissing(label),
    );
    const pairs = labels
      .filter((label) => /^\p{L}$/u.test(label))
      .flatMap((letter) => words.filter((word) => word[0]?.toLowerCase() === letter.toLowerCase()).map((word) => ({ letter, word }))); // prettier-ignore
    // One pair of other words, such as blood group A and 'all', is a coincidence.
    if (pairs.length < 2 && !pairs.some(({ word }) => SEX_WORD.test(word))) return [];
    const shown = pairs.map(({ letter, word }) => `'${letter}' and '${word}'`).join(', ');
    return [`groups of '${name}' may be one group each: ${shown}. They are measured as separate groups; if they are the same, write them in one way`]; // prettier-ignore
  });
}

/** The smallest number of rows from which equal sums are no coincidence. */
const MIN_TOTAL = 100;

/** Notes a group whose counts are the sums of all others', such as a row of totals in a table of counts. */
function totalNotes(names: readonly string[], decided: readonly ClassificationStats[]): string[] {
  return decided.flatMap(({ counts, labels, minCell }, index) => {
    // Small counts that were left out are missing in the sum.
    if (labels.length <= 2 || minCell !== undefined) return [];
    const cells = ALL_CELLS.map((cell) => sumCells(counts, [cell]))
      .map((ofGroups) => ({ ofGroups, total: sumOf([...ofGroups]) }))
      .filter(({ total }) => total > 0);
    if (cells.length < 2 || sumOf(cells.map(({ total }) => total)) < MIN_TOTAL) return [];
    const isTotal = (group: number): boolean =>
      cells.every(({ ofGroups, total }) => 2 * (ofGroups[group] as number) === total);
    return labels.flatMap((label, group) =>
      isTotal(group)
        ? [`group '${label}' of '${names[index] as string}' has as many rows of each kind as all others together. If it is their total, remove it: it is compared as a group`] // prettier-ignore
        : [],
    );
  });
}

/** The largest share of lines of names among the rows. Other groups with the name of their column are larger. */
const FEW_NAMES = 0.01;

/** Notes rows in which a column, or each of several, holds its own name: usually, a line of names of a joined file. */
function linesOfNamesNotes(names: readonly string[], groups: MeasuredRows['groups']): string[] {
  const [note] = names.flatMap((name, index) => {
    const rows = groups[index]?.get(name) ?? 0;
    if (rows === 0 || rows > Math.max(1, FEW_NAMES * sumOf([...(groups[index]?.values() ?? [])]))) return [];
    const columns = name.split(INTERSECTION_SEPARATOR);
    return [
      `${counted(rows, 'row holds', 'rows hold')} the name of ${columns.length === 1 ? 'its column' : 'each column'} as a value: ${nameSome(columns)}. If ${rows === 1 ? 'it is a line' : 'they are lines'} of names, as in files that were joined, remove ${rows === 1 ? 'it' : 'them'}`,
    ];
  });
  return note === undefined ? [] : [note];
}

/** The share of one decision from which the scores may have another scale than the threshold. */
const MOSTLY_ONE = 0.95;

/** Scores that show which scale they have. */
export interface SeenScores {
  /** All scores, or the first ones; missing if none was seen, as in a database, or may be shown, as with `minCell`. */
  readonly scores?: ArrayLike<number> | undefined;
}

/** Returns whether the default threshold turns scores into decisions. Nobody compared it with the scale of the scores. */
function hasDefaultThreshold({
  hasScores,
  hasPredictions,
  scoreThreshold,
}: Pick<NotedRequest, 'hasScores' | 'hasPredictions' | 'scoreThreshold'>): boolean {
  return hasScores && !hasPredictions && scoreThreshold === undefined;
}

/** Notes that scores have another scale than the threshold, or that nearly all of them reach it. */
function thresholdNotes(
  request: NotedRequest,
  decided: ClassificationStats | undefined,
  scores: ArrayLike<number>,
): string[] {
  if (!request.hasScores || request.hasPredictions || decided === undefined) return [];
  const [positive, negative] = decisionTotals(decided);
  const share = formatShare(positive / (positive + negative));
  // Small counts that were left out are missing in the share.
  const isComplete = decided.minCell === undefined;
  const threshold = `${hasDefaultThreshold(request) ? 'default ' : ''}threshold of ${String(request.scoreThreshold ?? SCORE_THRESHOLD)}`;
  const choose = 'choose the threshold: --score-threshold, in code scoreThreshold, in requests score_threshold';
  const outside = Array.prototype.find.call(scores, (score: number) => score < 0 || score > 1) as number | undefined;
  if (hasDefaultThreshold(request) && outside !== undefined && positive + negative > 0) {
    return [
      `the scores are not between 0 and 1, since one is ${String(outside)}, but decisions are made at the ${threshold}${isComplete ? `: ${share} are positive` : ''}. If that is not meant, ${choose}`,
    ];
  }
  // If there is no other decision, the metrics have a warning.
  if (negative === 0 || positive === 0 || !isComplete) return [];
  // Few positive decisions at a threshold that somebody chose may be meant.
  if (hasDefaultThreshold(request) && negative / (positive + negative) >= MOSTLY_ONE) {
    return [
      `only ${share} of the decisions are positive, because few scores reach the ${threshold}. If decisions are made at another one, ${choose}`,
    ];
  }
  if (positive / (positive + negative) < MOSTLY_ONE) return [];
  return [
    `${share} of the decisions are positive, because the scores reach the ${threshold}. If the scores have another scale, ${choose}`,
  ];
}

/** The number of scores among which a code is searched. */
export const SEEN_SCORES = 10_000;

/** How many times farther a code is from the nearest score than the scores are from each other. */
const CODE_DISTANCE = 5;

/** The smallest number of different scores, and of scores with a code, from which a code is no coincidence. */
const MIN_REPEATED = 5;

/** Notes a score that occurs often, far below or above all others, such as 999 for no score. */
export function codedScoreNotes(scores: ArrayLike<number>): string[] {
  const counts = new Map<number, number>();
  for (let index = 0; index < Math.min(scores.length, SEEN_SCORES); index++) {
    const score = scores[index] as number;
    if (Number.isFinite(score)) counts.set(score, (counts.get(score) ?? 0) + 1);
  }
  const values = [...counts.keys()].sort((a, b) => a - b);
  if (values.length < MIN_REPEATED) return [];
  const noteOf = (code: number, others: readonly number[]): string[] => {
    const [first, last] = [others[0] as number, others.at(-1) as number];
    const count = counts.get(code) as number;
    const distance = Math.min(Math.abs(code - first), Math.abs(code - last));
    if (count < MIN_REPEATED || distance <= CODE_DISTANCE * (last - first)) return [];
    return [
      `the score ${String(code)} occurs ${formatCount(count)} times${scores.length > SEEN_SCORES ? ` among the first ${formatCount(SEEN_SCORES)}` : ''}, and all others are from ${String(first)} to ${String(last)}. If it stands for a missing value, name it with --na-values ${String(code)}, in code naValues`,
    ];
  };
  return [...noteOf(values[0] as number, values.slice(1)), ...noteOf(values.at(-1) as number, values.slice(0, -1))];
}
