// Runs at `npm ci`. Builds the package if its sources and the build tools are present: not for consumers of the
// package, and not with --omit=dev.
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
