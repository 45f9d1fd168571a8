import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { type DivergenceUnit, excessDivergence } from '../../stats/paired/excess-divergence.ts';
import { type DimensionAnswers, meanOf } from './dimension-answers.ts';
import { type AnswerDistance, comparedTexts, type DivergenceTask } from './answer-distance.ts';
import { type ComparedPair, UNDEFINED } from './largest-pair.ts';
import { PERMUTATIONS, tooFew } from './score-settings.ts';

/** What was answered about one name, by what was asked. */
type NameAnswers = ReadonlyMap<string, readonly string[]>;

/**
 * How far answers about names of two values are apart, beyond answers about
 * different names of one value: the same questions asked of people of the same group. Tested by dealing
 * the names out to the two values at random; a name goes with all its answers.
 */
export function divergenceAmongNames(
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
