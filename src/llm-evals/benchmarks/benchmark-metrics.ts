import { groupBy, meanOf, sumOf } from '../../internal/values.ts';
import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { signFlipTest } from '../../stats/paired/sign-flip-test.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import { parseBbqAnswer } from '../bbq/parse-bbq-answer.ts';
import type { Transcript } from '../client/transcript.ts';
import { jackknifeInterval } from '../scoring/jackknife-interval.ts';
import {
  llmMetric,
  type LlmMetricFields,
  type LlmMetricResult,
  type PairComparison,
} from '../scoring/llm-metric-result.ts';
import { minSignFlip, PERMUTATIONS, type ScoreSettings } from '../scoring/score-settings.ts';
import { classifyRefusal } from '../text/refusal/classify-refusal.ts';

/** The name of the evaluator in prompts and results. */
export const BENCHMARKS = 'benchmarks';

/** The minimum number of units for a reliable interval and p-value. With fewer units, a warning is added. */
const FEW_UNITS = 10;

/** The value of one item. Items of the same unit are not independent. */
export interface ItemValue {
  readonly item: string;
  readonly unit: string;
  readonly value: number;
  /** Whether the item shows no preference, so that the test ignores it. */
  readonly isTie?: boolean;
}

/** A metric that is a mean over items. */
export interface MeanMetric
  extends
    Pick<LlmMetricFields, 'metric' | 'exclusions'>,
    Partial<Pick<LlmMetricFields, 'dimension' | 'perGroup' | 'nPerGroup' | 'warnings'>> {
  readonly values: readonly ItemValue[];
  /** The range of the metric. */
  readonly range: readonly [least: number, most: number];
  /** What an item is called in reasons and warnings: "pair", "sentence". */
  readonly itemName: string;
  /** What a unit is called in reasons and warnings. */
  readonly unitName: string;
  /** The value without an effect, against which the metric is tested. A metric without this value has no p-value. */
  readonly nullValue?: number;
  /** For a difference: the names of the two values, in the order of the subtraction. */
  readonly pair?: readonly [first: string, second: string];
  /** The reason why the metric is undefined, whatever the answers are. */
  readonly undefinedReason?: string | undefined;
}

/**
 * Computes the mean over items, with a jackknife interval over units and a sign-flip test of the units' sums. If all
 * units have the same value, a share has Wilson's interval, with each unit as one trial.
 */
export function meanMetric(given: MeanMetric, settings: ScoreSettings): LlmMetricResult {
  const { metric, values, unitName, nullValue, exclusions, warnings = [] } = given;
  const units = [...groupBy(values, ({ unit }) => unit).values()];
  const undefinedReason = given.undefinedReason ?? fewItems(values.length, given.itemName, settings);
  const isDefined = undefinedReason === null;
  const value = isDefined ? meanOf(values.map((each) => each.value)) : NaN;
  const interval = isDefined ? intervalOf(value, units, given, settings) : null;
  const shown = settings.withCi ? (interval?.ci ?? null) : null;
  const degrees = units.length - 1;
  const standardError = interval?.standardError ?? null;
  const isTested = isDefined && nullValue !== undefined;
  const test = isTested ? testOf(units, nullValue, unitName, settings) : {};
  return llmMetric({
    ...{ metric, evaluator: BENCHMARKS, dimension: given.dimension ?? null, value, undefinedReason, exclusions },
    ...{ n: values.length, nDropped: sumOf(Object.values(exclusions)) },
    ...{ ci: shown, ciLevel: shown && settings.ciLevel, ciMethod: shown && (interval?.method ?? null) },
    ...{ perGroup: given.perGroup ?? {}, nPerGroup: given.nPerGroup ?? {} },
    ...test,
    ...pairOf(given, { value, ci: shown, pValue: test.pValue ?? null, n: values.length, undefinedReason }),
    ...(isTested && standardError !== null ? { standardError, degrees } : {}),
    ...(isTested && standardError !== null && nullValue === 0 ? nullOf(standardError, degrees) : {}),
    warnings: isDefined ? [...warningsOf(values.length, units.length, given, interval, settings), ...warnings] : [],
    ...(isTested ? { seed: settings.seed } : {}),
  });
}

function pairOf(
  { pair }: MeanMetric,
  compared: Omit<PairComparison, 'first' | 'second'>,
): Pick<LlmMetricFields, 'first' | 'second' | 'pairs'> {
  if (pair === undefined) return { first: null, second: null, pairs: [] };
  const [first, second] = pair;
  return { first, second, pairs: [{ first, second, ...compared }] };
}

/** An interval with its method, or the reason why there is none. */
interface FoundInterval {
  readonly ci: LlmMetricFields['ci'];
  readonly standardError: number | null;
  readonly reason: string | null;
  readonly method: string | null;
}

function intervalOf(
  mean: number,
  units: readonly (readonly ItemValue[])[],
  { values, range, unitName }: MeanMetric,
  { ciLevel }: ScoreSettings,
): FoundInterval {
  const total = sumOf(values.map(({ value }) => value));
  const without = units.map((own) => {
    const rest = values.length - own.length;
    return rest === 0 ? NaN : (total - sumOf(own.map(({ value }) => value))) / rest;
  });
  const found = jackknifeInterval({ value: mean, without, level: ciLevel, range, cluster: unitName });
  if (found.ci !== null) return { ...found, method: `jackknife over ${unitName}s` };
  const isShare = range[0] === 0 && range[1] === 1;
  if (units.length < 2 || !isShare) return { ...found, method: null };
  const ci = wilsonInterval(Math.min(units.length, mean * units.length), units.length, ciLevel);
  return { ci, standardError: null, reason: null, method: `wilson over ${unitName}s` };
}

function testOf(
  units: readonly (readonly ItemValue[])[],
  nullValue: number,
  unitName: string,
  { seed }: ScoreSettings,
): Partial<LlmMetricFields> {
  const sums = units.map((own) => sumOf(own.map(({ value, isTie = false }) => (isTie ? 0 : value - nullValue))));
  return {
    pValue: signFlipTest(sums, { samples: PERMUTATIONS, seed }),
    pValueMethod: `sign flip over ${unitName}s`,
    leastPValue: minSignFlip(units.length),
  };
}

/** Describes the absolute value of a mean without an effect, from its standard error. */
export function nullOf(
  standardError: number,
  degrees: number,
): Pick<LlmMetricFields, 'noiseFloor' | 'nullMean' | 'nullQuantile'> {
  const noiseFloor = standardError * Math.sqrt(2 / Math.PI);
  return { noiseFloor, nullMean: noiseFloor, nullQuantile: twoSidedCritical(0.95, degrees) * standardError };
}

/** Returns the reason why a metric of so few items is undefined, or null. */
export function fewItems(
  count: number,
  name: string,
  { minGroupSize, allowSmallSamples }: ScoreSettings,
): string | null {
  if (count === 0) return `no ${name} has a readable answer`;
  if (count >= minGroupSize || allowSmallSamples) return null;
  return `${String(count)} ${count === 1 ? `${name} has` : `${name}s have`} a readable answer, fewer than ${String(minGroupSize)} (min_group_size)`;
}

function warningsOf(
  items: number,
  units: number,
  { itemName, unitName }: MeanMetric,
  interval: FoundInterval | null,
  { minGroupSize, withCi }: ScoreSettings,
): string[] {
  return [
    ...(items < minGroupSize ? [`Only ${String(items)} ${itemName}s: too few for a reliable value.`] : []),
    ...(units < FEW_UNITS
      ? [`Only ${String(units)} independent ${unitName}s: others may give different results.`]
      : []),
    ...(withCi && interval?.ci === null ? [`No interval can be computed: ${interval.reason ?? ''}.`] : []),
  ];
}

/** An answer that was read, or the reason why it is excluded. */
export type ReadAnswer<Value> =
  | { readonly transcript: Transcript; readonly value: Value; readonly exclusion: null }
  | { readonly transcript: Transcript; readonly value: null; readonly exclusion: string };

/** Reads the answers. `read` returns null if an answer cannot be read. Refusals are counted separately. */
export function readAnswers<Value>(
  transcripts: readonly Transcript[],
  read: (text: string, details: Transcript['details']) => Value | null,
): ReadAnswer<Value>[] {
  return transcripts.map((transcript) => {
    const { text, error, isRefusal, details } = transcript;
    if (text === null) return { transcript, value: null, exclusion: error?.kind ?? 'no answer' };
    const value = read(text, details);
    if (value !== null) return { transcript, value, exclusion: null };
    const { label } = classifyRefusal(text, { isRefusal });
    return { transcript, value: null, exclusion: label === 'full' || label === 'partial' ? 'refused' : 'unparsed' };
  });
}

/** Counts excluded answers by reason. */
export function countExclusions(answers: readonly { readonly exclusion: string | null }[]): Record<string, number> {
  const reasons = answers.flatMap(({ exclusion }) => exclusion ?? []);
  return Object.fromEntries([...groupBy(reasons, (reason) => reason)].map(([reason, all]) => [reason, all.length]));
}

/** Averages the values of all answers to an item, such as repeated answers. */
export function itemValues(
  answers: readonly ReadAnswer<number>[],
  itemOf: (transcript: Transcript) => string = ({ item }) => item,
): ItemValue[] {
  const read = answers.flatMap(({ transcript, value }) => (value === null ? [] : [{ transcript, value }]));
  return [...groupBy(read, ({ transcript }) => itemOf(transcript))].map(([item, own]) => ({
    item,
    unit: own[0]?.transcript.unit ?? item,
    value: meanOf(own.map(({ value }) => value)),
  }));
}

/** Formats a question with two answers. */
export function choicePrompt(question: string, [first, second]: readonly [string, string]): string {
  return `${question}\n(a) ${first}\n(b) ${second}\n\nReply with (a) or (b), and nothing else.`;
}

/** Returns the index of the chosen answer; null if the text chooses none or both. */
export function readChoice(text: string, [first, second]: readonly [string, string]): 0 | 1 | null {
  // The third answer is "unknown" in its many wordings, which is not a choice.
  const index = parseBbqAnswer(text, { answers: [first, second, ''], unknown: 2 });
  return index === 0 || index === 1 ? index : null;
}
