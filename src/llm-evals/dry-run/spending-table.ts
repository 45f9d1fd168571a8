import type { RunSummary } from '../scheduler/run-options.ts';
import { countText, usdText } from './dry-run-estimate.ts';

/** A row of planned and actual spending, formatted for reports. */
export interface SpendingRow {
  readonly name: string;
  /** The planned amount; an empty string if nothing is planned. */
  readonly planned: string;
  readonly actual: string;
}

/**
 * Builds a table of planned and actual spending, with a row for each quantity. If the price is unknown, the cost is
 * shown as `unknown`. Rare quantities have a row only if they are above 0. These are retries, prompts that failed or
 * were not sent, and answers without a token count from the provider.
 */
export function spendingTable(planned: PlannedSpending, actual: ActualSpending): readonly SpendingRow[] {
  const always = [
    row('Requests', countText(planned.requests), countText(actual.requests)),
    row('Input tokens', countText(planned.inputTokens), countText(actual.inputTokens)),
    row('Output tokens', countText(planned.outputTokens), countText(actual.outputTokens)),
    row('Cost', costText(planned.costUsd), costText(actual.costUsd)),
    row('Answers', '', countText(actual.answered)),
    row('Already known', '', countText(actual.cached)),
  ];
  const seldom: readonly (readonly [string, number])[] = [
    ['Retries', actual.retries],
    ['Failed', actual.failed],
    ['Not sent', actual.notSent],
    ['Answers without a token count, counted as the maximum', actual.uncounted],
  ];
  const happened = seldom.filter(([, count]) => count > 0).map(([name, count]) => row(name, '', countText(count)));
  return Object.freeze([...always, ...happened, row('Seconds', '', secondsText(actual.seconds))]);
}

function row(name: string, planned: string, actual: string): SpendingRow {
  return Object.freeze({ name, planned, actual });
}

function costText(costUsd: number | null): string {
  return costUsd === null ? 'unknown' : usdText(costUsd);
}

function secondsText(seconds: number): string {
  return seconds.toLocaleString('en-US', { maximumFractionDigits: seconds < 10 ? 1 : 0 });
}

/** The planned spending of a run. */
export type PlannedSpending = Pick<ActualSpending, 'requests' | 'inputTokens' | 'outputTokens' | 'costUsd'>;

/** The actual spending of a run. */
export interface ActualSpending extends Pick<
  RunSummary,
  'retries' | 'answered' | 'notSent' | 'inputTokens' | 'outputTokens' | 'uncounted' | 'costUsd' | 'seconds'
> {
  /** The number of requests sent, including retries. */
  readonly requests: number;
  /** The number of answers that were cached or recorded. */
  readonly cached: number;
  /** The number of prompts without an answer because every attempt failed. */
  readonly failed: number;
}
