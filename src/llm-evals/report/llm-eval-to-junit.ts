import { type GateCase, type GateReport, gateReportToJunit } from '../../document/gate-report.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import { hasTargets, type LlmTargetsResult, targetMetrics } from '../run/llm-targets-result.ts';
import { findingSentence } from './finding.ts';
import {
  answeredBy,
  LLM_EVAL_REPORT_OPTION_NAMES,
  type LlmEvalReportOptions,
  type LlmEvalVerdict,
  NO_VERDICT,
} from './report-words.ts';
import { STOP_WORDS } from './spending-section.ts';

/**
 * Renders an evaluation as JUnit XML, which continuous integration shows as tests. The first test is the run, which
 * fails if it ended early.
 *
 * With a verdict, each metric that has a threshold is a test. The test is a failure if the metric violates its
 * threshold, and an error if the metric is undefined. Without a verdict, each metric is a skipped test, because nothing
 * was tested.
 */
export function llmEvalToJunit(result: LlmEvalResult | LlmTargetsResult, options: LlmEvalReportOptions = {}): string {
  assertKnownOptions('llmEvalToJunit', options, LLM_EVAL_REPORT_OPTION_NAMES);
  return gateReportToJunit(llmEvalGateReport(result, options.verdict));
}

/** Returns the gates of an evaluation, for the reports of continuous integration. */
export function llmEvalGateReport(
  result: LlmEvalResult | LlmTargetsResult,
  verdict: LlmEvalVerdict = NO_VERDICT,
): GateReport {
  const models = modelsOf(result);
  const metrics = hasTargets(result) ? targetMetrics(result) : result.metrics;
  return {
    command: 'evenhand llm-eval',
    passed: result.stopped === null ? verdict.passed : false,
    cases: [runCase(result, models), ...metricCases(metrics, verdict)],
    settings: { model: models, seed: String(result.seed) },
    warnings: result.warnings,
    seconds: result.actual.seconds,
  };
}

/** Returns the model, or the model of each target. */
function modelsOf(result: LlmEvalResult | LlmTargetsResult): string {
  const text = (one: LlmEvalResult): string => {
    const { model, provider } = answeredBy(one);
    return `${model} (${provider})`;
  };
  if (!hasTargets(result)) return text(result);
  return Object.entries(result.targets)
    .map(([name, target]) => `${name}: ${text(target)}`)
    .join(', ');
}

function runCase({ stopped, actual }: LlmEvalResult | LlmTargetsResult, models: string): GateCase {
  const output = `${models}: ${String(actual.answered)} answered, ${String(actual.cached)} already known, ${String(actual.failed)} failed, ${String(actual.notSent)} not sent.`;
  const common = { attribute: 'run', name: 'the run completed the plan', output };
  if (stopped === null) return { ...common, status: 'pass', message: 'The run completed the plan.' };
  return { ...common, status: 'fail', message: `The run ended early because ${STOP_WORDS[stopped]}.` };
}

function metricCases(metrics: LlmEvalResult['metrics'], verdict: LlmEvalVerdict): GateCase[] {
  return Object.entries(metrics).flatMap(([name, metric]): GateCase[] => {
    const judged = Object.hasOwn(verdict.metrics, name) ? verdict.metrics[name] : undefined;
    if (verdict.passed !== null && judged === undefined) return [];
    const known = { attribute: metric.evaluator, name, output: findingSentence(metric) };
    if (judged !== undefined) return [{ ...known, status: judged.status, message: judged.message }];
    return [{ ...known, status: null, message: metric.undefinedReason ?? 'No threshold, no verdict.' }];
  });
}
