// Writes docs/errors.md from the catalogue in src/exceptions/codes.ts. Run from the root of the project:
//   node --import tsx scripts/error-codes.ts

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { format, resolveConfig } from 'prettier';

import { errorCodesMarkdown } from '../src/exceptions/codes.ts';

/** The page that lists the codes. */
export const ERRORS_FILE = path.resolve(import.meta.dirname, '../docs/errors.md');

/** Returns the text of the page, in the project's format. */
export async function errorsPageText(): Promise<string> {
  return format(errorCodesMarkdown(), { ...(await resolveConfig(ERRORS_FILE)), parser: 'markdown' });
}

if (process.argv[1] === import.meta.filename) writeFileSync(ERRORS_FILE, await errorsPageText());
