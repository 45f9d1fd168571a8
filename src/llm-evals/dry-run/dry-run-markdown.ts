import { escapeMarkdown, markdownTable } from '../../metrics/metric-markdown.ts';
import {
  countText,
  type DryRunFields,
  type DryRunPart,
  type EstimateRange,
  type UndefinedMetric,
  usdText,
} from './dry-run-estimate.ts';

/** Renders a dry run as a Markdown page: the requests by part, and their estimated tokens and cost. */
export function dryRunMarkdown(fields: DryRunFields): string {
  const parts = [
    '# Dry run',
    `${sentSentence(fields)} Nothing has been sent.`,
    ...(fields.breakdown.length === 0 ? [] : [breakdownTable(fields.breakdown)]),
    totalsTable(fields),
    'The ceiling assumes that every answer uses all of its `max_tokens`.',
    priceSentence(fields),
    limitsText(fields.limits),
    ...undefinedText(fields.undefinedMetrics),
    `Plan: \`${fields.planDigest}\` (SHA-256 of the requests to be sent).`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function sentSentence({ requestCount, cachedCount, model }: DryRunFields): string {
  const requests = requestCount === 1 ? '1 request' : `${countText(requestCount)} requests`;
  const known = cachedCount === 1 ? '1 answer is known' : `${countText(cachedCount)} answers are known`;
  const before = requestCount === 0 ? 'No request would be sent' : `${requests} would be sent`;
  return `${before} to ${escapeMarkdown(model)}; ${known} already.`;
}

function breakdownTable(breakdown: readonly DryRunPart[]): string {
  return markdownTable(
    ['Evaluator', 'Template', 'Planned', 'Shared', 'Known', 'To send', 'Input tokens', 'Output tokens'],
    breakdown.map(({ evaluator, template, planned, shared, cached, requests, inputTokens, outputTokens }) => [
      ...[evaluator.replaceAll('_', ' '), escapeMarkdown(template)],
      ...[planned, shared, cached, requests, inputTokens, outputTokens.expected].map(countText),
    ]),
  );
}

function totalsTable({ estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd }: DryRunFields): string {
  const cells = ({ low, expected, ceiling }: EstimateRange, text: (value: number) => string): string[] =>
    [low, expected, ceiling].map(text);
  const input = countText(estimatedInputTokens);
  return markdownTable(
    ['Estimate', 'Low', 'Expected', 'Ceiling'],
    [
      ['Input tokens', input, input, input],
      ['Output tokens', ...cells(estimatedOutputTokens, countText)],
      ['Cost', ...(estimatedCostUsd === null ? UNKNOWN : cells(estimatedCostUsd, usdText))],
    ],
  );
}

const UNKNOWN = ['unknown', 'unknown', 'unknown'];

function priceSentence({ price, model }: DryRunFields): string {
  if (price === null) {
    return `The cost is unknown: the price of ${escapeMarkdown(model)} is unknown. Set \`prices\` in the configuration.`;
  }
  if (price.input === 0 && price.output === 0) return `It costs nothing: ${escapeMarkdown(price.source)}.`;
  const rates = `${usdText(price.input)} for input and ${usdText(price.output)} for output`;
  return `Price per million tokens: ${rates}, as of ${escapeMarkdown(price.asOf)} (${escapeMarkdown(price.source)}). Retries cost extra.`;
}

function limitsText(limits: readonly string[]): string {
  if (limits.length === 0) return 'No limit of the configuration stops the run early.';
  return ['The limits of the configuration:\n', ...limits.map((limit) => `- ${limitMarkdown(limit)}`)].join('\n');
}

/** Lists metrics that will be undefined, grouped by reason. Returns an empty list if all metrics can be defined. */
function undefinedText(metrics: readonly UndefinedMetric[]): string[] {
  const lines = undefinedSentences(metrics).map((line) => `- ${escapeMarkdown(line)}`);
  return lines.length === 0 ? [] : [['These metrics will be undefined for any answers:\n', ...lines].join('\n')];
}

/**
 * Writes one sentence for each reason. The sentence names the metrics, why they will be undefined, and how to fix the
 * problem.
 */
export function undefinedSentences(metrics: readonly UndefinedMetric[]): string[] {
  const reasons = [...new Set(metrics.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const those = metrics.filter((each) => each.reason === reason);
    return `${those.map(({ metric }) => metric).join(', ')}: ${reason}. ${those[0]?.suggestion ?? ''}`;
  });
}

/** Formats the sentence of a limit as Markdown. The first word is the name of the limit, and is formatted as code. */
function limitMarkdown(limit: string): string {
  const [name = '', ...rest] = limit.split(' ');
  return `\`${name}\` ${escapeMarkdown(rest.join(' '))}`;
}
