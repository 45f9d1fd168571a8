// Installs the packages of scripts/peers, which only some tests and checks need, and links them into node_modules, where
// the sources and tests find them. `npm ci` removes the links.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const peers = path.join(root, 'scripts/peers');

// No package needs its install script: webgpu comes with its binaries.
execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: peers, stdio: 'inherit' });
const { dependencies } = JSON.parse(readFileSync(path.join(peers, 'package.json'), 'utf8'));
for (const name of Object.keys(dependencies)) {
  const link = path.join(root, 'node_modules', name);
  mkdirSync(path.dirname(link), { recursive: true });
  rmSync(link, { recursive: true, force: true });
  symlinkSync(path.join(peers, 'node_modules', name), link, 'junction');
}
