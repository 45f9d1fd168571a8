import { isMapping, type Mapping } from '../../internal/values.ts';
import { getLogger } from '../../internal/logger.ts';
import { jsonReason, parseStrictJson } from '../../internal/strict-json.ts';
import { requestKey } from '../cache/request-key.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import { LINE_BEGINNING, recordFromFields } from './record-json.ts';
import { emptyProblem, lineProblem, readTextLines, type TextLine } from './text-lines.ts';

/** The names that other tools use for the answer field, in order of precedence. */
const TEXT_NAMES = ['text', 'response', 'completion'] as const;

/**
 * Reads a file of answers with one JSON object per line. The file is the transcript of an earlier run, or a file of
 * another tool. A file of another tool has the field `prompt` and one of the fields `text`, `response` and
 * `completion`. If a line has no `repeat`, the number of earlier lines with the same prompt is used. If a line has no
 * `model`, `replay` is used. Other fields are ignored.
 *
 * If several lines have the same key, the result contains the last answer. If none of these lines has an answer, the
 * result contains the last error. Blank lines, a byte order mark and Windows line endings are allowed. A truncated last
 * line is skipped with a warning.
 * @throws {DataValidationError} if the file cannot be read, contains no answers, or has an invalid line; the error
 * contains the line number
 * @example
 * ```ts
 * import { mkdtempSync, writeFileSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import path from 'node:path';
 * import { readTranscripts } from 'evenhand/llm-evals';
 *
 * const file = path.join(mkdtempSync(path.join(tmpdir(), 'answers-')), 'answers.ndjson');
 * writeFileSync(file, '{"prompt":"Why?","response":"So."}\n{"prompt":"Why?","response":"Because."}\n');
 * const answers = await readTranscripts(file);
 * console.log(answers.map(({ prompt, repeat, text }) => [prompt, repeat, text].join(' ')).join('\n'));
 * // Why? 0 So.
 * // Why? 1 Because.
 * ```
 */
export async function readTranscripts(path: string): Promise<readonly AnswerRecord[]> {
  const records: AnswerRecord[] = [];
  const repeats = new Map<string, number>();
  for await (const line of readTextLines(path)) {
    if (line.text.trim() === '') continue;
    if (isTorn(line)) {
      getLogger().warn(`${path}:${String(line.number)}: the last line is truncated and is skipped.`);
      continue;
    }
    records.push(readRecord(path, line, (fields) => toRecord(fields, repeats)));
  }
  if (records.length === 0) throw emptyProblem(path);
  return Object.freeze(mergeAnswers(records));
}

function toRecord(fields: Mapping, repeats: Map<string, number>): AnswerRecord | string {
  if ('key' in fields) return recordFromFields(fields);
  const { prompt } = fields;
  if (typeof prompt !== 'string') return `its prompt should be text, not ${typeof prompt}`;
  const name = TEXT_NAMES.find((candidate) => fields[candidate] !== undefined);
  if (name === undefined) return `it has none of the fields ${TEXT_NAMES.join(', ')}`;
  if (typeof fields[name] !== 'string') return `its ${name} should be text, not ${JSON.stringify(fields[name])}`;
  const count = repeats.get(prompt) ?? 0;
  repeats.set(prompt, count + 1);
  const repeat = fields['repeat'] ?? count;
  const model = typeof fields['model'] === 'string' ? fields['model'] : 'replay';
  if (!Number.isSafeInteger(repeat))
    return `its repeat should be a whole number of at least 0, not ${JSON.stringify(repeat)}`;
  const identity = { provider: 'replay', baseUrl: null, model, prompt, params: {}, repeat: repeat as number };
  return recordFromFields({ key: requestKey(identity), model, prompt, repeat, text: fields[name] });
}

/**
 * Returns the record of a line.
 * @throws {DataValidationError} if the line is not a record
 */
export function readRecord(path: string, { text, number }: TextLine, toRecord = recordFromFields): AnswerRecord {
  const fields = parseFields(text);
  const record = typeof fields === 'string' ? fields : toRecord(fields);
  if (typeof record === 'string') throw lineProblem(path, number, record);
  return record;
}

/** Returns the fields of a line of JSON, or the problem with it. */
function parseFields(text: string): Mapping | string {
  let value: unknown;
  try {
    value = parseStrictJson(text);
  } catch (error) {
    return jsonReason(error, 'it is not JSON');
  }
  return isMapping(value) ? value : 'it is not a JSON object';
}

/** Returns whether a line is the beginning of a record that was not written completely. */
export function isTorn({ text, isEnded }: TextLine): boolean {
  if (isEnded || typeof parseFields(text) !== 'string') return false;
  return text.startsWith(LINE_BEGINNING) || LINE_BEGINNING.startsWith(text);
}

/**
 * Returns one record per key, in the order of first occurrence. The record is the last answer of the key, or its last
 * error if there is no answer. An error never replaces an answer, because the answer has been paid for.
 */
export function mergeAnswers(records: Iterable<AnswerRecord>): AnswerRecord[] {
  const byKey = new Map<string, AnswerRecord>();
  for (const record of records) {
    const known = byKey.get(record.key);
    if (known === undefined || known.error !== null || record.error === null) byKey.set(record.key, record);
  }
  return [...byKey.values()];
}
