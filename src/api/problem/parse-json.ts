import { FairnessToolkitError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { findJsonProblem, isNestedDeeper } from '../../internal/strict-json.ts';
import { fieldProblem, ServiceProblem } from './service-problem.ts';

/**
 * The maximum nesting depth of a body. No valid body is nested more deeply, and deep nesting could overflow the stack
 * of recursive functions.
 */
const MAX_DEPTH = 64;

/** Returns the fields of a parsed body in which numbers are group labels or IDs. */
export type LabelFieldsOf = (value: unknown) => ReadonlySet<string>;

/**
 * Parses a JSON body. A leading byte order mark is ignored.
 * @param body the bytes of the body, or the text that {@link decodeBody} returned
 * @param labelFieldsOf returns the fields whose numbers must keep all their digits; by default there are none
 * @throws {ServiceProblem} 400 if the body is not UTF-8 or not JSON, is nested too deeply, contains a key twice or the
 *   key `__proto__`, or contains a label that would lose digits
 */
export function parseJson(body: string | Uint8Array, labelFieldsOf?: LabelFieldsOf): unknown {
  const text = typeof body === 'string' ? body.replace(/^\ufeff/, '') : decodeBody(body);
  if (isNestedDeeper(text, MAX_DEPTH)) {
    const detail = `The body is nested more than ${String(MAX_DEPTH)} levels deep.`;
    throw new ServiceProblem(400, { detail, suggestion: 'Send arrays of values.' });
  }
  const value = parse(text);
  if (hasProtoKey(value)) {
    throw new ServiceProblem(400, { detail: 'The body has a key "__proto__".', suggestion: 'Omit it.' });
  }
  const problem = findJsonProblem(text, labelFieldsOf?.(value));
  if (problem === undefined) return value;
  const { pointer, reason, suggestion } = problem;
  throw fieldProblem(400, pointer, `${pointer} ${reason}.`, suggestion);
}

/**
 * Returns the text of a body.
 * @throws {ServiceProblem} 400 if it is not UTF-8, with the offset of the first invalid byte
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
    const detail = `The body is not valid JSON: ${cause instanceof Error ? cause.message : 'it cannot be parsed'}.`;
    const suggestion =
      'Check quotes and commas. NaN and Infinity are not valid JSON; use null for a missing value. Send a CSV with Content-Type: text/csv.';
    throw new ServiceProblem(400, { detail, suggestion }, cause);
  }
}

/** Returns whether any object has the key `__proto__`, which would change the prototype of a copy. */
function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object' && hasProtoKey(item));
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProtoKey);
}
