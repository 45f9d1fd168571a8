import { z } from 'zod';

/** A text without line ends and other control characters, which break tables and logs. */
export const ONE_LINE = /^\P{Cc}*$/u;

/** Headers of spreadsheets do have tabs and line ends; other control characters are damage, or worse. */
export const NO_CONTROLS = /^(?:[\t\n\r]|\P{Cc})*$/u;

/** A text that has more than spaces in it. */
export const FILLED = /\S/u;

/*
 * Fields of forms and queries are text, whatever they stand for.
 */

/** A number that may have come as text. */
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

/** A truth value that may have come as text: true, false, 1, 0, yes or no, in any case. */
export function textBoolean<Schema extends z.ZodType>(schema: Schema): z.ZodPipe<z.ZodTransform, Schema> {
  const read = (value: unknown): unknown =>
    typeof value === 'string' ? (TRUTHS.get(value.trim().toLowerCase()) ?? value) : value;
  return z.preprocess(read, schema) as unknown as z.ZodPipe<z.ZodTransform, Schema>;
}
