import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { usdText } from '../dry-run/dry-run-estimate.ts';
import { spendingTable } from '../dry-run/spending-table.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { StopReason } from '../scheduler/budget.ts';

/** What ended a run early, in words. */
export const STOP_WORDS: Readonly<Record<StopReason, string>> = {
  requests: 'its limit of requests was reached',
  tokens: 'its limit of tokens was reached',
  cost: 'its limit of cost was reached',
  minutes: 'its limit of time was reached',
  cancelled: 'it was cancelled',
};

/** What the run was to take, and what it took. No time stands here, so that a replay gives the same bytes. */
export function spendingBlocks({ planned, actual, dryRun }: LlmEvalResult): ReportBlock[] {
  return [
    {
      kind: 'table',
      caption: 'Spending',
      columns: [{ name: 'Of the run' }, numberColumn('Planned'), numberColumn('Actual')],
      rows: spendingTable(planned, actual)
        .filter(({ name }) => name !== 'Seconds')
        .map((row) => [row.name, row.planned, row.actual]),
    },
    { kind: 'paragraph', text: priceSentence(dryRun.price) },
  ];
}

/** Dollars; never 0 for what is not known. */
export function costText(usd: number | null): string {
  return usd === null ? 'an unknown cost' : usdText(usd);
}

function priceSentence(price: LlmEvalResult['dryRun']['price']): string {
  if (price === null) return 'The price of this model is not known: give it under prices in the configuration.';
  return `Price: ${usdText(price.input)} for a million tokens of input and ${usdText(price.output)} of output, as of ${price.asOf} (${price.source}).`;
}
