import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** Whether two paths lead to one file, through links too. */
export function isSamePlace(one: string, other: string): boolean {
  return realPlace(one) === realPlace(other);
}

/** A file that is not there is where its path says. */
function realPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}
