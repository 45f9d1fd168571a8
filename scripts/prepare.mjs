// Runs at `npm ci`. Builds where there is something to build and something to build with: not for consumers of the
// package, and not under --omit=dev.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

function canBuild() {
  try {
    createRequire(import.meta.url).resolve('typescript');
    return existsSync(path.join(root, 'src'));
  } catch {
    return false;
  }
}

if (canBuild()) await import('./build.mjs');
