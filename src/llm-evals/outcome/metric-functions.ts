import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { ConfigValidationError, FairnessToolkitError, MetricComputationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { groupBy, isMapping, messageOf } from '../../internal/values.ts';
import { OUTCOME_NAMES } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { OutcomeKind, OutcomeReading, Transcript } from '../client/transcript.ts';
import type { LLMEvaluator } from '../scoring/llm-evaluator.ts';
import { isAnswered } from '../scoring/dimension-answers.ts';

/** The value of a custom metric for one answer. Null or undefined means that the answer has no value. */
export type MetricValue = number | boolean | string | null | undefined;

/**
 * A custom metric. Returns a number, whether the answer has a property, or a label. All answers must have values of the
 * same type.
 */
export type MetricFunction = (answer: string, prompt: string) => MetricValue | Promise<MetricValue>;

/** Custom metrics by name: functions, and evaluators with `plan` and `score`. */
export type CustomMetrics = Readonly<Record<string, MetricFunction | Omit<LLMEvaluator, 'name'>>>;

/** The parts of {@link CustomMetrics}: the functions, and the evaluators with their names. */
export interface SplitMetrics {
  readonly functions: Readonly<Record<string, MetricFunction>>;
  readonly evaluators: readonly LLMEvaluator[];
}

const FORM = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/**
 * Divides custom metrics into functions and evaluators.
 * @throws {ValueError} if a name is invalid or reserved, or if an entry is neither a function nor an evaluator
 */
export function splitMetrics(metrics: CustomMetrics): SplitMetrics {
  const functions: Record<string, MetricFunction> = {};
  const evaluators: LLMEvaluator[] = [];
  for (const [name, metric] of Object.entries(metrics)) {
    if (!FORM.test(name)) throw invalidParameter('metrics', 'have names of letters, digits and _', name);
    if (OUTCOME_NAMES.some((outcome) => outcome === name)) {
      throw invalidParameter('metrics', `not use ${name}, which is declared as outcome`, name);
    }
    if (typeof metric === 'function') functions[name] = metric;
    else evaluators.push(evaluatorOf(name, metric));
  }
  return { functions, evaluators };
}

function evaluatorOf(name: string, metric: Omit<LLMEvaluator, 'name'>): LLMEvaluator {
  const { plan, score } = (isMapping(metric) ? metric : {}) as Partial<LLMEvaluator>;
  if (typeof plan !== 'function' || typeof score !== 'function') {
    throw invalidParameter(`metrics.${name}`, 'be a function, or an object with the functions plan and score', metric);
  }
  return {
    name,
    plan: (config) => metric.plan(config),
    score: (transcripts, options) => metric.score(transcripts, options),
  };
}

/**
 * Loads custom metrics from a JavaScript module. Each exported function or evaluator is a metric with the name of its
 * export. A default export is an object of metrics.
 * @param isAllowed whether the code of the module may run
 * @throws {ConfigValidationError} if code is not allowed, or if the module cannot be loaded or exports no metric
 */
export async function loadMetrics(file: string, isAllowed: boolean): Promise<CustomMetrics> {
  if (!isAllowed) {
    throw new ConfigValidationError(
      `The configuration names a module with code (metrics: ${file}), which may not run.`,
      {
        code: 'code-not-allowed',
        context: { parameter: 'metrics', path: file },
        suggestion: 'Read the module. If you trust it, set allowCode.',
      },
    );
  }
  const { default: standard, ...named } = await importModule(file);
  const metrics = { ...(isMapping(standard) ? standard : {}), ...named } as CustomMetrics;
  if (Object.keys(metrics).length > 0) return metrics;
  throw new ConfigValidationError(`The module '${file}' exports no metric.`, {
    context: { parameter: 'metrics', path: file },
    suggestion: 'Export a function, for example: export const words = (answer) => answer.split(" ").length.',
  });
}

async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path.resolve(file)).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new ConfigValidationError(`The module '${file}' cannot be loaded: ${reasonOf(cause)}.`, {
      context: { parameter: 'metrics', path: file },
      suggestion: 'The path is relative to the current folder. Check that node can import the module.',
      cause,
    });
  }
}

/** Returns the message of an error without its full stop, for the middle of a sentence. */
function reasonOf(cause: unknown): string {
  return messageOf(cause).replace(/\.$/u, '');
}

/** The maximum number of calls of a function that are in progress at the same time. */
const MAX_PENDING = 16;

/**
 * Applies a custom metric to every distinct answer. The result maps the keys of requests to readings.
 * @throws {MetricComputationError} if the function throws, or returns values of different types
 */
export async function applyMetric(
  name: string,
  metric: MetricFunction,
  transcripts: readonly Transcript[],
): Promise<ReadonlyMap<string, OutcomeReading>> {
  const answers = [...new Map(transcripts.filter(isAnswered).map((answer) => [answer.key, answer])).values()];
  const values: { readonly key: string; readonly value: MetricValue }[] = [];
  for (let start = 0; start < answers.length; start += MAX_PENDING) {
    const batch = answers.slice(start, start + MAX_PENDING);
    values.push(
      ...(await Promise.all(
        batch.map(async ({ key, text, prompt }) => ({ key, value: await valueOf(name, metric, text, prompt) })),
      )),
    );
  }
  const kind = kindOf(
    name,
    values.map(({ value }) => value),
  );
  return new Map(values.map(({ key, value }) => [key, readingOf(kind, value)]));
}

async function valueOf(name: string, metric: MetricFunction, text: string, prompt: string): Promise<MetricValue> {
  try {
    return await metric(text, prompt);
  } catch (cause) {
    if (FairnessToolkitError.isInstance(cause)) throw cause;
    const shown = prompt.length > 80 ? `${prompt.slice(0, 80)}…` : prompt;
    throw new MetricComputationError(`The metric '${name}' failed for the answer to "${shown}": ${reasonOf(cause)}.`, {
      context: { metric: name, prompt: shown },
      suggestion: 'Correct the function. Return null for an answer without a value.',
      cause,
    });
  }
}

const KINDS: Readonly<Record<string, OutcomeKind>> = { number: 'score', boolean: 'decision', string: 'choice' };

function kindOf(name: string, values: readonly MetricValue[]): OutcomeKind {
  const given = values.filter((value) => value !== null && value !== undefined);
  const types = [...groupBy(given, (value) => typeof value).keys()];
  const [type = 'number'] = types;
  const kind = KINDS[type];
  if (types.length <= 1 && kind !== undefined) return kind;
  throw new MetricComputationError(
    `The metric '${name}' must return a number, a boolean or a string, the same type for all answers. Got ${types.join(' and ')}.`,
    { context: { metric: name, types }, suggestion: 'Return null for an answer without a value.' },
  );
}

function readingOf(kind: OutcomeKind, value: MetricValue): OutcomeReading {
  if (value === null || value === undefined) return { kind, unread: 'no value' };
  if (typeof value === 'number') return Number.isFinite(value) ? { kind, value } : { kind, unread: 'not a number' };
  if (typeof value === 'boolean') return { kind, value: value ? 1 : 0 };
  return value === '' ? { kind, unread: 'no value' } : { kind, value };
}
