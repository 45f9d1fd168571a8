import { countText, usdText } from './dry-run-estimate.ts';

/** One line of planned against actual, as reports show it. */
export interface SpendingRow {
  readonly name: string;
  /** Empty where nothing is planned. */
  readonly planned: string;
  readonly actual: string;
}

/**
 * What a run was to take against what it took, a row each. A cost without a
 * known price is `unknown`. What seldom happens (attempts again, prompts that failed or
 * were not sent, answers that the provider did not count) has a row only where it did.
 */
export function spendingTable(planned: PlannedSpending, actual: ActualSpending): readonly SpendingRow[] {
  const always = [
    row('Requests', countText(planned.requests), countText(actual.requests)),
    row('Input tokens', countText(planned.inputTokens), countText(actual.inputTokens)),
    row('Output tokens', countText(planned.outputTokens), countText(actual.outputTokens)),
    row('Cost', costText(planned.costUsd), costText(actual.costUsd)),
    row('Answers', '', countText(actual.answered)),
    row('Known before', '', countText(actual.cached)),
  ];
  const seldom: readonly (readonly [string, number])[] = [
    ['Sent again after a fault', actual.retries],
    ['Failed', actual.failed],
    ['Not sent', actual.notSent],
    ['Answers with estimated tokens', actual.uncounted],
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

/** What a run was to take. */
export interface PlannedSpending {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** null where the model's price is not known. */
  readonly costUsd: number | null;
}

/** What a run took. */
export interface ActualSpending {
  /** Requests sent, repeated ones too. */
  readonly requests: number;
  /** Requests that were sent again after a fault. */
  readonly retries: number;
  /** Answers that came. */
  readonly answered: number;
  /** Answers that were known already. */
  readonly cached: number;
  /** Prompts without an answer because every attempt failed. */
  readonly failed: number;
  /** Prompts that were not sent. */
  readonly notSent: number;
  /** As the provider counts, of what was sent now. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Answers of which the provider gave no count; theirs are estimated. */
  readonly uncounted: number;
  /** null where the model's price is not known. */
  readonly costUsd: number | null;
  readonly seconds: number;
}
