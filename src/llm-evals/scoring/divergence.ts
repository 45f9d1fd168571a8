import { meanOf } from '../../internal/values.ts';
import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { type DivergenceUnit, excessDivergence } from '../../stats/paired/excess-divergence.ts';
import { pairedMean } from '../../stats/paired/paired-mean.ts';
import { signFlipTest } from '../../stats/paired/sign-flip-test.ts';
import { type AnswerDistance, comparedTexts, type DivergenceTask } from './answer-distance.ts';
import { type Answered, type DimensionAnswers, gatherBy, pairsOf } from './dimension-answers.ts';
import { type ComparedPair, largestPair, pairLevel, UNDEFINED } from './largest-pair.ts';
import type { LlmMetricResult } from './llm-metric-result.ts';
import { leastSignFlip, PERMUTATIONS, type ScoreSettings, tooFew } from './score-settings.ts';

/** What the noise floor is taken from, and so how an excess is tested. */
interface NoiseFloor {
  readonly compare: (task: DivergenceTask) => ComparedPair;
  readonly ciMethod: string;
  readonly pValueMethod: string;
}

/**
 * How far the answers to a dimension's values are apart beyond noise: the mean
 * distance between answers to two values less the noise floor, which is
 *
 * - where names stand for the values: how far answers about different names of one value are apart;
 * - else, where prompts were asked at least twice and answers vary: how far answers to one prompt are apart;
 * - else how far answers to the values of the control dimension are apart, template by template.
 *
 * Without any of them it is undefined.
 * @param control answers of the control dimension; null where there is none
 */
export function divergence(
  evaluator: string,
  answers: DimensionAnswers,
  control: DimensionAnswers | null,
  distance: AnswerDistance,
  settings: ScoreSettings,
): LlmMetricResult {
  const pairs = pairsOf(answers.groups);
  const level = pairLevel(pairs.length, settings);
  const floor = noiseFloorOf(answers, control);
  return largestPair({
    metric: distance.metric,
    evaluator,
    answers,
    pairs: pairs.map(([first, second]) => floor.compare({ first, second, distance, level, settings })),
    ciMethod: floor.ciMethod,
    pValueMethod: floor.pValueMethod,
    perGroup: {},
    nPerGroup: {},
    exclusions: answers.exclusions,
    isSigned: true,
    settings,
  });
}

function noiseFloorOf(answers: DimensionAnswers, control: DimensionAnswers | null): NoiseFloor {
  if (hasNames(answers)) {
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
      ciMethod: 't over templates, less the control dimension',
      pValueMethod: 'one-sided sign-flip permutation over templates',
    };
  }
  return {
    compare: (task) => divergenceBeyondRepeats(answers, task, varied),
    ciMethod: 't over items',
    pValueMethod: 'one-sided permutation of the answers of each item',
  };
}

/** Whether the values of an item are told by names. */
function hasNames({ items }: DimensionAnswers): boolean {
  return items.some(({ byGroup }) => {
    const names = new Set([...byGroup.values()].flatMap(([answer]) => answer?.details['name'] ?? []));
    return names.size > 1;
  });
}

/** The share of prompts whose answers are all the same from which on repeats are no noise. */
const MAX_ALIKE = 0.9;

/** Whether prompts were asked more than once, and answered differently. */
function isVaried({ items }: DimensionAnswers): boolean {
  const repeated = items.flatMap(({ byGroup }) => [...byGroup.values()]).filter(({ length }) => length > 1);
  const alike = repeated.filter((answers) => answers.every(({ text }) => text === answers[0]?.text));
  return repeated.length > 0 && alike.length < MAX_ALIKE * repeated.length;
}

/**
 * How far answers to two values are apart, beyond answers to two values of the
 * control dimension; in each template that has both, since templates differ in how
 * much their answers vary.
 */
function divergenceBeyondControl(
  answers: DimensionAnswers,
  control: DimensionAnswers,
  { first, second, distance, level, settings }: DivergenceTask,
): ComparedPair {
  const own = byTemplate(answers, [[first, second]], distance);
  const noise = byTemplate(control, pairsOf(control.groups), distance);
  const shared = [...own.keys()].filter((template) => noise.has(template));
  const excesses = shared.map((template) => meanOf(own.get(template) ?? []) - meanOf(noise.get(template) ?? []));
  const n = excesses.length;
  const undefinedReason =
    n === 0 ? 'there is no noise floor: no template has the control dimension too' : tooFew(n, settings);
  if (undefinedReason !== null) return { ...UNDEFINED, first, second, n, undefinedReason };
  const { value, interval, standardError, degrees } = pairedMean(excesses, { level });
  const isKnown = !Number.isNaN(standardError);
  const pValue = signFlipTest(excesses, { samples: PERMUTATIONS, seed: settings.seed });
  return {
    first,
    second,
    value,
    ci: settings.withCi ? interval : null,
    pValue: value > 0 ? pValue / 2 : 1 - pValue / 2,
    leastPValue: leastSignFlip(n) / 2,
    n,
    undefinedReason: null,
    standardError: isKnown ? standardError : null,
    degrees: isKnown ? degrees : null,
    nullMean: isKnown ? 0 : null,
    // One-sided, as the test.
    nullQuantile: isKnown ? twoSidedCritical(0.9, degrees) * standardError : null,
    noiseFloor: meanOf(shared.map((template) => meanOf(noise.get(template) ?? []))),
  };
}

/** Mean distances of the items of each template. */
function byTemplate(
  { items }: DimensionAnswers,
  pairs: readonly (readonly [first: string, second: string])[],
  distance: AnswerDistance,
): Map<string, number[]> {
  const apart = items.flatMap(({ template, byGroup }) =>
    pairs.flatMap(([first, second]) => {
      const [a = [], b = []] = [first, second].map((group) => comparedTexts(byGroup.get(group) ?? [], distance));
      const distances = a.flatMap((one) => b.map((other) => distance.between(one, other)));
      return distances.length === 0 ? [] : [{ template, distance: meanOf(distances) }];
    }),
  );
  return gatherBy(
    apart,
    ({ template }) => template,
    ({ distance }) => distance,
  );
}

/**
 * How far answers to two values are apart, beyond answers to one and the same prompt.
 * @param isVaried whether the repeats differ at all
 */
function divergenceBeyondRepeats({ items }: DimensionAnswers, task: DivergenceTask, isVaried: boolean): ComparedPair {
  const { first, second, level, settings } = task;
  const both = items.flatMap(({ unit, byGroup }) => {
    const [a, b] = [byGroup.get(first) ?? [], byGroup.get(second) ?? []];
    return a.length >= 2 && b.length >= 2 ? [{ unit, answers: unitOf(a, b, task) }] : [];
  });
  const n = new Set(both.map(({ unit }) => unit)).size;
  const undefinedReason = whyNot(n, isVaried) ?? tooFew(n, settings);
  if (undefinedReason !== null) return { ...UNDEFINED, first, second, n, undefinedReason };
  const divergence = excessDivergence(
    both.map(({ answers }) => answers),
    { seed: settings.seed, samples: PERMUTATIONS },
  );
  const excesses = both.map(({ unit }, index) => ({ unit, excess: divergence.excesses[index] ?? NaN }));
  const units = [
    ...gatherBy(
      excesses,
      ({ unit }) => unit,
      ({ excess }) => excess,
    ).values(),
  ].map(meanOf);
  const { value, interval, standardError, degrees } = pairedMean(units, { level });
  const isKnown = !Number.isNaN(standardError);
  return {
    first,
    second,
    value,
    ci: settings.withCi ? interval : null,
    pValue: divergence.pValue,
    leastPValue: 1 / (PERMUTATIONS + 1),
    n,
    undefinedReason: null,
    standardError: isKnown ? standardError : null,
    degrees: isKnown ? degrees : null,
    noiseFloor: divergence.within,
    nullMean: divergence.nullMean,
    nullQuantile: divergence.nullQuantile,
  };
}

function whyNot(units: number, isVaried: boolean): string | null {
  if (units === 0) {
    return 'there is no noise floor: ask each prompt at least twice (repeats), or name a control_dimension';
  }
  if (isVaried) return null;
  return 'there is no noise floor: the answers to one prompt are always the same; raise the temperature, use names, or name a control_dimension';
}

function unitOf(a: readonly Answered[], b: readonly Answered[], { distance }: DivergenceTask): DivergenceUnit {
  const [first, second] = [comparedTexts(a, distance), comparedTexts(b, distance)];
  const texts = [...first, ...second];
  const size = texts.length;
  const distances = new Float64Array(size * size);
  for (let i = 1; i < size; i++) {
    for (let j = 0; j < i; j++) {
      const apart = distance.between(texts[i] as string, texts[j] as string);
      distances[i * size + j] = apart;
      distances[j * size + i] = apart;
    }
  }
  return { first: first.length, second: second.length, distances };
}

/** What was answered about one name, by what was asked. */
type NameAnswers = ReadonlyMap<string, readonly string[]>;

/**
 * How far answers about names of two values are apart, beyond answers about
 * different names of one value: the same questions asked of people of the same group. Tested by dealing
 * the names out to the two values at random; a name goes with all its answers.
 */
function divergenceAmongNames(
  answers: DimensionAnswers,
  { first, second, distance, level, settings }: DivergenceTask,
): ComparedPair {
  const [a, b] = namesOf(answers, first, second, distance);
  const n = a.length;
  const undefinedReason = tooFew(n, settings) ?? (n < 2 ? 'one name says nothing of noise' : null);
  if (undefinedReason !== null) return { ...UNDEFINED, first, second, n, undefinedReason };
  const unit: DivergenceUnit = { first: n, second: n, distances: distancesOf([...a, ...b], distance) };
  const { excess, within, pValue, nullMean, nullQuantile } = excessDivergence([unit], {
    seed: settings.seed,
    samples: PERMUTATIONS,
  });
  const standardError = n > 2 ? jackknife(unit) : NaN;
  const isKnown = standardError > 0;
  const margin = twoSidedCritical(level, n - 1) * standardError;
  return {
    first,
    second,
    value: excess,
    ci: settings.withCi && isKnown ? [excess - margin, excess + margin] : null,
    pValue,
    leastPValue: 1 / (PERMUTATIONS + 1),
    n,
    undefinedReason: null,
    standardError: isKnown ? standardError : null,
    degrees: isKnown ? n - 1 : null,
    noiseFloor: within,
    nullMean,
    nullQuantile,
  };
}

/** The answers about each name of the two values; names that are answered for both at their place of the pools. */
function namesOf(
  { items }: DimensionAnswers,
  first: string,
  second: string,
  distance: AnswerDistance,
): [NameAnswers[], NameAnswers[]] {
  const found = [first, second].map((group) => {
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
  });
  const [a = new Map<string, NameAnswers>(), b = new Map<string, NameAnswers>()] = found;
  const both = [...a.keys()].filter((unit) => b.has(unit));
  return [both.map((unit) => a.get(unit) ?? new Map()), both.map((unit) => b.get(unit) ?? new Map())];
}

/** Mean distances of every two names over what both were asked; two that were asked nothing alike are as far apart as names are on average. */
function distancesOf(names: readonly NameAnswers[], { between }: AnswerDistance): Float64Array {
  const size = names.length;
  const distances = new Float64Array(size * size);
  for (let i = 1; i < size; i++) {
    for (let j = 0; j < i; j++) {
      const asked = [...(names[i] as NameAnswers)].flatMap(([question, texts]) => {
        const others = (names[j] as NameAnswers).get(question) ?? [];
        const apart = texts.flatMap((text) => others.map((other) => between(text, other)));
        return apart.length === 0 ? [] : [meanOf(apart)];
      });
      distances[i * size + j] = distances[j * size + i] = meanOf(asked);
    }
  }
  const known = distances.filter((distance, place) => !Number.isNaN(distance) && place % (size + 1) !== 0);
  const average = meanOf([...known]);
  return distances.map((distance) => (Number.isNaN(distance) ? average : distance));
}

/** The standard error of the excess, from leaving out one place of both pools at a time. */
function jackknife({ first: n, distances }: DivergenceUnit): number {
  const size = 2 * n;
  const without = Array.from({ length: n }, (_, left) => {
    const kept = Array.from({ length: size }, (__, place) => place).filter((place) => place % n !== left);
    const fewer = Float64Array.from({ length: kept.length ** 2 }, (__, index) => {
      const [row, column] = [kept[Math.floor(index / kept.length)] ?? 0, kept[index % kept.length] ?? 0];
      return distances[row * size + column] ?? 0;
    });
    return excessDivergence([{ first: n - 1, second: n - 1, distances: fewer }], { samples: 1 }).excess;
  });
  const mean = meanOf(without);
  return Math.sqrt(((n - 1) / n) * without.reduce((sum, value) => sum + (value - mean) ** 2, 0));
}
