import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportTable,
  valueColumn,
} from '../../document/report-document.ts';
import { capital, counted } from '../../internal/format.ts';
import { sumOf } from '../../internal/values.ts';
import {
  countText,
  type DryRunFields,
  type DryRunPart,
  type EstimateRange,
  type JudgeEstimate,
  type UndefinedMetric,
  usdText,
} from './dry-run-estimate.ts';

/** Builds the report of a dry run: the requests by part, and their estimated tokens and cost. */
export function dryRunDocument(fields: DryRunFields): ReportDocument {
  const { breakdown, limits, planDigest } = fields;
  const undefinedMetrics = undefinedSentences(fields.undefinedMetrics);
  return {
    title: 'Dry run',
    subject: `${sentSentence(fields)} Nothing has been sent.`,
    sections: [
      {
        title: 'Requests and cost',
        blocks: [
          ...(breakdown.length === 0 ? [] : [breakdownTable(breakdown)]),
          totalsTable(fields),
          { kind: 'paragraph', text: tokenSentence(fields) },
          { kind: 'paragraph', text: priceSentence(fields) },
        ],
      },
      { title: 'Judge', blocks: judgeBlocks(fields.judge) },
      { title: 'Limits', blocks: limitBlocks(limits) },
      {
        title: 'Undefined metrics',
        blocks:
          undefinedMetrics.length === 0
            ? []
            : [
                { kind: 'paragraph', text: 'These metrics will be undefined for any answers:' },
                { kind: 'list', items: undefinedMetrics },
              ],
      },
    ],
    made: [['Digest of the plan', `${planDigest} (SHA-256 of the requests to be sent)`]],
  };
}

function sentSentence({ requestCount, cachedCount, model, judge }: DryRunFields): string {
  const known = cachedCount === 1 ? '1 answer is known' : `${countText(cachedCount)} answers are known`;
  const judged = judgeRequests(judge === null ? [] : [judge]);
  if (requestCount === 0 && judged !== null) return `${capital(judged)} would be sent; ${known} already.`;
  const before = requestCount === 0 ? 'No request would be sent' : `${counted(requestCount, 'request')} would be sent`;
  // Collected answers have no model.
  const recipient = requestCount === 0 && cachedCount > 0 ? '' : ` to ${model}`;
  return `${before}${recipient}${judged === null ? '' : ` and ${judged}`}; ${known} already.`;
}

/** Counts the requests to the judge; null if there are none. */
export function judgeRequests(judges: readonly JudgeEstimate[]): string | null {
  const count = sumOf(judges.map(({ requestCount }) => requestCount));
  return count === 0 ? null : `at most ${counted(count, 'request')} to the judge ${judges[0]?.model ?? ''}`;
}

function breakdownTable(breakdown: readonly DryRunPart[]): ReportTable {
  return {
    kind: 'table',
    caption: 'Requests by part',
    columns: [
      { name: 'Evaluator' },
      { name: 'Template', isEssential: true },
      ...['Planned', 'Shared', 'Known'].map(numberColumn),
      valueColumn('To send'),
      ...['Input tokens', 'Output tokens'].map(numberColumn),
    ],
    rows: breakdown.map(({ evaluator, template, planned, shared, cached, requests, inputTokens, outputTokens }) => [
      ...[evaluator.replaceAll('_', ' '), template],
      ...[planned, shared, cached, requests, inputTokens, outputTokens.expected].map(countText),
    ]),
  };
}

function totalsTable({ estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd }: DryRunFields): ReportTable {
  const cells = ({ low, expected, ceiling }: EstimateRange, text: (value: number) => string): string[] =>
    [low, expected, ceiling].map(text);
  const input = countText(estimatedInputTokens);
  return {
    kind: 'table',
    caption: 'Estimate; the ceiling assumes that every answer uses all of its max_tokens',
    columns: [{ name: 'Estimate' }, ...['Low', 'Expected', 'Ceiling'].map(valueColumn)],
    rows: [
      ['Input tokens', input, input, input],
      ['Output tokens', ...cells(estimatedOutputTokens, countText)],
      ['Cost', ...(estimatedCostUsd === null ? UNKNOWN : cells(estimatedCostUsd, usdText))],
    ],
  };
}

const UNKNOWN = ['unknown', 'unknown', 'unknown'];

function tokenSentence({ tokenizer, tokenizerInstall, model }: DryRunFields): string {
  if (tokenizer !== null) return `The input tokens are counted exactly, with the tokenizer ${tokenizer}.`;
  const remedy =
    tokenizerInstall === null ? `No tokenizer of ${model} is known.` : `To count them: ${tokenizerInstall}.`;
  return `The input tokens are estimated. ${remedy}`;
}

function priceSentence({ price, model, judge }: DryRunFields): string {
  if (price === null) {
    return `The cost is unknown: the price of ${model} is unknown. Set prices in the configuration.`;
  }
  if (price.input === 0 && price.output === 0)
    return `${judge === null ? 'It' : 'Apart from the judge, it'} costs nothing: ${price.source}.`;
  const rates = `${usdText(price.input)} for input and ${usdText(price.output)} for output`;
  return `Price per million tokens: ${rates}, as of ${price.asOf} (${price.source}). Retries cost extra.`;
}

/** Describes the requests to the judge. */
export function judgeBlocks(judge: DryRunFields['judge']): ReportBlock[] {
  if (judge === null) return [];
  const { model, requestCount, grades, comparisons, controls, estimatedCostUsd: cost } = judge;
  const parts = [
    `${countText(grades)} grades`,
    ...(comparisons === 0 ? [] : [`${countText(comparisons)} comparisons`]),
    `${countText(controls)} control comparisons`,
  ];
  const price =
    cost === null
      ? `The cost is unknown: set the price of the model under prices.`
      : `Cost: ${usdText(cost.expected)} expected, at most ${usdText(cost.ceiling)}.`;
  const text = `After the answers, at most ${countText(requestCount)} requests to ${model}: ${parts.join(', ')}. Input tokens: ${countText(judge.estimatedInputTokens.expected)} expected. ${price} These requests are not included in the tables above.`;
  return [{ kind: 'paragraph', text }];
}

/** Lists the limits that would stop a run. */
export function limitBlocks(limits: readonly string[]): ReportBlock[] {
  return limits.length === 0
    ? [{ kind: 'paragraph', text: 'No limit of the configuration stops the run early.' }]
    : [{ kind: 'list', items: limits }];
}

/** Writes one sentence for each reason: the metrics, why they will be undefined, and how to fix it. */
export function undefinedSentences(metrics: readonly UndefinedMetric[]): string[] {
  const reasons = [...new Set(metrics.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const those = metrics.filter((each) => each.reason === reason);
    return `${those.map(({ metric }) => metric).join(', ')}: ${reason}. ${those[0]?.suggestion ?? ''}`;
  });
}
