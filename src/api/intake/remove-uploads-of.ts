import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { getLogger } from '../../internal/logger.ts';

/** Longer than a request that a process handed on is on its way after the process has ended. */
const ON_ITS_WAY_MILLIS = 1_000;

/** Options of {@link removeUploadsOf}. */
export interface RemoveUploadsOptions {
  /** Whether a folder belongs to work that goes on without the process. */
  readonly isInUse: (folder: string) => boolean;
  /**
   * How long work may take to arrive, in milliseconds.
   * @defaultValue 1000
   */
  readonly pauseMillis?: number | undefined;
}

/**
 * Removes what a process that was killed had received for requests and handed to nobody. What cannot be removed is logged,
 * and goes with the spool folder.
 * @param root the spool folder
 */
export async function removeUploadsOf(
  root: string,
  pid: number,
  { isInUse, pauseMillis = ON_ITS_WAY_MILLIS }: RemoveUploadsOptions,
): Promise<void> {
  try {
    const prefix = `request-${String(pid)}-`;
    // Listed first: after the pause another process may have the number.
    const names = (await readdir(root)).filter((name) => name.startsWith(prefix));
    if (names.length === 0) return;
    await pause(pauseMillis, undefined, { ref: false });
    for (const folder of names.map((name) => path.join(root, name))) {
      if (!isInUse(folder)) await rm(folder, { recursive: true, force: true, maxRetries: 2 });
    }
  } catch (error) {
    // The whole folder is gone where the service has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    getLogger().warn({ err: error }, 'uploads of a worker that has ended cannot be removed');
  }
}
