// Runs the mutation tester: it changes one operator or value of the sources at a time, and reports the changes that no
// test notices. `npm run test:mutation -- stats/sequential` changes src/stats/sequential. Files and folders of tests may
// follow; by default, the tests of the folder of the same name run. `--static` includes the constants of modules, and
// `--slow` the tests with @slow. All other options go to Stryker.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { AREAS } from './mutation/areas.mjs';

const root = path.resolve(import.meta.dirname, '..');
const tools = path.join(root, 'scripts/mutation');
const [area = '', ...rest] = process.argv.slice(2);

// `metrics/*.ts` selects the files of a folder without its subfolders.
if (area === '' || !existsSync(path.join(root, 'src', area.replace('*.ts', '')))) {
  console.error(`Give a folder or files of src, such as stats/sequential or 'metrics/*.ts'. Got '${area}'.`);
  process.exit(2);
}
installTools();
const firstOption = rest.findIndex((argument) => argument.startsWith('-'));
const tests = firstOption === -1 ? rest : rest.slice(0, firstOption);
const options = rest.slice(tests.length).filter((argument) => argument !== '--static' && argument !== '--slow');
const { status } = spawnSync(
  process.execPath,
  [
    path.join(tools, 'node_modules/@stryker-mutator/core/bin/stryker.js'),
    'run',
    path.join(tools, 'stryker.config.mjs'),
    ...options,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      EVENHAND_MUTATE: area,
      ...(rest.includes('--static') ? { EVENHAND_MUTATE_STATIC: '1' } : {}),
      ...(rest.includes('--slow') ? { EVENHAND_MUTATE_SLOW: '1' } : {}),
      EVENHAND_MUTATE_TESTS: JSON.stringify((tests.length > 0 ? tests : testsOf(area)).map(asPattern)),
    },
  },
);
process.exit(status ?? 1);

/** Stryker is installed on first use, and not with the project: it is large, and only this command needs it. */
function installTools() {
  const { dependencies } = JSON.parse(readFileSync(path.join(tools, 'package.json'), 'utf8'));
  const isInstalled = Object.entries(dependencies).every(([name, version]) => {
    const file = path.join(tools, 'node_modules', name, 'package.json');
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version;
  });
  if (isInstalled) return;
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: tools, stdio: 'inherit' });
}

/** Returns the tests listed for the area or the nearest folder above it; otherwise, the tests of the same folder. */
function testsOf(name) {
  for (let folder = name; folder !== '.'; folder = path.dirname(folder)) {
    if (AREAS[folder] !== undefined) return AREAS[folder];
    if (existsSync(path.join(root, 'test', folder))) return [`test/${folder}`];
  }
  throw new Error(`No folder of tests belongs to src/${name}. Give the tests after it.`);
}

function asPattern(test) {
  return test.endsWith('.ts') ? test : `${test}/**/*.test.ts`;
}
