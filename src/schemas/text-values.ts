import { z } from 'zod';

/** A text without line breaks or other control characters, because they would break tables and logs. */
export const ONE_LINE = /^\P{Cc}*$/u;

/** A text without control characters. Tabs and line breaks are allowed, because they occur in spreadsheet headers. */
export const NO_CONTROLS = /^(?:[\t\n\r]|\P{Cc})*$/u;

/** A text that contains at least one character other than white space. */
export const FILLED = /\S/u;

/*
 * Fields of forms and queries always arrive as text.
 */

/** Returns the schema of a number that may arrive as text. */
export function textNumber<Schema extends z.ZodType>(schema: Schema): z.ZodPipe<z.ZodTransform, Schema> {
  return z.preprocess(
    (value) =>
      typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : value,
    schema,
  ) as unknown as z.ZodPipe<z.ZodTransform, Schema>;
}

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);

/** Returns the schema of a boolean that may arrive as text: true, false, 1, 0, yes or no, in any case. */
export function textBoolean<Schema extends z.ZodType>(schema: Schema): z.ZodPipe<z.ZodTransform, Schema> {
  const read = (value: unknown): unknown =>
    typeof value === 'string' ? (TRUTHS.get(value.trim().toLowerCase()) ?? value) : value;
  return z.preprocess(read, schema) as unknown as z.ZodPipe<z.ZodTransform, Schema>;
}

/** Returns the schema of a value that may arrive as JSON text. */
export function textJson<Schema extends z.ZodType>(schema: Schema): z.ZodPipe<z.ZodTransform, Schema> {
  const read = (value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  };
  return z.preprocess(read, schema) as unknown as z.ZodPipe<z.ZodTransform, Schema>;
}
