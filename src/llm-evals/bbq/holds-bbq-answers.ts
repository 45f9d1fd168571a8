import { closeSync, openSync, readSync } from 'node:fs';

import { Utf8Stream } from '../../internal/decode-utf8.ts';

/** The number of bytes read. A line of BBQ with a model's answers is much shorter. */
const START_BYTES = 2 ** 16;

/**
 * Returns whether a file contains BBQ's items with a model's answers: its first line has a column like
 * `unifiedqa-t5-11b_pred_race`.
 */
export function holdsBbqAnswers(path: string): boolean {
  const buffer = Buffer.alloc(START_BYTES);
  let length: number;
  try {
    const file = openSync(path, 'r');
    try {
      length = readSync(file, buffer, 0, START_BYTES, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    // The code that reads the file reports what is wrong with it.
    return false;
  }
  let text: string;
  try {
    // The bytes may end within a character.
    text = new Utf8Stream(path).write(buffer.subarray(0, length));
  } catch {
    return false;
  }
  const [line = ''] = text.trimStart().split('\n');
  return /"[^"]+_pred_(?:race|arc|qonly)"\s*:/.test(line);
}
