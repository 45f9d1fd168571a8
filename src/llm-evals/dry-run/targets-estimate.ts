import { snakeFields } from '../../internal/arguments.ts';
import { numberColumn, type ReportDocument, valueColumn } from '../../document/report-document.ts';
import { judgeBlocks, judgeRequests, limitBlocks, undefinedSentences } from './dry-run-document.ts';
import { countText, type DryRunEstimate, type DryRunFields, usdText } from './dry-run-estimate.ts';
import { type DryRunJson, dryRunToJson } from './dry-run-json.ts';

/** The requests, tokens and cost that a run with several targets would need, in total and for each target. */
interface TargetsEstimateFields extends Pick<
  DryRunFields,
  | 'requestCount'
  | 'cachedCount'
  | 'estimatedInputTokens'
  | 'estimatedOutputTokens'
  | 'estimatedCostUsd'
  | 'limits'
  | 'planDigest'
> {
  /** The estimate of each target, by name. A request that several targets need counts for the first of them. */
  readonly targets: Readonly<Record<string, DryRunEstimate>>;
}

/** The requests, tokens and cost that a run with several targets would need; frozen. */
export interface TargetsEstimate extends TargetsEstimateFields {
  /** Renders the estimate as a Markdown page. */
  toMarkdown(): string;
}

/** Builds the report of a dry run of several targets. */
export function targetsDryRunDocument(fields: TargetsEstimateFields): ReportDocument {
  const { requestCount, cachedCount, targets, limits, planDigest } = fields;
  const rows = Object.entries(targets).map(([name, estimate]) => [name, estimate.model, ...cells(estimate)]);
  const undefinedMetrics = undefinedByTarget(targets);
  const sent = requestCount === 1 ? '1 request would be sent' : `${countText(requestCount)} requests would be sent`;
  const judged = judgeRequests(Object.values(targets).flatMap(({ judge }) => judge ?? []));
  const known = cachedCount === 1 ? '1 answer is known' : `${countText(cachedCount)} answers are known`;
  return {
    title: 'Dry run',
    subject: `${sent} to ${countText(rows.length)} ${rows.length === 1 ? 'target' : 'targets'}${judged === null ? '' : ` and ${judged}`}; ${known} already. Nothing has been sent.`,
    sections: [
      {
        title: 'Requests and cost',
        blocks: [
          {
            kind: 'table',
            caption: 'Requests by target; the ceiling assumes that every answer uses all of its max_tokens',
            columns: [
              { name: 'Target', isEssential: true },
              { name: 'Model' },
              valueColumn('To send'),
              ...['Known', 'Input tokens', 'Output tokens'].map(numberColumn),
              valueColumn('Cost'),
              numberColumn('Cost ceiling'),
            ],
            rows: [...rows, ['All targets', '', ...cells(fields)]],
          },
        ],
      },
      { title: 'Judge', blocks: Object.values(targets).flatMap(({ judge }) => judgeBlocks(judge)) },
      { title: 'Limits', blocks: limitBlocks(limits) },
      {
        title: 'Undefined metrics',
        blocks: undefinedMetrics.length === 0 ? [] : [{ kind: 'list', items: undefinedMetrics }],
      },
    ],
    made: [['Digest of the plan', `${planDigest} (SHA-256 of the requests to be sent)`]],
  };
}

/** Lists the metrics that are undefined for any answers. Names the targets if the metrics are defined for others. */
function undefinedByTarget(targets: TargetsEstimateFields['targets']): string[] {
  const names = new Map<string, string[]>();
  for (const [name, { undefinedMetrics }] of Object.entries(targets)) {
    for (const sentence of undefinedSentences(undefinedMetrics)) {
      names.set(sentence, [...(names.get(sentence) ?? []), name]);
    }
  }
  const isOfAll = (those: readonly string[]): boolean => those.length === Object.keys(targets).length;
  return Array.from(names, ([sentence, those]) => (isOfAll(those) ? sentence : `${those.join(', ')}: ${sentence}`));
}

function cells(estimate: Omit<TargetsEstimateFields, 'targets' | 'limits' | 'planDigest'>): string[] {
  const { requestCount, cachedCount, estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd } = estimate;
  return [
    ...[requestCount, cachedCount, estimatedInputTokens, estimatedOutputTokens.expected].map(countText),
    estimatedCostUsd === null ? 'unknown' : usdText(estimatedCostUsd.expected),
    estimatedCostUsd === null ? 'unknown' : usdText(estimatedCostUsd.ceiling),
  ];
}

/** The wire format of {@link TargetsEstimate}. */
export interface TargetsEstimateJson extends Omit<
  DryRunJson,
  'model' | 'price' | 'breakdown' | 'undefined_metrics' | 'judge' | 'tokenizer' | 'tokenizer_install'
> {
  readonly targets: Readonly<Record<string, DryRunJson>>;
}

/** Converts a dry run of several targets to its wire format, in snake_case. An unknown cost is null. */
export function targetsEstimateToJson(fields: TargetsEstimateFields): TargetsEstimateJson {
  const { requestCount, cachedCount, estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd } = fields;
  return {
    ...snakeFields({ requestCount, cachedCount, estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd }),
    limits: fields.limits,
    plan_digest: fields.planDigest,
    targets: Object.fromEntries(Object.entries(fields.targets).map(([name, each]) => [name, dryRunToJson(each)])),
  };
}
