import { assertKnownOptions } from '../../internal/arguments.ts';
import { type Html, markup } from '../../internal/html.ts';
import { groupBy } from '../../internal/values.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { findingSentence } from './finding.ts';
import {
  answeredBy,
  LLM_EVAL_REPORT_OPTION_NAMES,
  type LlmEvalReportOptions,
  type LlmEvalVerdict,
  NO_VERDICT,
} from './report-words.ts';
import { STOP_WORDS } from './spending-section.ts';

/** One test case of the report: a metric, or the run. */
interface TestCase {
  readonly suite: string;
  readonly name: string;
  readonly failure?: string;
  readonly skipped?: string;
  readonly output: string;
}

/**
 * Renders an evaluation as JUnit XML, which continuous integration systems show as tests. There is a suite for each
 * evaluator, and a suite for the run. The test of the run fails if the run ended early.
 *
 * If there is a verdict, each judged metric is a test. The test fails if the metric is undefined or on the wrong side
 * of its threshold. If there is no verdict, each metric is a test that passes. A test is skipped with the reason if its
 * metric is undefined.
 */
export function llmEvalToJunit(result: LlmEvalResult, options: LlmEvalReportOptions = {}): string {
  assertKnownOptions('llmEvalToJunit', options, LLM_EVAL_REPORT_OPTION_NAMES);
  const verdict = options.verdict ?? NO_VERDICT;
  const cases = [runCase(result), ...metricCases(result, verdict)];
  const suites = [...groupBy(cases, ({ suite }) => suite)];
  const time = result.actual.seconds.toFixed(3);
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="evenhand llm-eval" ${countsOf(cases)} time="${time}">
${suites.map(([suite, own]) => suiteXml(suite, own))}</testsuites>
`.text;
}

function runCase(result: LlmEvalResult): TestCase {
  const { stopped, actual } = result;
  const { model, provider } = answeredBy(result);
  const output = `${provider}, ${model}: ${String(actual.answered)} answered, ${String(actual.cached)} already known, ${String(actual.failed)} failed, ${String(actual.notSent)} not sent.`;
  const name = 'the run completed the plan';
  if (stopped === null) return { suite: 'run', name, output };
  return { suite: 'run', name, output, failure: `The run ended early because ${STOP_WORDS[stopped]}.` };
}

function metricCases({ metrics }: LlmEvalResult, verdict: LlmEvalVerdict): TestCase[] {
  return Object.entries(metrics).flatMap(([name, metric]) => {
    const judged = Object.hasOwn(verdict.metrics, name) ? verdict.metrics[name] : undefined;
    if (verdict.passed !== null && judged === undefined) return [];
    const known = { suite: metric.evaluator, name, output: findingSentence(metric) };
    if (judged !== undefined) return [judged.passed ? known : { ...known, failure: judged.message }];
    return [isUndefined(metric) ? { ...known, skipped: metric.undefinedReason ?? 'undefined' } : known];
  });
}

function isUndefined({ undefinedReason, value }: LlmMetricResult): boolean {
  return undefinedReason !== null || Number.isNaN(value);
}

function suiteXml(suite: string, cases: readonly TestCase[]): Html {
  return markup`  <testsuite name="${suite}" ${countsOf(cases)}>
${cases.map(caseXml)}  </testsuite>
`;
}

function countsOf(cases: readonly TestCase[]): Html {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  return markup`tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
}

function caseXml({ suite, name, failure, skipped, output }: TestCase): Html {
  return markup`    <testcase classname="${suite}" name="${name}">
${failure !== undefined && markup`      <failure message="${failure}" type="FairnessAssertionError">${failure}</failure>\n`}${skipped !== undefined && markup`      <skipped message="${skipped}"/>\n`}      <system-out>${output}</system-out>
    </testcase>
`;
}
