import { FairnessToolkitError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { findJsonProblem } from '../../internal/strict-json.ts';
import { ServiceProblem } from './service-problem.ts';

/** No body needs more, and what looks into a value goes as deep as the value is. */
const MAX_DEPTH = 64;

/** The fields of a body whose numbers name groups or ids, by the value of the body. */
export type LabelFieldsOf = (value: unknown) => ReadonlySet<string>;

/**
 * Parses a JSON body; a byte order mark before it is ignored.
 * @param body its bytes, or text that {@link decodeBody} returned
 * @param labelFieldsOf names the fields whose numbers must keep all their digits; none when left out
 * @throws {ServiceProblem} 400 for a body that is not UTF-8 or not JSON, is nested too deeply, has a key `__proto__` or a
 *   key twice, or has a label that loses digits
 */
export function parseJson(body: string | Uint8Array, labelFieldsOf?: LabelFieldsOf): unknown {
  const text = typeof body === 'string' ? body.replace(/^\ufeff/, '') : decodeBody(body);
  if (isDeep(text)) {
    throw new ServiceProblem(400, {
      detail: `The body is nested more than ${String(MAX_DEPTH)} deep.`,
      suggestion: 'Send arrays of values.',
    });
  }
  const value = parse(text);
  if (hasProtoKey(value)) {
    throw new ServiceProblem(400, { detail: 'The body has a key "__proto__".', suggestion: 'Leave it out.' });
  }
  const problem = findJsonProblem(text, labelFieldsOf?.(value));
  if (problem === undefined) return value;
  const { pointer, reason, suggestion } = problem;
  const detail = `${pointer} ${reason}.`;
  throw new ServiceProblem(400, { detail, errors: [{ pointer, detail }], suggestion });
}

/**
 * Returns the text of a body.
 * @throws {ServiceProblem} 400 for bytes that are not UTF-8, with the offset of the first
 */
export function decodeBody(body: Uint8Array): string {
  try {
    return decodeUtf8(body, 'The body');
  } catch (cause) {
    if (!FairnessToolkitError.isInstance(cause)) throw cause;
    throw new ServiceProblem(400, { detail: cause.message, suggestion: cause.suggestion }, cause);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be parsed';
    throw new ServiceProblem(
      400,
      {
        detail: `The body is not valid JSON: ${reason}.`,
        suggestion:
          'Check quotes and commas; NaN and Infinity are no JSON, a missing value is null. A CSV is sent with Content-Type: text/csv.',
      },
      cause,
    );
  }
}

/**
 * Whether brackets are open that many deep. Character by character, in time that grows with the text alone, whatever is in
 * it; a text with few brackets, as most are, is not read through.
 */
function isDeep(text: string): boolean {
  if (!hasMany(text, '[') && !hasMany(text, '{')) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22:
        index = endOfString(text, index);
        break;
      case 0x5b:
      case 0x7b:
        depth++;
        if (depth > MAX_DEPTH) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
    }
  }
  return false;
}

/** The place of the quote that ends a string; the text's end where there is none. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x5c) index++;
    else if (code === 0x22) return index;
  }
  return text.length;
}

/** Whether one bracket is there more often than half of what is allowed of both. */
function hasMany(text: string, bracket: string): boolean {
  let index = -1;
  for (let count = 0; count <= MAX_DEPTH / 2; count++) {
    index = text.indexOf(bracket, index + 1);
    if (index === -1) return false;
  }
  return true;
}

/** Whether any object has a key that would change what objects are, however it was written; nobody has a field of that name. */
function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object' && hasProtoKey(item));
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProtoKey);
}
