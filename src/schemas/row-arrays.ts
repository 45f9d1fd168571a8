import { z } from 'zod';

import { type BrokenRule, ruleIssue } from './faults-of.ts';
import { describeGiven } from './parse.ts';

/** An item of a column of labels; null if it is missing. */
type LabelItem = string | number | boolean | null;

/** A column of labels in JSON. */
export type JsonColumn = readonly LabelItem[];

/** A column of numbers in JSON. */
export type JsonNumbers = readonly (number | null)[];

/** The maximum number of attributes and intersections of one body, since each needs a pass over the rows. */
export const MAX_ATTRIBUTES = 100;

const LABEL_ITEMS = { type: ['string', 'number', 'boolean', 'null'] };
const NUMBER_ITEMS = { type: ['number', 'null'] };

/*
 * Each array is checked in a single loop, because a schema for each item would cost more than the computation itself.
 */

/** Returns the schema of a column of labels or decisions: texts, numbers, booleans, null. */
export function labelColumn(name: string, meta: { description: string; examples: unknown[] }): z.ZodType<JsonColumn> {
  return z
    .custom<JsonColumn>()
    .check((context) => {
      const fault = labelFault(context.value, name);
      if (fault !== undefined) context.issues.push(ruleIssue(fault, context.value));
    })
    .meta({ type: 'array', items: LABEL_ITEMS, ...meta });
}

/** Returns the schema of a column of numbers of at least `least`, and null. */
export function numberColumn(
  name: string,
  meta: { description: string; examples: unknown[] },
  least = -Infinity,
): z.ZodType<JsonNumbers> {
  const items = least === -Infinity ? NUMBER_ITEMS : { ...NUMBER_ITEMS, minimum: least };
  return z
    .custom<JsonNumbers>()
    .check((context) => {
      const fault = numberFault(context.value, name, least);
      if (fault !== undefined) context.issues.push(ruleIssue(fault, context.value));
    })
    .meta({ type: 'array', items, ...meta });
}

/** Returns the schema of one column, or of several columns by their names. */
export function columnOrColumns(
  name: string,
  meta: { description: string; examples: unknown[] },
): z.ZodType<JsonColumn | Readonly<Record<string, JsonColumn>>> {
  const column = { type: 'array', items: LABEL_ITEMS };
  return z
    .custom<JsonColumn | Readonly<Record<string, JsonColumn>>>()
    .check((context) => {
      const fault = columnsFault(context.value, name);
      if (fault !== undefined) context.issues.push(ruleIssue(fault, context.value));
    })
    .meta({ anyOf: [column, { type: 'object', additionalProperties: column, minProperties: 1 }], ...meta });
}

function labelFault(values: unknown, name: string): BrokenRule | undefined {
  if (!Array.isArray(values)) return noArray(values, name);
  for (let row = 0; row < values.length; row++) {
    const value: unknown = values[row];
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) continue;
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    return badItem(name, row, 'texts, numbers, booleans and null', value);
  }
  return undefined;
}

function numberFault(values: unknown, name: string, least: number): BrokenRule | undefined {
  if (!Array.isArray(values)) return noArray(values, name);
  for (let row = 0; row < values.length; row++) {
    const value: unknown = values[row];
    if (value === null) continue;
    if (typeof value === 'number' && Number.isFinite(value) && value >= least) continue;
    const allowed = `numbers${least === -Infinity ? '' : ` of ${String(least)} or more`} and null`;
    return { ...badItem(name, row, allowed, value), suggestion: numberSuggestion(value, least) };
  }
  return undefined;
}

function columnsFault(value: unknown, name: string): BrokenRule | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return labelFault(value, name);
  const columns = Object.entries(value);
  if (columns.length === 0) {
    const suggestion = 'Send a JSON array, or an object of arrays by their names.';
    return { path: [], message: `${name} must have at least one column; got {}.`, suggestion };
  }
  if (columns.length > MAX_ATTRIBUTES) {
    const most = String(MAX_ATTRIBUTES);
    const message = `${name} must have at most ${most} columns; got ${String(columns.length)}.`;
    return { path: [], message, suggestion: 'Send the others in separate requests.' };
  }
  for (const [key, column] of columns) {
    const fault = labelFault(column, `${name}.${key}`);
    if (fault !== undefined) return { ...fault, path: [key, ...fault.path] };
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
  return { path: [row], message, suggestion: 'Send one plain value for every row, and null where it is missing.' };
}

function numberSuggestion(value: unknown, least: number): string {
  if (typeof value === 'number') return least === -Infinity ? 'Send finite numbers.' : `Send ${String(least)} or more.`;
  const isNumber = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
  return isNumber ? 'Send the number without quotes.' : 'Send a number for every row, and null where it is missing.';
}
