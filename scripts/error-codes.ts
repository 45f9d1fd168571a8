// Writes docs/errors.md from the catalogue in src/exceptions/codes.ts. Run from the root of the project:
//   node --import tsx scripts/error-codes.ts

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { format, resolveConfig } from 'prettier';

import { ERROR_CODES } from '../src/exceptions/codes.ts';

/** The page that lists the codes. */
export const ERRORS_FILE = path.resolve(import.meta.dirname, '../docs/errors.md');

/** Returns the text of the page, in the project's format. */
export async function errorsPageText(): Promise<string> {
  return format(errorCodesMarkdown(), { ...(await resolveConfig(ERRORS_FILE)), parser: 'markdown' });
}

/** Returns the page as Markdown that is not yet formatted. */
function errorCodesMarkdown(): string {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { raisedAs, cause, fix }]) => `| \`${code}\` | ${raisedAs} | ${cause} | ${fix} |`,
  );
  return [
    '# Error codes',
    '',
    'Every error of the library has a `code`, and every problem response of the service includes it. The codes are stable: your program can depend on them. Messages are written for people, and their wording may change.',
    '',
    '```ts',
    "import { FairnessToolkitError, ValueError } from 'evenhand/exceptions';",
    '',
    "const error = new ValueError('The seed parameter must be whole.', { context: { parameter: 'seed' } });",
    'console.log(FairnessToolkitError.isInstance(error), error.code, error.context.parameter);',
    '// true invalid-argument seed',
    '```',
    '',
    'The property `context` of an error holds the details of the message, if they are known: `parameter`, `argument` or `column` (what is wrong), `index` or `path` (where), `expected` and `received` (or `value`).',
    '',
    'The class of an error shows who can fix the problem. It also decides the [exit code](command-line.md#exit-codes) of a command: 1 for `FairnessAssertionError`; 2 for `ValueError`, `ConfigValidationError`, `DataValidationError`, `DependencyError` and `CacheMissError`; 3 for the others. A command checks which columns its metrics need before it measures, so a forgotten column is a `ValueError` (2). In the last rows, `Problem` means that the HTTP service returned a problem response that was not caused by a library error.',
    '',
    '| Code | Class | Cause | Fix |',
    '|---|---|---|---|',
    ...rows,
    '',
    'Terms are explained in the [glossary](glossary.md).',
    '',
  ].join('\n');
}

if (process.argv[1] === import.meta.filename) writeFileSync(ERRORS_FILE, await errorsPageText());
