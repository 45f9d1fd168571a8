import { readFile, stat } from 'node:fs/promises';

import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';

/** The text of a file, or the reason why it cannot be read. */
export type TextFile =
  | { readonly text: string }
  | { readonly text: null; readonly problem: string; readonly suggestion: string; readonly cause: unknown };

/**
 * Reads a complete text file as UTF-8. Failures are returned and not thrown.
 * @param largest the maximum size in bytes
 */
export async function readTextFile(path: string, largest: number): Promise<TextFile> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return failed('it is a folder', 'Give the path of a file.');
    if (found.size > largest) {
      const size = `it has ${found.size.toLocaleString('en-US')} bytes`;
      return failed(
        `${size}, and the maximum is ${largest.toLocaleString('en-US')}`,
        'Check that it is the right file.',
      );
    }
    const bytes = await readFile(path);
    return { text: decodeUtf8(bytes, 'it') };
  } catch (cause) {
    return cannotRead(cause);
  }
}

/** The maximum size of a stored result, in bytes. */
const MAX_RESULT_BYTES = 100_000_000;

/**
 * Reads the text of a stored result, a report or a key.
 * @param who the command or option that names the file, for the message
 * @throws {DataValidationError} if the file cannot be read
 */
export async function readResultText(path: string, who: string): Promise<string> {
  const file = await readTextFile(path, MAX_RESULT_BYTES);
  if (file.text !== null) return file.text;
  throw new DataValidationError(`${who} cannot read '${path}': ${file.problem}.`, {
    code: 'unreadable-file',
    context: { path },
    suggestion: file.suggestion,
    cause: file.cause,
  });
}

function failed(problem: string, suggestion: string, cause?: unknown): TextFile {
  return { text: null, problem, suggestion, cause };
}

function cannotRead(cause: unknown): TextFile {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return failed('there is no such file', 'Check the path.', cause);
  if (FairnessToolkitError.isInstance(cause)) {
    return failed(cause.message.replace(/\.$/, ''), cause.suggestion ?? 'Save the file as UTF-8.', cause);
  }
  const reason =
    code === 'EACCES' || code === 'EPERM' ? 'permission denied' : `the system says ${code || String(cause)}`;
  return failed(`it cannot be read: ${reason}`, 'Check the path and its permissions.', cause);
}
