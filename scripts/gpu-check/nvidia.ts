import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { NvidiaCard } from './report.ts';

const LIMIT_MILLIS = 15_000;

/** Returns the first card that NVIDIA's driver reports; null if nvidia-smi does not exist or fails. */
export async function askNvidia(): Promise<NvidiaCard | null> {
  const query = '--query-gpu=name,driver_version,memory.total,memory.used';
  try {
    const { stdout } = await promisify(execFile)('nvidia-smi', [query, '--format=csv,noheader,nounits'], {
      timeout: LIMIT_MILLIS,
    });
    return readCard(stdout);
  } catch {
    return null;
  }
}

/** Parses the first line of nvidia-smi's output; null if it is not as expected. */
export function readCard(answer: string): NvidiaCard | null {
  const [name = '', driver = '', total, used] = (answer.split('\n')[0] ?? '').split(',').map((part) => part.trim());
  const card = { name, driver, memory_mib: Number(total), used_mib: Number(used) };
  return name !== '' && Number.isFinite(card.memory_mib) && Number.isFinite(card.used_mib) ? card : null;
}
