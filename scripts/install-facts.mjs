// Packs the package, installs the tarball in an empty folder and uses it there as the README shows: entry points, the
// example in code, the command line, a plot, the service and its client's types. Prints the seconds, packages and
// megabytes of the installation; exits with 1 if it is larger than it may be or an example fails.
//
// `--node 22,24,26` repeats the examples on other versions of Node, each through `npx -p node@VERSION`, and names those
// that are not available; `--ignore-scripts` installs without install scripts.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';

const MAX_MEGABYTES = 450;
const MAX_PACKAGES = 230;

const { values: options } = parseArgs({
  options: { node: { type: 'string', default: '' }, 'ignore-scripts': { type: 'boolean', default: false } },
});
const root = path.resolve(import.meta.dirname, '..');
const { exports: entries, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const names = Object.keys(entries)
  .filter((name) => name !== './package.json' && !name.includes('*'))
  .map((name) => `evenhand${name.slice(1)}`);

function run(command, args, cwd, env = process.env) {
  const options = { cwd, env, encoding: 'utf8', timeout: 600_000, stdio: ['ignore', 'pipe', 'pipe'] };
  try {
    return execFileSync(command, args, options);
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')} in ${cwd}: exit ${error.status}\n${error.stdout}${error.stderr}`, {
      cause: error,
    });
  }
}

function assert(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`ok  ${what}`);
}

/** Returns the megabytes on disk under a folder, in blocks as `du` counts them. Links are not followed. */
function megabytesOf(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) bytes += statSync(path.join(entry.parentPath, entry.name)).blocks * 512;
  }
  return bytes / 2 ** 20;
}

/** Returns the number of installed packages, from the lock file that npm writes into node_modules. */
function packagesIn(folder) {
  const lock = JSON.parse(readFileSync(path.join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.keys(lock.packages).length;
}

/** Returns the code blocks of a language in a section of the README. */
function examplesOf(section, language) {
  const text = readFileSync(path.join(root, 'README.md'), 'utf8').split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```/gms)];
  return blocks.filter(([, name]) => name === language).map(([, , code]) => code);
}

/** The report of the first version of Node. */
let reportOfFirst;

/** Runs the README's examples in a folder that contains only the package. `bin` is the folder of the Node to use. */
async function use(folder, bin) {
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const shell = (script) => run('bash', ['-euo', 'pipefail', '-c', script], folder, env);
  const older = names.filter((name) => name !== 'evenhand').map((name) => name.replace('/', '/fairness-toolkit/'));
  writeFileSync(
    path.join(folder, 'import.mjs'),
    [...names, ...older]
      .map((name) => `if (Object.keys(await import('${name}')).length === 0) throw new Error('${name}');`)
      .join('\n'),
  );
  shell('node import.mjs');
  assert(true, `${names.length + older.length} entry points import`);

  for (const [index, code] of examplesOf('In code', 'ts').entries()) {
    writeFileSync(path.join(folder, 'example.mjs'), code);
    const expected = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`).join('');
    assert(shell('node example.mjs') === expected, `example ${index + 1} in code prints what the README says`);
  }

  assert(shell('npx --no-install evenhand version').includes(version), 'the command line works');
  const commands = examplesOf('On the command line', 'sh');
  for (const code of commands) shell(code);
  assert(commands.length >= 8, `${commands.length} examples of the command line work`);
  shell(
    'npx --no-install evenhand train-regularized --csv wages.csv --target wage_above_median --sensitive gender ' +
      '--epochs 1 --folds 2 --out-plot plot.png',
  );
  assert(readFileSync(path.join(folder, 'plot.png')).length > 10_000, 'training draws a plot');
  const report = shell(
    'npx --no-install evenhand validate --csv wages.csv --y-pred union --y-true wage_above_median ' +
      '--sensitive gender --sensitive race --cluster occupation --with-p-value --with-effects --json',
  );
  reportOfFirst ??= report;
  assert(report === reportOfFirst, 'a report in JSON has the same bytes on every version of Node');
  await serve(folder, env);
}

/** Starts the service and sends it requests. */
async function serve(folder, env) {
  const cli = path.join(folder, 'node_modules/evenhand/dist/cli/main.js');
  const service = spawn('node', [cli, 'serve', '--port', '0', '--workers', '2', '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(service, 'exit');
  try {
    const [line] = await once(service.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
    const { url } = JSON.parse(line);
    const [body] = examplesOf('On the command line', 'text').flatMap((code) => /-d '(.*)'/.exec(code)?.[1] ?? []);
    const answer = await fetch(`${url}/validate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
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

/** Returns the folder of a version of Node, downloaded if necessary; undefined if it is not available. */
function nodeFolder(version, cwd) {
  try {
    return path.dirname(run('npx', ['--yes', '-p', `node@${version}`, 'node', '-p', 'process.execPath'], cwd).trim());
  } catch {
    return undefined;
  }
}

/** Checks that a TypeScript program that mounts the service in a Koa app compiles with the package's types alone. */
function compile(folder) {
  writeFileSync(
    path.join(folder, 'app.ts'),
    "import { createApp } from 'evenhand/api/app';\nimport Koa from 'koa';\n" +
      'const outer = new Koa();\nouter.use(async (context, next) => next());\n' +
      "export const inner: Koa = createApp({ basePath: '/fairness' });\n",
  );
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
  run('node', [tsc, ...flags, 'app.ts'], folder);
  assert(true, 'a program in TypeScript that uses the service compiles');
}

const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-install-'));
try {
  const packed = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  const { filename, size } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
  console.log(`${filename}: ${(size / 1024).toFixed(0)} KiB`);
  const project = mkdtempSync(path.join(folder, 'use-'));
  writeFileSync(path.join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  const extra = options['ignore-scripts'] ? ['--ignore-scripts'] : [];
  const start = performance.now();
  run('npm', ['install', '--no-audit', '--no-fund', path.join(folder, filename), ...extra], project);
  const seconds = (performance.now() - start) / 1000;
  const [megabytes, packages] = [megabytesOf(path.join(project, 'node_modules')), packagesIn(project)];
  console.log(`${seconds.toFixed(0)} s, ${packages} packages, ${megabytes.toFixed(0)} MB`);

  console.log(`-- ${process.version}`);
  await use(project, path.dirname(process.execPath));
  for (const name of options.node === '' ? [] : options.node.split(',')) {
    const bin = nodeFolder(name, folder);
    console.log(`-- node@${name}${bin === undefined ? ': not available here' : ''}`);
    if (bin !== undefined) await use(project, bin);
  }
  compile(project);
  const licences = readFileSync(path.join(project, 'node_modules/evenhand/dist/THIRD-PARTY.txt'), 'utf8');
  for (const name of ['echarts', 'zrender', '@stdlib/math-base-special-betainc', 'redoc', 'swagger-ui-dist']) {
    assert(licences.includes(name), `the licence of ${name} is in the package`);
  }
  assert(megabytes <= MAX_MEGABYTES, `at most ${MAX_MEGABYTES} MB (${megabytes.toFixed(1)})`);
  assert(packages <= MAX_PACKAGES, `at most ${MAX_PACKAGES} packages (${packages})`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
