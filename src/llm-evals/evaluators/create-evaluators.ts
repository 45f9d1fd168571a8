import { ConfigValidationError } from '../../exceptions/index.ts';
import { invalidParameter, suggestNames } from '../../internal/arguments.ts';
import {
  type EvaluatorName,
  type LLMEvalConfig,
  OUTCOME_NAMES,
  type OutcomeName,
} from '../../schemas/llm-eval/llm-eval-document.ts';
import type { ValueRange } from '../../metrics/threshold-range.ts';
import type { SplitMetrics } from '../outcome/metric-functions.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import type { Embedder } from '../scoring/embedding-distance.ts';
import type { LLMEvaluator } from '../scoring/llm-evaluator.ts';
import { BenchmarkEvaluator } from './benchmark-evaluator.ts';
import { CounterfactualFairnessEvaluator } from './counterfactual-fairness-evaluator.ts';
import { OutcomeEvaluator } from './outcome-evaluator.ts';
import { RefusalRateEvaluator } from './refusal-rate-evaluator.ts';
import { StereotypeAssociationEvaluator } from './stereotype-association-evaluator.ts';
import { ToxicitySentimentEvaluator } from './toxicity-sentiment-evaluator.ts';

const EVALUATORS: Readonly<Record<EvaluatorName, new () => LLMEvaluator>> = {
  counterfactual: CounterfactualFairnessEvaluator,
  refusal: RefusalRateEvaluator,
  toxicity_sentiment: ToxicitySentimentEvaluator,
  stereotype: StereotypeAssociationEvaluator,
  benchmarks: BenchmarkEvaluator,
};

/**
 * Creates the evaluators of a configuration. The evaluator of outcomes follows if outcomes or custom metrics are
 * declared. Custom evaluators that are not in the configuration come last.
 * @param given additional custom evaluators. A custom evaluator replaces the built-in evaluator of the same name
 * @param embed embeds the answers for the evaluator counterfactual
 * @throws {ValueError} if an entry is not an evaluator, or if two entries have the same name
 * @throws {ConfigValidationError} if no evaluator has a name in the configuration, or if there is no evaluator
 */
export function createEvaluators(
  config: EvaluatorSource,
  given: readonly LLMEvaluator[] = [],
  metrics: SplitMetrics = { functions: {}, evaluators: [] },
  embed?: Embedder,
): LLMEvaluator[] {
  assertList(given);
  const own = [...given, ...metrics.evaluators];
  assertEvaluators(own);
  const outcome = outcomeEvaluator(config, metrics.functions);
  const isDecisionDeclared = config.outcome.decision !== undefined;
  const named = config.evaluators.map((name) => {
    const replacement = own.find((each) => each.name === name);
    if (replacement !== undefined) return replacement;
    return name === 'counterfactual'
      ? new CounterfactualFairnessEvaluator({ readsDecisions: !isDecisionDeclared, embed })
      : createByName(name);
  });
  const all = outcome === null ? named : [...named, outcome];
  const found = [...all, ...own.filter((each) => !named.includes(each))];
  if (found.length > 0) return found;
  throw new ConfigValidationError('Nothing would be scored: evaluators is empty, and there is no outcome.', {
    context: { parameter: 'evaluators' },
    suggestion: 'Declare an outcome, name an evaluator, or remove evaluators to use all that fit.',
  });
}

/** The parts of a configuration that determine its evaluators. */
type EvaluatorSource = Pick<LLMEvalConfig, 'evaluators' | 'outcome' | 'judge'>;

function outcomeEvaluator(
  { outcome, judge }: EvaluatorSource,
  metrics: Readonly<Record<string, unknown>>,
): OutcomeEvaluator | null {
  const comparesPairs = judge !== null && judge.pairwise !== null;
  const declared = new Map<string, OutcomeName | null>([
    ...OUTCOME_NAMES.filter((name) => outcome[name] !== undefined).map((name) => [name, name] as const),
    ...Object.keys(metrics).map((name) => [name, null] as const),
  ]);
  return declared.size > 0 || comparesPairs
    ? new OutcomeEvaluator(declared, comparesPairs, scoreRanges(outcome))
    : null;
}

/** Returns the range of each declaration of the score. A judge grades from 1 to 10 unless its rubric says otherwise. */
function scoreRanges({ score = [] }: LLMEvalConfig['outcome']): ValueRange[] {
  return score.map(({ number = {}, judge }) => {
    const { min = judge === undefined ? -Infinity : 1, max = judge === undefined ? Infinity : 10 } = judge ?? number;
    return { low: min, high: max };
  });
}

/**
 * Plans the prompts of all evaluators, in their order.
 * @throws {ConfigValidationError} if an evaluator plans a prompt with the name of another evaluator
 */
export function planPrompts(evaluators: readonly LLMEvaluator[], config: LLMEvalConfig): PlannedPrompt[] {
  return evaluators.flatMap((evaluator) => {
    const prompts = evaluator.plan(config);
    const other = prompts.find((prompt) => prompt.evaluator !== evaluator.name);
    if (other === undefined) return prompts;
    throw new ConfigValidationError(
      `The evaluator '${evaluator.name}' planned a prompt for the evaluator '${other.evaluator}'. It would not score the answer to this prompt.`,
      {
        context: { evaluator: evaluator.name, planned: other.evaluator },
        suggestion: `Set evaluator: '${evaluator.name}' in each prompt, as with planCounterfactual(config, '${evaluator.name}').`,
      },
    );
  });
}

function createByName(name: EvaluatorName): LLMEvaluator {
  if (Object.hasOwn(EVALUATORS, name)) return new EVALUATORS[name]();
  throw new ConfigValidationError(`There is no evaluator named ${JSON.stringify(name)}.`, {
    context: { parameter: 'evaluators', received: name },
    suggestion: `${suggestNames(name, Object.keys(EVALUATORS), 'evaluators')} Pass a custom evaluator as runLlmEval(config, { evaluators: [evaluator] }).`,
  });
}

function assertList(given: unknown): void {
  if (!Array.isArray(given)) throw invalidParameter('evaluators', 'be a list of evaluators', typeof given);
}

function assertEvaluators(own: readonly unknown[]): void {
  const names = new Set<string>();
  own.forEach((each: unknown, index) => {
    const { name, plan, score } = (typeof each === 'object' && each !== null ? each : {}) as Record<string, unknown>;
    if (typeof name !== 'string' || name === '' || typeof plan !== 'function' || typeof score !== 'function') {
      const given = typeof each === 'function' ? `the function or class ${each.name}` : shown(each);
      throw invalidParameter(`evaluators[${String(index)}]`, 'be an object with a name, plan and score', given);
    }
    if (names.has(name)) throw invalidParameter('evaluators', `have unique names`, `two evaluators named '${name}'`);
    names.add(name);
  });
}

function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return `an object with ${Object.keys(value).join(', ') || 'no fields'}`;
}
