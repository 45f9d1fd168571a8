import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { pairedMean } from '../../stats/paired/paired-mean.ts';
import { signFlipTest } from '../../stats/paired/sign-flip-test.ts';
import { type DimensionAnswers, gatherBy, meanOf, pairsOf } from './dimension-answers.ts';
import { type AnswerDistance, comparedTexts, type DivergenceTask } from './answer-distance.ts';
import { type ComparedPair, UNDEFINED } from './largest-pair.ts';
import { leastSignFlip, PERMUTATIONS, tooFew } from './score-settings.ts';

/**
 * How far answers to two values are apart, beyond answers to two values of the
 * control dimension; in each template that has both, since templates differ in how
 * much their answers vary.
 */
export function divergenceBeyondControl(
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
