import type { ReportBlock } from '../../document/report-document.ts';
import { cutItems } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import { answeredBy } from './report-words.ts';

/** What was asked of whom. */
export function askedBlocks(result: LlmEvalResult): ReportBlock[] {
  const { config, dryRun } = result;
  const { model, provider } = answeredBy(result);
  const rows: string[][] = [
    ['Provider', provider],
    ['Model', model],
    ['Address', config.baseUrl ?? "the provider's own, or none"],
    ['System prompt', config.systemPrompt ?? 'none'],
    ['Parameters', Object.keys(config.params).length === 0 ? 'none' : JSON.stringify(config.params)],
    ['Answers to each prompt', String(config.repeats)],
    ['Evaluators', config.evaluators.join(', ')],
    [
      'Parts of the plan',
      cutItems([...new Set(dryRun.breakdown.map(({ template }) => template))], 12).join(', ') || 'none',
    ],
  ];
  const local = 'The built-in model answers by rote: it measures nothing, and shows only that everything runs.';
  return [
    {
      kind: 'table',
      caption: 'Asked',
      columns: [{ name: '' }, { name: 'Value' }],
      rows,
    },
    ...(provider === 'local' ? [{ kind: 'paragraph' as const, text: local }] : []),
  ];
}

/** What is needed to get the same numbers again. */
export function madeOf(result: LlmEvalResult): [name: string, value: string][] {
  const { dryRun, seed, metrics } = result;
  const { model, provider } = answeredBy(result);
  const all = Object.values(metrics);
  const named = (texts: readonly (string | null)[]): string =>
    [...new Set(texts.filter((text) => text !== null))].join('; ') || 'none';
  return [
    ['evenhand', VERSION],
    ['Model', `${provider}, ${model}`],
    ['Seed', String(seed)],
    ['Digest of the plan', dryRun.planDigest],
    ['Interval method', named(all.map(({ ciMethod }) => ciMethod))],
    ['p-value method', named(all.map(({ pValueMethod }) => pValueMethod))],
    ['Adjustment', named(all.map(({ adjustment }) => adjustment))],
  ];
}
