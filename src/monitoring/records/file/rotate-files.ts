import type { FileFunctions } from './file-functions.ts';

/**
 * Puts a file aside: `path` becomes `path.1`, what was that becomes `path.2`,
 * and so on up to the first number that is free. With `maxFiles` files, the
 * present one counted, what would come after them is removed.
 * @param maxFiles at least 2
 */
export function rotateFiles(path: string, maxFiles: number, files: FileFunctions): void {
  const nameOf = (age: number): string => (age === 0 ? path : `${path}.${String(age)}`);
  const oldest = maxFiles - 1;
  // Left from when more were kept.
  for (let age = maxFiles; files.stat(nameOf(age)) !== undefined; age++) files.remove(nameOf(age));
  let free = 1;
  while (free < oldest && files.stat(nameOf(free)) !== undefined) free++;
  // From the oldest on, so that whenever this is cut short each file still has a name of its own.
  for (let age = free; age >= 1; age--) files.rename(nameOf(age - 1), nameOf(age));
}
