import { groupBy, meanOf, sumOf } from '../../internal/values.ts';
import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { type DivergenceUnit, type ExcessDivergence, excessDivergence } from '../../stats/paired/excess-divergence.ts';
import { type PairedMean, pairedMean } from '../../stats/paired/paired-mean.ts';
import { signFlipTest } from '../../stats/paired/sign-flip-test.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { type AnswerDistance, comparedTexts } from './answer-distance.ts';
import { type Answered, type DimensionAnswers, isInCluster, pairsOf, unitMeans } from './dimension-answers.ts';
import { type ComparedPair, largestPair } from './largest-pair.ts';
import type { LlmMetricResult, UnitValue } from './llm-metric-result.ts';
import { minSignFlip, PERMUTATIONS, type ScoreSettings, tooFew } from './score-settings.ts';

/** The inputs of one comparison: two values of a dimension, the distance function, and the settings. */
interface DivergenceTask {
  readonly first: string;
  readonly second: string;
  readonly distance: AnswerDistance;
  readonly level: number;
  readonly settings: ScoreSettings;
}

/** A way to determine the noise floor, and to test whether a divergence exceeds it. */
interface NoiseFloor {
  readonly compare: (task: DivergenceTask) => ComparedPair;
  readonly ciMethod: string;
  readonly pValueMethod: string;
}

/**
 * Computes by how much the differences between answers to the values of a dimension exceed noise. The result is the
 * mean distance between answers to two values minus the noise floor. The noise floor is
 *
 * - the mean distance between answers about different names of one value, if names represent the values;
 * - otherwise, the mean distance between answers to the same prompt, if prompts were asked at least twice and the
 *   answers vary;
 * - otherwise, the mean distance between answers to the values of the control dimension, within each template.
 *
 * If there is no noise floor, the divergence is undefined.
 * @param control answers of the control dimension; null if there is no control dimension
 */
export function divergence(
  evaluator: string,
  answers: DimensionAnswers,
  control: DimensionAnswers | null,
  distance: AnswerDistance,
  settings: ScoreSettings,
): LlmMetricResult {
  const { compare, ciMethod, pValueMethod } = noiseFloorOf(answers, control);
  return largestPair({
    metric: distance.metric,
    evaluator,
    answers,
    compare: (first, second, level) => compare({ first, second, distance, level, settings }),
    ciMethod,
    pValueMethod,
    isSigned: true,
    settings,
  });
}

function noiseFloorOf(answers: DimensionAnswers, control: DimensionAnswers | null): NoiseFloor {
  // Names in one cluster depend on each other, so they cannot be exchanged one by one.
  const clustered = answers.items.some(isInCluster);
  if (!clustered && hasNames(answers)) {
    return {
      compare: (task) => divergenceAmongNames(answers, task),
      ciMethod: 'jackknife t over names',
      pValueMethod: 'one-sided permutation of the names',
    };
  }
  const varied = isVaried(answers);
  if (control !== null && control.dimension !== answers.dimension && !varied) {
    return {
      compare: (task) => divergenceBeyondControl(answers, control, task),
      ciMethod: `t over ${clustered ? 'clusters' : 'templates'}, less the control dimension`,
      pValueMethod: `one-sided sign-flip permutation over ${clustered ? 'clusters' : 'templates'}`,
    };
  }
  return {
    compare: (task) => divergenceBeyondRepeats(answers, task, { isVaried: varied, isClustered: clustered }),
    ciMethod: clustered ? 't over clusters' : 't over items',
    pValueMethod: clustered
      ? 'one-sided sign-flip permutation over clusters'
      : 'one-sided permutation of the answers of each item',
  };
}

/** Returns whether names represent the values of the items. */
function hasNames({ items }: DimensionAnswers): boolean {
  return items.some(({ byGroup }) => {
    const names = new Set([...byGroup.values()].flatMap(([answer]) => answer?.details['name'] ?? []));
    return names.size > 1;
  });
}

/** If the answers are identical for this share of the repeated prompts or more, repeats provide no noise floor. */
const MAX_ALIKE = 0.9;

/** Returns whether prompts were repeated and enough of the repeats have different answers. */
function isVaried({ items }: DimensionAnswers): boolean {
  const repeated = items.flatMap(({ byGroup }) => [...byGroup.values()]).filter(({ length }) => length > 1);
  const alike = repeated.filter((answers) => answers.every(({ text }) => text === answers[0]?.text));
  return repeated.length > 0 && alike.length < MAX_ALIKE * repeated.length;
}

/**
 * Computes a divergence with the control dimension as the noise floor: the distance between answers to two values,
 * minus the distance between answers to two control values. Compares the distances within each template that has both
 * dimensions, because the variation of answers depends on the template.
 */
function divergenceBeyondControl(
  answers: DimensionAnswers,
  control: DimensionAnswers,
  { first, second, distance, level, settings }: DivergenceTask,
): ComparedPair {
  const own = byTemplate(answers, [[first, second]], distance);
  const noise = byTemplate(control, pairsOf(control.groups), distance);
  const shared = [...own.keys()].filter((template) => noise.has(template));
  const units = new Map(
    answers.items.map((item) => [templateOf(item), isInCluster(item) ? item.unit : templateOf(item)]),
  );
  const values = shared.map((template) => ({
    unit: units.get(template) ?? template,
    item: template,
    value: (own.get(template) ?? NaN) - (noise.get(template) ?? NaN),
  }));
  const excesses = unitMeans(values, ({ value }) => value);
  const n = excesses.length;
  const undefinedReason =
    n === 0
      ? 'there is no noise floor: no template varies both this dimension and the control dimension'
      : tooFew(n, settings);
  if (undefinedReason !== null) return { n, undefinedReason };
  const paired = pairedMean(excesses, { level });
  return {
    ...estimateOf(paired, settings),
    ...unitTest(excesses, paired, settings),
    n,
    noiseFloor: meanOf(shared.map((template) => noise.get(template) ?? NaN)),
    units: { kind: 'mean', values, step: null },
  };
}

/** Tests whether the mean excess of independent units is above 0, by random signs of the units. */
function unitTest(
  excesses: readonly number[],
  { value, standardError, degrees }: PairedMean,
  { seed }: ScoreSettings,
): Partial<ComparedPair> {
  const pValue = signFlipTest(excesses, { samples: PERMUTATIONS, seed });
  // The quantile is one-sided, like the test.
  const nullQuantile = twoSidedCritical(0.9, degrees) * standardError;
  return {
    pValue: value > 0 ? pValue / 2 : 1 - pValue / 2,
    leastPValue: minSignFlip(excesses.length) / 2,
    ...(Number.isNaN(standardError) ? {} : { nullMean: 0, nullQuantile }),
  };
}

/**
 * Converts the estimate of a mean to the value, interval and standard error of a pair. Omits the standard error if it
 * is unknown.
 */
function estimateOf(
  { value, interval, standardError, degrees }: PairedMean,
  { withCi }: ScoreSettings,
): Partial<ComparedPair> {
  const spread = Number.isNaN(standardError) ? {} : { standardError, degrees };
  return { value, ci: withCi ? interval : null, ...spread };
}

/** Returns the key of the template of an item. The templates of different clusters are compared separately. */
function templateOf(item: DimensionAnswers['items'][number]): string {
  return isInCluster(item) ? JSON.stringify([item.unit, item.template]) : item.template;
}

/** Computes the mean distance over the items of each template. */
function byTemplate(
  { items }: DimensionAnswers,
  pairs: readonly (readonly [first: string, second: string])[],
  distance: AnswerDistance,
): Map<string, number> {
  const separate = items.flatMap((item) =>
    pairs.flatMap(([first, second]) => {
      const { byGroup } = item;
      const [a = [], b = []] = [first, second].map((group) => comparedTexts(byGroup.get(group) ?? [], distance));
      const distances = a.flatMap((one) => b.map((other) => distance.between(one, other)));
      return distances.length === 0 ? [] : [{ template: templateOf(item), distance: meanOf(distances) }];
    }),
  );
  return new Map(
    Array.from(
      groupBy(separate, ({ template }) => template),
      ([template, those]) => [template, meanOf(those.map((each) => each.distance))],
    ),
  );
}

/** How the answers to repeated prompts vary. */
interface RepeatedAnswers {
  /** Whether the answers to repeated prompts differ. */
  readonly isVaried: boolean;
  /** Whether items of a cluster depend on each other. The answers of single items are then not exchanged. */
  readonly isClustered: boolean;
}

/**
 * Computes a divergence with repeats as the noise floor: the distance between answers to two values, minus the distance
 * between answers to the same prompt.
 */
function divergenceBeyondRepeats(
  { items }: DimensionAnswers,
  task: DivergenceTask,
  { isVaried, isClustered }: RepeatedAnswers,
): ComparedPair {
  const { first, second, level, settings } = task;
  const both = items.flatMap(({ item, unit, byGroup }) => {
    const [a, b] = [byGroup.get(first) ?? [], byGroup.get(second) ?? []];
    return a.length >= 2 && b.length >= 2 ? [{ item, unit, answers: unitOf(a, b, task) }] : [];
  });
  const n = new Set(both.map(({ unit }) => unit)).size;
  const undefinedReason = whyNot(n, isVaried) ?? tooFew(n, settings);
  if (undefinedReason !== null) return { n, undefinedReason };
  const divergence = excessDivergence(
    both.map(({ answers }) => answers),
    { seed: settings.seed, samples: PERMUTATIONS },
  );
  const excesses = both.map(({ item, unit }, index) => ({ item, unit, value: divergence.excesses[index] ?? NaN }));
  const means = unitMeans(excesses, ({ value }) => value);
  const units = { kind: 'mean', values: excesses, step: null } as const;
  const paired = pairedMean(means, { level });
  const ofClusters = isClustered ? unitTest(means, paired, settings) : {};
  return { ...estimateOf(paired, settings), ...testOf(divergence), ...ofClusters, n, units };
}

function whyNot(units: number, isVaried: boolean): string | null {
  if (units === 0) {
    return 'there is no noise floor: ask each prompt at least twice (repeats), or set a control_dimension';
  }
  if (isVaried) return null;
  return 'there is no noise floor: the answers to one prompt are always the same; raise the temperature, use names, or set a control_dimension';
}

function unitOf(a: readonly Answered[], b: readonly Answered[], { distance }: DivergenceTask): DivergenceUnit {
  const [first, second] = [comparedTexts(a, distance), comparedTexts(b, distance)];
  const texts = [...first, ...second];
  const size = texts.length;
  const distances = new Float64Array(size * size);
  for (let i = 1; i < size; i++) {
    for (let j = 0; j < i; j++) {
      const separate = distance.between(texts[i] as string, texts[j] as string);
      distances[i * size + j] = separate;
      distances[j * size + i] = separate;
    }
  }
  return { first: first.length, second: second.length, distances };
}

/** The answers to the prompts that contain one name, by question. */
type NameAnswers = ReadonlyMap<string, readonly string[]>;

/** The answers about the names of two values, name by name, from one pool of names for each value. */
interface NamePair {
  /** The units of the names. */
  readonly names: readonly string[];
  readonly first: readonly NameAnswers[];
  readonly second: readonly NameAnswers[];
}

/**
 * Computes a divergence with names as the noise floor. The result is the distance between answers about names of two
 * values, minus the distance for different names of one value. Only answers to the same question are compared. The test
 * assigns the names to the two values at random. All answers about one name are assigned to the same value. If names
 * depend on other dimensions too, names are compared only within one combination of the other values, and the excess is
 * the mean over these combinations.
 */
function divergenceAmongNames(
  answers: DimensionAnswers,
  { first, second, distance, level, settings }: DivergenceTask,
): ComparedPair {
  const pairs = namesOf(answers, first, second, distance);
  const n = sumOf(pairs.map((pair) => pair.first.length));
  const used = pairs.filter((pair) => pair.first.length > 1);
  const undefinedReason =
    tooFew(n, settings) ?? (used.length === 0 ? 'one name cannot show how much answers vary by chance' : null);
  if (undefinedReason !== null) return { n, undefinedReason };
  const units = used.map((pair): DivergenceUnit => {
    const [a, b] = [pair.first.length, pair.second.length];
    return { first: a, second: b, distances: distancesOf([...pair.first, ...pair.second], distance) };
  });
  if (units.some(({ distances }) => Array.from(distances).some(Number.isNaN)))
    return { n, undefinedReason: NO_QUESTION };
  const tested = excessDivergence(units, { seed: settings.seed, samples: PERMUTATIONS });
  const value = tested.excess;
  const without = units.map((unit) => (unit.first > 2 ? withoutEach(unit) : []));
  const values = used.flatMap(({ names }, pool) =>
    (without[pool] ?? []).map((each, index): UnitValue => {
      const size = names.length;
      const name = names[index] ?? '';
      return { unit: name, item: name, value: size * (tested.excesses[pool] ?? NaN) - (size - 1) * each };
    }),
  );
  const known = { ...testOf(tested), n, units: { kind: 'jackknife', values, step: null } as const };
  // The pools have different names, so the variances of their excesses are added.
  const standardError = Math.sqrt(sumOf(without.map((each) => jackknifeError(each) ** 2))) / units.length;
  if (!(standardError > 0)) return { value, ...known };
  const degrees = sumOf(units.map((unit) => unit.first - 1));
  const margin = twoSidedCritical(level, degrees) * standardError;
  const interval: Interval = [value - margin, value + margin];
  return { ...estimateOf({ value, interval, standardError, degrees }, settings), ...known };
}

const NO_QUESTION = 'there is no noise floor: no two names were used in the same question (template)';

/** Returns the noise floor of a divergence, and its permutation test. */
function testOf({ within: noiseFloor, pValue, nullMean, nullQuantile }: ExcessDivergence): Omit<ComparedPair, 'n'> {
  return { noiseFloor, pValue, nullMean, nullQuantile, leastPValue: 1 / (PERMUTATIONS + 1) };
}

/**
 * Returns the answers about the names of two values, for each pool. Only names that have answers for both values are
 * included, at the same index in both lists.
 */
function namesOf({ items }: DimensionAnswers, first: string, second: string, distance: AnswerDistance): NamePair[] {
  const pools = groupBy(items, ({ byGroup }) => poolOf(byGroup.get(first)) ?? poolOf(byGroup.get(second)) ?? '');
  return [...pools.values()].map((those) => {
    const [a, b] = [answersByName(those, first, distance), answersByName(those, second, distance)];
    const both = [...a.keys()].filter((unit) => b.has(unit));
    return {
      names: both,
      first: both.map((unit) => a.get(unit) ?? new Map<string, string[]>()),
      second: both.map((unit) => b.get(unit) ?? new Map<string, string[]>()),
    };
  });
}

function poolOf(answers: readonly Answered[] = []): string | undefined {
  return answers[0]?.details['pool'];
}

/** Returns the answers about each name of a value, by question. */
function answersByName(
  items: DimensionAnswers['items'],
  group: string,
  distance: AnswerDistance,
): Map<string, Map<string, string[]>> {
  const names = new Map<string, Map<string, string[]>>();
  for (const { unit, item, byGroup } of items) {
    const those = byGroup.get(group) ?? [];
    const [answer] = those;
    if (answer?.details['name'] === undefined) continue;
    const asked = answer.details['alike'] ?? item;
    const ofName = names.get(unit) ?? new Map<string, string[]>();
    names.set(unit, ofName.set(asked, comparedTexts(those, distance)));
  }
  return names;
}

/**
 * Computes the mean distance for every pair of names, over the questions that were asked about both names. For two
 * names without a common question, the average distance of all pairs of names is used.
 */
function distancesOf(names: readonly NameAnswers[], { between }: AnswerDistance): Float64Array {
  const size = names.length;
  const distances = new Float64Array(size * size);
  for (let i = 1; i < size; i++) {
    for (let j = 0; j < i; j++) {
      const asked = [...(names[i] as NameAnswers)].flatMap(([question, texts]) => {
        const others = (names[j] as NameAnswers).get(question) ?? [];
        const separate = texts.flatMap((text) => others.map((other) => between(text, other)));
        return separate.length === 0 ? [] : [meanOf(separate)];
      });
      distances[i * size + j] = distances[j * size + i] = meanOf(asked);
    }
  }
  const known = distances.filter((distance, index) => !Number.isNaN(distance) && index % (size + 1) !== 0);
  const average = meanOf([...known]);
  return distances.map((distance) => (Number.isNaN(distance) ? average : distance));
}

/** Computes the excess without each name. Each replicate omits the name at one index from both lists. */
function withoutEach({ first: n, distances }: DivergenceUnit): number[] {
  const size = 2 * n;
  return Array.from({ length: n }, (_, left) => {
    const kept = Array.from({ length: size }, (__, position) => position).filter((position) => position % n !== left);
    const fewer = Float64Array.from({ length: kept.length ** 2 }, (__, index) => {
      const [row, column] = [kept[Math.floor(index / kept.length)] ?? 0, kept[index % kept.length] ?? 0];
      return distances[row * size + column] ?? 0;
    });
    return excessDivergence([{ first: n - 1, second: n - 1, distances: fewer }], { samples: 1 }).excess;
  });
}

/** Computes the standard error of a statistic with a jackknife, from its values without each unit. */
function jackknifeError(without: readonly number[]): number {
  const n = without.length;
  if (n === 0) return NaN;
  const mean = meanOf(without);
  return Math.sqrt(((n - 1) / n) * without.reduce((sum, value) => sum + (value - mean) ** 2, 0));
}
