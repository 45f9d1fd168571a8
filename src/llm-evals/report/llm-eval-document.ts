import type { ReportBlock, ReportDocument, ReportVerdict } from '../../document/report-document.ts';
import { cutItems, listed } from '../../document/report-text.ts';
import { assertKnownOptions } from '../../internal/known-options.ts';
import type { LlmMetricResult } from '../evaluators/llm-metric-result.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import { askedBlocks, madeOf } from './asked-section.ts';
import { dimensionPictures, dimensionSections } from './dimension-sections.ts';
import { exclusionBlocks } from './exclusion-section.ts';
import { ALPHA, findingOf } from './finding.ts';
import { type LlmEvalVerdict, NO_VERDICT } from './llm-eval-verdict.ts';
import { METHOD_LIMITS } from './method-limits.ts';
import { findingBlocks } from './metric-tables.ts';
import { pairBlocks } from './pair-section.ts';
import { LLM_EVAL_REPORT_OPTION_NAMES, type LlmEvalReportOptions } from './report-options.ts';
import { counted, countText, metricTitle, answeredBy } from './report-words.ts';
import { costText, spendingBlocks, STOP_WORDS } from './spending-section.ts';

/**
 * An evaluation as a report, in the order that a reader needs: the verdict, what was found and whether it is told from
 * noise, each dimension, what took no part, answers side by side, spending, what was asked, and what the numbers do not
 * say.
 */
export function llmEvalDocument(result: LlmEvalResult, options: LlmEvalReportOptions = {}): ReportDocument {
  assertKnownOptions('llmEvalDocument', options, LLM_EVAL_REPORT_OPTION_NAMES);
  const metrics = Object.values(result.metrics);
  const { controlDimension } = result.config.counterfactual ?? {};
  return {
    title: 'Language model evaluation',
    subject: subjectOf(result),
    verdict: verdictBox(result, options.verdict ?? NO_VERDICT),
    sections: [
      {
        title: 'What was found',
        blocks: [
          ...findingBlocks(metrics),
          ...dimensionPictures(metrics, controlDimension),
          ...warningBlocks(result.warnings),
        ],
      },
      ...dimensionSections(metrics, controlDimension),
      { title: 'What took no part', blocks: exclusionBlocks(result) },
      { title: 'Answers side by side', blocks: pairBlocks(result) },
      { title: 'Spending', blocks: spendingBlocks(result) },
      { title: 'What was asked of whom', blocks: askedBlocks(result) },
      { title: 'Limits', blocks: [{ kind: 'list', items: METHOD_LIMITS }] },
    ],
    made: madeOf(result),
  };
}

function subjectOf(result: LlmEvalResult): string {
  const { actual, transcripts } = result;
  const { model, provider } = answeredBy(result);
  const answered = new Set(transcripts.flatMap(({ text, key }) => (text === null ? [] : [key])));
  return `${model} (${provider}): ${counted(answered.size, 'answer')}, ${countText(actual.requests)} ${actual.requests === 1 ? 'request' : 'requests'} sent for ${costText(actual.costUsd)}`;
}

function verdictBox(result: LlmEvalResult, { passed, threshold, metrics }: LlmEvalVerdict): ReportVerdict {
  const sentences = [...stopSentence(result), ...Object.values(metrics).map(({ message }) => message)];
  const summary = summarySentence(result);
  if (passed === null) {
    return {
      kind: 'none',
      title: 'No threshold, no verdict',
      sentences: ['This report measures and does not judge.', ...sentences, summary],
    };
  }
  const at = typeof threshold === 'number' ? ` at threshold ${String(threshold)}` : '';
  return {
    kind: passed ? 'pass' : 'fail',
    title: `${passed ? 'PASS' : 'FAIL'}${at}`,
    sentences: [...sentences, summary],
  };
}

function stopSentence({ stopped, actual }: LlmEvalResult): string[] {
  if (stopped === null) return [];
  return [
    `The run ended early because ${STOP_WORDS[stopped]}: ${counted(actual.notSent, 'prompt')} not sent. The numbers are those of the answers that came.`,
  ];
}

/** What of all this is told from noise, the control apart: the sentence to remember. */
export function summarySentence({ metrics, config }: Pick<LlmEvalResult, 'metrics' | 'config'>): string {
  const control = config.counterfactual?.controlDimension;
  const isControl = ({ dimension }: LlmMetricResult): boolean => control !== undefined && dimension === control;
  const all = Object.values(metrics);
  // Of many tests of the control some have a small p by chance: only the adjusted one is an effect.
  const doubt = all.filter(
    (metric) => isControl(metric) && findingOf(metric) === 'shown' && (metric.adjustedPValue ?? 1) <= ALPHA,
  );
  const found = foundSentence(all.filter((metric) => !isControl(metric)));
  if (doubt.length === 0) return found;
  return `${found} But the control, which should make no difference, shows an effect too (${listed(doubt.map(metricTitle), 4)}): what is found elsewhere may come from the measure.`;
}

function foundSentence(metrics: readonly LlmMetricResult[]): string {
  const shown = metrics.filter((metric) => findingOf(metric) === 'shown');
  const notShown = metrics.filter((metric) => findingOf(metric) === 'not_shown');
  const tested = shown.length + notShown.length;
  if (tested === 0) return 'No metric was tested against sampling noise.';
  if (shown.length === 0) {
    return `No effect beyond noise was shown by any of ${counted(tested, 'tested metric')}; the table says how large an effect would have shown.`;
  }
  const which = listed(shown.map(metricTitle), 6);
  return `Told from sampling noise: ${which} (${countText(shown.length)} of ${counted(tested, 'tested metric')}).`;
}

function warningBlocks(warnings: readonly string[]): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings) }];
}
