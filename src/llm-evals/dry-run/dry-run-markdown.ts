import { escapeMarkdown, markdownTable } from '../../metrics/metric-markdown.ts';
import {
  countText,
  type DryRunFields,
  type DryRunPart,
  type EstimateRange,
  type UndefinedMetric,
  usdText,
} from './dry-run-estimate.ts';

/** A dry run as a Markdown page: what would be sent, by part, and what it may take. */
export function dryRunMarkdown(fields: DryRunFields): string {
  const parts = [
    '# Dry run',
    `${sentSentence(fields)} Nothing has been sent.`,
    ...(fields.breakdown.length === 0 ? [] : [breakdownTable(fields.breakdown)]),
    totalsTable(fields),
    'The ceiling is where every answer takes all of its `max_tokens`.',
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
    breakdown.map((part) => [
      part.evaluator.replaceAll('_', ' '),
      escapeMarkdown(part.template),
      countText(part.planned),
      countText(part.shared),
      countText(part.cached),
      countText(part.requests),
      countText(part.inputTokens),
      countText(part.outputTokens.expected),
    ]),
  );
}

function totalsTable({ estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd }: DryRunFields): string {
  const cells = (range: EstimateRange, text: (value: number) => string): string[] => [
    text(range.low),
    text(range.expected),
    text(range.ceiling),
  ];
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
    return `The cost is unknown: the price of ${escapeMarkdown(model)} is not known. Give \`prices\` in the configuration.`;
  }
  if (price.input === 0 && price.output === 0) return `It costs nothing: ${escapeMarkdown(price.source)}.`;
  const rates = `${usdText(price.input)} for a million tokens of input and ${usdText(price.output)} of output`;
  return `Price: ${rates}, as of ${escapeMarkdown(price.asOf)} (${escapeMarkdown(price.source)}). Repeated attempts come on top.`;
}

function limitsText(limits: readonly string[]): string {
  if (limits.length === 0) return 'No limit of the configuration stops the run before its end.';
  return ['The limits of the configuration:\n', ...limits.map((limit) => `- ${limitMarkdown(limit)}`)].join('\n');
}

/** Metrics that can only end undefined, those of one reason together; nothing where all can have a value. */
function undefinedText(metrics: readonly UndefinedMetric[]): string[] {
  if (metrics.length === 0) return [];
  return [
    [
      'These metrics can only end undefined, whatever is answered:\n',
      ...undefinedSentences(metrics).map((line) => `- ${escapeMarkdown(line)}`),
    ].join('\n'),
  ];
}

/** One sentence for each reason: the metrics, why they can only end undefined, and how to fix it. */
export function undefinedSentences(metrics: readonly UndefinedMetric[]): string[] {
  const reasons = [...new Set(metrics.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const those = metrics.filter((each) => each.reason === reason);
    return `${those.map(({ metric }) => metric).join(', ')}: ${reason}. ${those[0]?.suggestion ?? ''}`;
  });
}

/** A sentence starts with its limit's name, which is set as code. */
function limitMarkdown(limit: string): string {
  const [name = '', ...rest] = limit.split(' ');
  return `\`${name}\` ${escapeMarkdown(rest.join(' '))}`;
}
