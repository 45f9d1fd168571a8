import { existsSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname, '../../node_modules');

/** Returns whether a package is installed. `npm run peers` installs those that only some tests need. */
export function hasPackage(name: string): boolean {
  return existsSync(path.join(FOLDER, name));
}
