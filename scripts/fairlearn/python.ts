import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The version whose values are compared, and what it needs. */
export const FAIRLEARN = '0.15.0';
const PACKAGES = [`fairlearn==${FAIRLEARN}`, 'scikit-learn==1.9.1', 'numpy==2.4.6', 'pandas==3.1.1'];
/** The last version that accepts rows without a group. */
export const OLD_FAIRLEARN = '0.14.0';

/** A Python with fairlearn. */
export interface Peer {
  readonly python: string;
  /** A folder with fairlearn 0.14 for PYTHONPATH, which hides the other version. */
  readonly oldVersion: string;
}

/**
 * Makes the Python environment, or returns the one that an earlier run made. EVENHAND_FAIRLEARN_CACHE names its folder
 * (default: ~/.cache/evenhand).
 */
export async function ensurePeer(): Promise<Peer> {
  const cache = process.env['EVENHAND_FAIRLEARN_CACHE'] ?? path.join(homedir(), '.cache/evenhand');
  const folder = path.join(cache, `fairlearn-${FAIRLEARN}-${OLD_FAIRLEARN}`);
  const peer = { python: path.join(folder, 'bin/python'), oldVersion: path.join(folder, 'old') };
  // The old version is installed last, so that an interrupted installation has none.
  if (existsSync(peer.oldVersion)) return peer;
  console.log(`Installing ${PACKAGES.join(', ')} and fairlearn==${OLD_FAIRLEARN} into ${folder} (about 400 MB) …`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  await run('python3', ['-m', 'venv', folder], { timeout: 120_000 });
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await run(peer.python, [...install, ...PACKAGES], { timeout: 600_000 });
  const work = await mkdtemp(path.join(folder, 'installing-'));
  await run(peer.python, [...install, '--no-deps', '--target', work, `fairlearn==${OLD_FAIRLEARN}`], {
    timeout: 300_000,
  });
  await rename(work, peer.oldVersion);
  return peer;
}
