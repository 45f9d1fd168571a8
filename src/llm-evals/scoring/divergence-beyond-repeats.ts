import { type DivergenceUnit, excessDivergence } from '../../stats/paired/excess-divergence.ts';
import { pairedMean } from '../../stats/paired/paired-mean.ts';
import { type Answered, type DimensionAnswers, gatherBy, meanOf } from './dimension-answers.ts';
import { comparedTexts, type DivergenceTask } from './answer-distance.ts';
import { type ComparedPair, UNDEFINED } from './largest-pair.ts';
import { PERMUTATIONS, tooFew } from './score-settings.ts';

/**
 * How far answers to two values are apart, beyond answers to one and the same prompt.
 * @param isVaried whether the repeats differ at all
 */
export function divergenceBeyondRepeats(
  { items }: DimensionAnswers,
  task: DivergenceTask,
  isVaried: boolean,
): ComparedPair {
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
