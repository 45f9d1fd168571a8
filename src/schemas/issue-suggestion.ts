import type { z } from 'zod';

import { nearestNames } from '../internal/nearest.ts';

/** Shares, whose both bounds are told at once. */
const SHARES: ReadonlySet<PropertyKey> = new Set(['ci_level', 'train_size']);

/**
 * What to send instead of what a schema refused.
 * @param given what was sent there
 */
export function issueSuggestion(issue: z.core.$ZodIssue, given: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return ofType(issue.expected, given);
    case 'invalid_value':
      return ofChoices(issue.values.map(String), given);
    case 'too_small':
    case 'too_big':
      return ofRange(issue);
    default:
      return DEFAULT;
  }
}

const DEFAULT = 'Send a value as GET /openapi.json describes it.';

function ofType(expected: string, given: unknown): string {
  // Fields of forms and queries are texts, whose numbers are read; a number in quotes can only have come as JSON.
  const isNumber = typeof given === 'string' && given.trim() !== '' && Number.isFinite(Number(given));
  switch (expected) {
    case 'number':
      return isNumber ? 'Send the number without quotes.' : 'Send a number.';
    case 'int':
      return isNumber && Number.isInteger(Number(given)) ? 'Send the number without quotes.' : 'Send a whole number.';
    case 'boolean':
      return given === 'true' || given === 'false' ? `Send ${given} without quotes.` : 'Send true or false.';
    case 'array':
      return 'Send a JSON array.';
    case 'object':
    case 'record':
      return 'Send a JSON object.';
    case 'string':
      return typeof given === 'number' ? 'Send a text: the number in quotes.' : 'Send a text, once.';
    default:
      return DEFAULT;
  }
}

function ofChoices(choices: readonly string[], given: unknown): string {
  const [nearest] = typeof given === 'string' ? nearestNames(given, choices) : [];
  return nearest === undefined ? `Send one of ${choices.join(', ')}.` : `Send '${nearest}', if that was meant.`;
}

function ofRange(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const isSmall = issue.code === 'too_small';
  const bound = Number(isSmall ? issue.minimum : issue.maximum).toLocaleString('en-US');
  if (issue.origin === 'string') return isSmall ? 'Send a text, or leave the field out.' : 'Send a shorter text.';
  if (issue.origin === 'array')
    return `Send ${isSmall ? bound : 'no more than ' + bound} items${isSmall ? ' at least' : ''}.`;
  if (SHARES.has(issue.path.at(-1) ?? '')) return 'Send a number above 0 and below 1.';
  if (isSmall) return `Send a number ${issue.inclusive === false ? 'above' : 'of at least'} ${bound}.`;
  return `Send a number ${issue.inclusive === false ? 'below' : 'of at most'} ${bound}.`;
}
