import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { counted } from '../../internal/format.ts';
import { usdText } from '../dry-run/dry-run-estimate.ts';
import { type ActualSpending, spendingTable } from '../dry-run/spending-table.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { StopReason } from '../scheduler/budget.ts';
import { tableOf } from './report-words.ts';

/** The reasons why a run ended early, in words. */
export const STOP_WORDS: Readonly<Record<StopReason, string>> = {
  requests: 'its limit of requests was reached',
  tokens: 'its limit of tokens was reached',
  cost: 'its limit of cost was reached',
  minutes: 'its limit of time was reached',
  cancelled: 'it was cancelled',
};

/**
 * Builds the section that compares planned with actual spending. Omits the time, so that a replay gives an identical
 * report.
 */
export function spendingBlocks({ planned, actual, dryRun, collected }: LlmEvalResult): ReportBlock[] {
  if (collected !== undefined && collected !== null) {
    const text = `Nothing was sent and nothing was spent. The ${counted(collected.answered, 'answer')} in ${collected.source} ${collected.answered === 1 ? 'was' : 'were'} collected before this run.`;
    return [{ kind: 'paragraph', text }];
  }
  const rows = spendingTable(planned, actual).filter(({ name }) => name !== 'Seconds');
  return [
    ...tableOf(
      'Spending',
      ['Quantity', numberColumn('Planned'), numberColumn('Actual')],
      rows.map((row) => [row.name, row.planned, row.actual]),
    ),
    { kind: 'paragraph', text: priceSentence(dryRun.price) },
  ];
}

/** Describes the requests of a run and their cost, such as "96 requests sent for $0.12". */
export function sentText({ requests, costUsd }: Pick<ActualSpending, 'requests' | 'costUsd'>): string {
  const cost = requests === 0 ? '' : costUsd === null ? ', cost unknown' : ` for ${usdText(costUsd)}`;
  return `${counted(requests, 'request')} sent${cost}`;
}

/** Formats dollars. An unknown cost is never shown as 0. */
export function costText(usd: number | null): string {
  return usd === null ? 'an unknown cost' : usdText(usd);
}

function priceSentence(price: LlmEvalResult['dryRun']['price']): string {
  if (price === null) return 'The price of this model is unknown: set it under prices in the configuration.';
  return `Price per million tokens: ${usdText(price.input)} for input and ${usdText(price.output)} for output, as of ${price.asOf} (${price.source}).`;
}
