// Packs the package, installs the tarball in empty folders, with and without optional packages and install scripts, and
// uses it there. Arguments select installations by a part of their title, such as `ignore-scripts`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const { exports: entries } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const duckdb = JSON.parse(readFileSync(path.join(root, 'node_modules/@duckdb/node-api/package.json'), 'utf8')).version;
const names = Object.keys(entries)
  .filter((name) => name !== './package.json' && !name.includes('*'))
  .map((name) => `evenhand${name.slice(1)}`);

function run(command, args, cwd, allowed = [0]) {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', timeout: 600_000, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (allowed.includes(error.status)) return error.stdout + error.stderr;
    throw new Error(`${command} ${args.join(' ')} in ${cwd}: exit ${error.status}\n${error.stdout}${error.stderr}`, {
      cause: error,
    });
  }
}

function assert(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`ok  ${what}`);
}

/** Runs common commands in a folder where no package ran an install script. */
function useWithoutScripts(folder) {
  const evenhand = (args) => run('npx', ['--no-install', 'evenhand', ...args], folder);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  assert(evenhand(['version']).includes(version), 'version works');
  evenhand(['sample-data', 'cps-wages', '--out', 'wages.csv']);
  const rows = ['--csv', 'wages.csv', '--sensitive', 'gender'];
  const validated = evenhand(['validate', ...rows, '--y-pred', 'wage_above_median', '--json']);
  assert(JSON.parse(validated).metrics.demographic_parity_difference.value > 0, 'validate measures a file');
  const train = ['train-regularized', ...rows, '--target', 'wage_above_median', '--epochs', '1', '--etas', '0,1'];
  assert(evenhand(train).includes('accuracy'), 'a small training runs');
}

/** Imports every entry point and runs the command line in a folder that contains only the package. */
async function use(folder, { isWhole }) {
  const older = names.filter((name) => name !== 'evenhand').map((name) => name.replace('/', '/fairness-toolkit/'));
  writeFileSync(
    path.join(folder, 'import.mjs'),
    [...names, ...older]
      .map((name) => `if (Object.keys(await import('${name}')).length === 0) throw new Error('${name}');`)
      .join('\n'),
  );
  run('node', ['import.mjs'], folder);
  assert(true, `${names.length + older.length} entry points import`);
  const evenhand = (args, allowed) => run('npx', ['--no-install', 'evenhand', ...args], folder, allowed);
  assert(evenhand(['--help']).includes('train-regularized'), 'the command line works');
  evenhand(['sample-data', 'cps-wages', '--out', 'wages.csv']);
  const validated = evenhand([
    'validate',
    '--csv',
    'wages.csv',
    '--y-pred',
    'wage_above_median',
    '--sensitive',
    'gender',
    '--json',
  ]);
  assert(JSON.parse(validated).metrics.demographic_parity_difference.value > 0, 'validate measures a file');
  const train = [
    'train-regularized',
    '--csv',
    'wages.csv',
    '--target',
    'wage_above_median',
    '--sensitive',
    'gender',
    '--epochs',
    '1',
    '--folds',
    '2',
  ];
  if (isWhole) {
    evenhand([...train, '--out-plot', 'plot.png']);
    assert(readFileSync(path.join(folder, 'plot.png')).length > 10_000, 'training draws a plot');
    await serve(folder);
  } else {
    assert(evenhand(train).includes('accuracy'), 'training runs without plots');
    assert(
      /npm install echarts/.test(evenhand([...train, '--out-plot', 'plot.svg'], [2])),
      'a plot names its missing package',
    );
    assert(/npm install koa/.test(evenhand(['serve', '--port', '0'], [2])), 'the service names its missing packages');
  }
}

/** Starts the service and sends it requests. */
async function serve(folder) {
  const cli = path.join(folder, 'node_modules/evenhand/dist/cli/main.js');
  const service = spawn(process.execPath, [cli, 'serve', '--port', '0', '--workers', '2', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(service, 'exit');
  try {
    const [line] = await once(service.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
    const { url } = JSON.parse(line);
    const body = { y_pred: [1, 0, 1, 1], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 };
    const answer = await fetch(`${url}/validate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { metrics } = await answer.json();
    assert(metrics.demographic_parity_difference.value === 0.5, 'the service measures');
    for (const page of ['docs', 'redoc']) {
      assert((await (await fetch(`${url}/${page}`)).text()).includes('<html'), `/${page} is available`);
    }
  } finally {
    service.kill('SIGTERM');
  }
  const [code] = await ended;
  assert(code === 0, 'the service stops cleanly');
}

const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-smoke-'));
try {
  const packed = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  const { filename, size } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
  const tarball = path.join(folder, filename);
  console.log(`${filename}: ${(size / 1024).toFixed(0)} KiB`);
  for (const [title, isWhole, extra] of [
    ['with all packages', true, []],
    [
      'without optional packages',
      false,
      ['--omit=optional', `@duckdb/node-bindings-${process.platform}-${process.arch}@${duckdb}`],
    ],
    ['with --ignore-scripts', true, ['--ignore-scripts']],
  ]) {
    const wanted = process.argv.slice(2);
    if (wanted.length > 0 && !wanted.some((part) => title.includes(part))) continue;
    console.log(`-- ${title}`);
    const place = mkdtempSync(path.join(folder, 'use-'));
    writeFileSync(path.join(place, 'package.json'), '{ "private": true, "type": "module" }\n');
    run('npm', ['install', '--no-audit', '--no-fund', tarball, ...extra], place);
    if (extra.includes('--ignore-scripts')) useWithoutScripts(place);
    else await use(place, { isWhole });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
