import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder, and those that it lies in, where they are missing. Node's own `recursive` tries for ever where the
 * system says of a folder that is there that it is not (/proc).
 * @throws what the system says, with its code
 */
export async function makeFolder(folder: string): Promise<void> {
  for (const missing of (await missingFolders(folder)).reverse()) {
    await mkdir(missing).catch(async (cause: unknown) => {
      // Another process may have made it meanwhile.
      if (!(await isFolder(missing))) throw cause;
    });
  }
}

/** The folder and those above it that are not there, the innermost first. */
async function missingFolders(folder: string): Promise<string[]> {
  const missing: string[] = [];
  for (let place = path.resolve(folder); !(await isFolder(place)); place = path.dirname(place)) missing.push(place);
  return missing;
}

/** @throws where that cannot be told: a part of the path is a file, or may not be looked into */
async function isFolder(place: string): Promise<boolean> {
  try {
    return (await stat(place)).isDirectory();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && path.dirname(place) !== place) return false;
    throw cause;
  }
}
