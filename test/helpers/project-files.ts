import { readdirSync } from 'node:fs';
import path from 'node:path';

/** The root of the checkout. */
export const projectRoot = path.resolve(import.meta.dirname, '../..');

/** Returns the files with an extension in a folder of the project and its subfolders, sorted, relative to the root. */
export function filesIn(folder: string, ending: string): string[] {
  return readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(folder, name))
    .sort();
}
