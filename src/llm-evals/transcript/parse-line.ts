import { jsonReason, parseStrictJson } from '../../internal/strict-json.ts';
import { LINE_BEGINNING } from './record-json.ts';
import type { TextLine } from './text-lines.ts';

/** The fields of a line of JSON, or what is wrong with it. */
export function parseFields(text: string): Readonly<Record<string, unknown>> | string {
  let value: unknown;
  try {
    value = parseStrictJson(text);
  } catch (error) {
    return jsonReason(error, 'it is not JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return 'it is no JSON object';
}

/** Whether a line is what is left of one of ours whose writer was ended in the middle of it. */
export function isTorn({ text, isEnded }: TextLine): boolean {
  if (isEnded || typeof parseFields(text) !== 'string') return false;
  return text.startsWith(LINE_BEGINNING) || LINE_BEGINNING.startsWith(text);
}
