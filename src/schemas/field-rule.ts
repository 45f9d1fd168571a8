import type { z } from 'zod';

/** What a request breaks: which field, what is wrong with it, and what to send instead. */
export interface BrokenRule {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly suggestion: string;
}

/**
 * A broken rule as an issue of a schema.
 * @param input what was given; where a field is missing other rules are still looked at
 */
export function ruleIssue(
  { path, message, suggestion }: BrokenRule,
  input?: unknown,
): z.core.$ZodRawIssue<z.core.$ZodIssueCustom> {
  return { code: 'custom', input, path: [...path], message, params: { suggestion }, continue: input === undefined };
}
