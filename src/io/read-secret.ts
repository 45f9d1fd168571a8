import { readFileSync } from 'node:fs';

import { DataValidationError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';

/**
 * Returns a secret from the environment: the value of a variable, or the text of the file that the variable with the
 * suffix `_FILE` names. A newline at the end of the file is not part of the secret.
 * @throws {DataValidationError} if the file cannot be read
 */
export function readSecret(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const own = env[name];
  const file = env[`${name}_FILE`];
  if (own !== undefined && own !== '') return own;
  if (file === undefined || file === '') return undefined;
  try {
    return decodeUtf8(readFileSync(file), file).replace(/\r?\n$/, '');
  } catch (cause) {
    throw new DataValidationError(`The file of ${name}_FILE cannot be read: '${file}'.`, {
      code: 'unreadable-file',
      context: { path: file },
      suggestion: 'Check the path and its permissions.',
      cause,
    });
  }
}
