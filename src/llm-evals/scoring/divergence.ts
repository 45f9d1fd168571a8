import type { LlmMetricResult } from '../evaluators/llm-metric-result.ts';
import type { AnswerDistance, DivergenceTask } from './answer-distance.ts';
import { type DimensionAnswers, pairsOf } from './dimension-answers.ts';
import { divergenceAmongNames } from './divergence-among-names.ts';
import { divergenceBeyondControl } from './divergence-beyond-control.ts';
import { divergenceBeyondRepeats } from './divergence-beyond-repeats.ts';
import { type ComparedPair, largestPair, pairLevel } from './largest-pair.ts';
import type { ScoreSettings } from './score-settings.ts';

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
const MOST_ALIKE = 0.9;

/** Whether prompts were asked more than once, and answered differently. */
function isVaried({ items }: DimensionAnswers): boolean {
  const repeated = items.flatMap(({ byGroup }) => [...byGroup.values()]).filter(({ length }) => length > 1);
  const alike = repeated.filter((answers) => answers.every(({ text }) => text === answers[0]?.text));
  return repeated.length > 0 && alike.length < MOST_ALIKE * repeated.length;
}
