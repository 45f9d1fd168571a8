import { z } from 'zod';

import { isNumberText } from '../internal/values.ts';
import { type BrokenRule, ruleIssue } from './problems-of.ts';
import { describeGiven } from './parse.ts';

/** An item of a column of labels; null if it is missing. */
type LabelItem = string | number | boolean | null;

/** A column of labels, parsed from JSON. */
export type JsonColumn = readonly LabelItem[];

/** A column of numbers, parsed from JSON. */
export type JsonNumbers = readonly (number | null)[];

/** The maximum number of attributes and intersections in one body. Each one needs a pass over the rows. */
export const MAX_ATTRIBUTES = 100;

const LABEL_ITEMS = { type: ['string', 'number', 'boolean', 'null'] };
const NUMBER_ITEMS = { type: ['number', 'null'] };

/*
 * Each array is checked in a single loop, because a schema for each item would cost more than the computation itself.
 */

/** Returns the schema of a value that a function checks. */
export function checkedBy<Value>(findProblem: (value: unknown) => BrokenRule | undefined): z.ZodType<Value> {
  return z.custom<Value>().check((context) => {
    const problem = findProblem(context.value);
    if (problem !== undefined) context.issues.push(ruleIssue(problem, context.value));
  });
}

/** Returns the schema of a column of labels or decisions: strings, numbers, booleans or null. */
export function labelColumn(name: string, meta: { description: string; examples: unknown[] }): z.ZodType<JsonColumn> {
  return checkedBy<JsonColumn>((value) => labelProblem(value, name)).meta({
    type: 'array',
    items: LABEL_ITEMS,
    ...meta,
  });
}

/** Returns the schema of a column whose items are null or numbers of at least `min`. */
export function numberColumn(
  name: string,
  meta: { description: string; examples: unknown[] },
  min = -Infinity,
): z.ZodType<JsonNumbers> {
  const items = min === -Infinity ? NUMBER_ITEMS : { ...NUMBER_ITEMS, minimum: min };
  return checkedBy<JsonNumbers>((value) => numberProblem(value, name, min)).meta({ type: 'array', items, ...meta });
}

/** Returns the schema of one column, or of an object of columns by name. */
export function columnOrColumns(
  name: string,
  meta: { description: string; examples: unknown[] },
): z.ZodType<JsonColumn | Readonly<Record<string, JsonColumn>>> {
  const column = { type: 'array', items: LABEL_ITEMS };
  return checkedBy<JsonColumn | Readonly<Record<string, JsonColumn>>>((value) => columnsProblem(value, name)).meta({
    anyOf: [column, { type: 'object', additionalProperties: column, minProperties: 1 }],
    ...meta,
  });
}

function labelProblem(values: unknown, name: string): BrokenRule | undefined {
  if (!Array.isArray(values)) return noArray(values, name);
  for (let row = 0; row < values.length; row++) {
    const value: unknown = values[row];
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) continue;
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    return badItem(name, row, 'texts, numbers, booleans and null', value);
  }
  return undefined;
}

function numberProblem(values: unknown, name: string, min: number): BrokenRule | undefined {
  if (!Array.isArray(values)) return noArray(values, name);
  for (let row = 0; row < values.length; row++) {
    const value: unknown = values[row];
    if (value === null) continue;
    if (typeof value === 'number' && Number.isFinite(value) && value >= min) continue;
    const allowed = `numbers${min === -Infinity ? '' : ` of ${String(min)} or more`} and null`;
    return { ...badItem(name, row, allowed, value), suggestion: numberSuggestion(value, min) };
  }
  return undefined;
}

function columnsProblem(value: unknown, name: string): BrokenRule | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return labelProblem(value, name);
  const columns = Object.entries(value);
  if (columns.length === 0) {
    const suggestion = 'Send a JSON array, or an object of arrays by their names.';
    return { path: [], message: `${name} must have at least one column; got {}.`, suggestion };
  }
  if (columns.length > MAX_ATTRIBUTES) {
    const most = String(MAX_ATTRIBUTES);
    const message = `${name} must have at most ${most} columns; got ${String(columns.length)}.`;
    return { path: [], message, suggestion: 'Send the other columns in separate requests.' };
  }
  for (const [key, column] of columns) {
    const problem = labelProblem(column, `${name}.${key}`);
    if (problem !== undefined) return { ...problem, path: [key, ...problem.path] };
  }
  return undefined;
}

function noArray(value: unknown, name: string): BrokenRule {
  const message =
    value === undefined ? `${name} is missing.` : `${name} must be an array; got ${describeGiven(value)}.`;
  return { path: [], message, suggestion: 'Send a JSON array, one item for every row.' };
}

function badItem(name: string, row: number, allowed: string, value: unknown): BrokenRule {
  const shown = typeof value === 'number' ? String(value) : describeGiven(value);
  const message = `${name} must hold ${allowed}; it has ${shown} at index ${String(row)}.`;
  return { path: [row], message, suggestion: 'Send one plain value for every row, and null for a missing value.' };
}

function numberSuggestion(value: unknown, min: number): string {
  if (typeof value === 'number') return min === -Infinity ? 'Send finite numbers.' : `Send ${String(min)} or more.`;
  return isNumberText(value)
    ? 'Send the number without quotes.'
    : 'Send a number for every row, and null for a missing value.';
}
