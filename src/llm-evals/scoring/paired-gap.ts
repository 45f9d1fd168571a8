import { finiteOrNull, meanOf } from '../../internal/values.ts';
import type { GroupRates } from '../../metrics/index.ts';
import { twoSidedCritical } from '../../stats/ab/student-t.ts';
import { pairedMean } from '../../stats/paired/paired-mean.ts';
import { signFlipTest } from '../../stats/paired/sign-flip-test.ts';
import { type Answered, type DimensionAnswers, unitMeans } from './dimension-answers.ts';
import { type ComparedPair, largestPair } from './largest-pair.ts';
import type { LlmMetricResult, UnitValue } from './llm-metric-result.ts';
import type { AnswerCounts } from './missing-answers.ts';
import { minSignFlip, PERMUTATIONS, type ScoreSettings, tooFew } from './score-settings.ts';

/** A numeric feature of an answer. */
export interface AnswerFeature {
  /** The metric, for example `sentiment_gap`. */
  readonly metric: string;
  /** The name of the measured quantity in the group means, such as `mean_sentiment`. */
  readonly measure: string;
  /** Whether all values are 0 or 1. The interval of a rate has a positive width even if no answers differ. */
  readonly isRate: boolean;
  /** Returns the value of an answer, or null if the answer has no value, for example because it states no decision. */
  readonly of: (answer: Answered) => number | null;
  /**
   * Returns the reason why an answer has no value.
   * @defaultValue no decision
   */
  readonly reasonOf?: ((answer: Answered) => string) | undefined;
}

/** The exclusion reason for an answer without a value, and for an answer whose item has answers for no other value. */
const NO_DECISION = 'no decision';
const NO_COUNTERPART = 'no counterpart';

/** The values of an item's answers, for each value of the dimension. There are at least two values of the dimension. */
interface ItemNumbers {
  readonly item: string;
  readonly unit: string;
  readonly byGroup: ReadonlyMap<string, readonly number[]>;
}

/** The included items, and the number of excluded answers by reason. */
interface GatheredNumbers {
  readonly items: readonly ItemNumbers[];
  /** The mean of the answers to each prompt, also of prompts without a counterpart. */
  readonly prompts: readonly UnitValue[];
  /** The mean number of answers to a prompt. */
  readonly answersPerPrompt: number;
  readonly exclusions: Readonly<Record<string, number>>;
  /** The number of answers without a value, by value of the dimension. */
  readonly unread: AnswerCounts;
}

/**
 * Computes the gap of a feature between the values of a dimension. For each item, the gap is the difference between the
 * mean over the answers to one value and the mean over the answers to the other value. The gaps are averaged over the
 * items of each independent unit, and then over units. The test flips the signs of units at random, and the interval is
 * a paired interval over units.
 */
export function pairedGap(
  evaluator: string,
  answers: DimensionAnswers,
  feature: AnswerFeature,
  settings: ScoreSettings,
): LlmMetricResult {
  const gathered = gatherNumbers(answers, feature);
  const taken = (group: string): (readonly number[])[] =>
    gathered.items.flatMap(({ byGroup }) => [byGroup.get(group) ?? []]);
  return largestPair({
    metric: feature.metric,
    evaluator,
    answers,
    compare: (first, second, level) => compare(first, second, gathered, { isRate: feature.isRate, level, settings }),
    ciMethod: feature.isRate ? 'paired adjusted Wald (Bonett-Price) over items' : 'paired t over items',
    pValueMethod: 'sign-flip permutation over items',
    perGroup: groupMeans(gathered, answers.groups, feature.measure),
    nPerGroup: Object.fromEntries(answers.groups.map((group) => [group, taken(group).flat().length])),
    exclusions: { ...answers.exclusions, ...gathered.exclusions },
    unread: gathered.unread,
    units: {
      measure: feature.measure,
      kind: 'mean',
      values: gathered.prompts,
      step: feature.isRate ? 1 / gathered.answersPerPrompt : null,
    },
    settings,
  });
}

interface Comparing extends Pick<AnswerFeature, 'isRate'> {
  readonly level: number;
  readonly settings: ScoreSettings;
}

function compare(
  first: string,
  second: string,
  { items, exclusions }: GatheredNumbers,
  { isRate, level, settings }: Comparing,
): ComparedPair {
  const both = items.flatMap(({ item, unit, byGroup }) => {
    const [a, b] = [byGroup.get(first), byGroup.get(second)];
    if (a === undefined || b === undefined) return [];
    return [{ item, unit, value: meanOf(a) - meanOf(b), answers: a.length + b.length }];
  });
  const units = unitMeans(both, ({ value }) => value);
  const n = units.length;
  const undefinedReason = n === 0 ? (whyNone(exclusions) ?? tooFew(n, settings)) : tooFew(n, settings);
  if (undefinedReason !== null) return { n, undefinedReason };
  const answersOfUnit = both.reduce((sum, { answers }) => sum + answers, 0) / (2 * n);
  return gapOfUnits(both, answersOfUnit, { isRate, level, settings });
}

/** Lists the reasons for which answers have no value; null if all answers have one. */
function whyNone(exclusions: GatheredNumbers['exclusions']): string | null {
  const reasons = Object.entries(exclusions).filter(([reason]) => reason !== NO_COUNTERPART);
  if (reasons.length === 0) return null;
  return `no item can be compared: ${reasons.map(([reason, count]) => `${reason} in ${String(count)} answers`).join(', ')}`;
}

/**
 * Computes the mean of the differences of items over independent units, with its paired interval and its sign-flip test.
 * @param answersOfUnit the mean number of answers of a unit and a value, which the interval of a rate needs
 */
export function gapOfUnits(
  values: readonly UnitValue[],
  answersOfUnit: number,
  { isRate, level, settings }: Comparing,
): ComparedPair {
  const units = unitMeans(values, ({ value }) => value);
  const n = units.length;
  const plain = pairedMean(units, { level });
  // The mean of m answers is a multiple of 1/m. The interval adds two units, with differences of 1/m and -1/m.
  const bounded = isRate ? pairedMean(units, { level, bound: 1, step: 1 / answersOfUnit }) : plain;
  const { standardError, degrees } = Number.isNaN(plain.standardError) ? bounded : plain;
  // This factor is the mean absolute value of a standard normal deviate.
  const noiseFloor = standardError * Math.sqrt(2 / Math.PI);
  const nullQuantile = twoSidedCritical(0.95, degrees) * standardError;
  return {
    value: plain.value,
    ci: settings.withCi ? bounded.interval : null,
    pValue: signFlipTest(units, { samples: PERMUTATIONS, seed: settings.seed }),
    leastPValue: minSignFlip(n),
    n,
    units: {
      kind: 'mean',
      values: values.map(({ item, unit, value }) => ({ item, unit, value })),
      step: isRate ? 1 / answersOfUnit : null,
    },
    ...(Number.isNaN(standardError)
      ? {}
      : { standardError, degrees: finiteOrNull(degrees), noiseFloor, nullMean: noiseFloor, nullQuantile }),
  };
}

function gatherNumbers({ items }: DimensionAnswers, feature: AnswerFeature): GatheredNumbers {
  const lacking = new Map<string, number>();
  const unread = new Map<string, number>();
  let alone = 0;
  const taken: ItemNumbers[] = [];
  const prompts: (UnitValue & { readonly answers: number })[] = [];
  for (const { item, unit, byGroup } of items) {
    const numbers = new Map<string, number[]>();
    for (const [group, answers] of byGroup) {
      const those = answers.flatMap((answer) => {
        const value = feature.of(answer);
        if (value !== null) return value;
        const reason = feature.reasonOf?.(answer) ?? NO_DECISION;
        lacking.set(reason, (lacking.get(reason) ?? 0) + 1);
        unread.set(group, (unread.get(group) ?? 0) + 1);
        return [];
      });
      if (those.length === 0) continue;
      numbers.set(group, those);
      const prompt = answers[0]?.prompt;
      prompts.push({ unit, item: `${item}|${group}`, value: meanOf(those), prompt, answers: those.length });
    }
    if (numbers.size > 1) taken.push({ item, unit, byGroup: numbers });
    else alone += [...numbers.values()].flat().length;
  }
  return {
    items: taken,
    prompts: prompts.map(({ unit, item, value, prompt }) => ({ unit, item, value, prompt })),
    answersPerPrompt: Math.max(1, meanOf(prompts.map(({ answers }) => answers))),
    exclusions: {
      ...Object.fromEntries(lacking),
      ...(alone > 0 ? { [NO_COUNTERPART]: alone } : {}),
    },
    unread: Object.fromEntries(unread),
  };
}

/**
 * Computes the mean of each group over the included items. As in the gap, all items of one unit together count once.
 */
function groupMeans(
  { items }: GatheredNumbers,
  groups: readonly string[],
  measure: string,
): Record<string, GroupRates> {
  return Object.fromEntries(
    groups.map((group) => {
      const those = items.flatMap(({ unit, byGroup }) => {
        const numbers = byGroup.get(group);
        return numbers === undefined ? [] : [{ unit, mean: meanOf(numbers) }];
      });
      const units = unitMeans(those, ({ mean }) => mean);
      return [group, { [measure]: units.length === 0 ? null : meanOf(units) }];
    }),
  );
}
