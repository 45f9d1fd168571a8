import { AssertionError } from 'node:assert';

import { type ErrorDetails, markAsToolkitError } from './fairness-toolkit-error.ts';

/**
 * A fairness gate did not hold. It is a node `AssertionError`, so test runners
 * report it as a failed assertion, and a toolkit error by its marker.
 */
export class FairnessAssertionError extends AssertionError {
  readonly context: Readonly<Record<string, unknown>>;
  readonly suggestion: string | undefined;

  constructor(
    message: string,
    details: ErrorDetails & { readonly actual?: unknown; readonly expected?: unknown; readonly operator?: string } = {},
  ) {
    super({
      message,
      actual: details.actual,
      expected: details.expected,
      ...(details.operator === undefined ? {} : { operator: details.operator }),
    });
    this.name = 'FairnessAssertionError';
    this.context = Object.freeze({ ...details.context });
    this.suggestion = details.suggestion;
    markAsToolkitError(this);
  }
}
