import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';

import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();
const cli = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

/** A loader that writes the address of each ES module to stderr when it is loaded. */
const LOADER = `import { writeSync } from 'node:fs';
export function load(url, context, next) { writeSync(2, 'loads ' + url + '\\n'); return next(url, context); }`;
const WITH_LOADER = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(LOADER)}`)});`;

/** Runs the built command line in a process and returns the files of the ES modules that it loads. */
async function modulesLoadedBy(...args: readonly string[]): Promise<string[]> {
  const preload = `data:text/javascript,${encodeURIComponent(WITH_LOADER)}`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', preload, cli, ...args]);
  return [...stderr.matchAll(/^loads file:(.*)$/gm)].map(([, file]) => file as string);
}

/** Returns the names of the commands that bundled files define. */
function commandsIn(files: readonly string[]): string[] {
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/defineCommand\(\{name:"([\w-]+)"/g)].map(([, name = '']) => name),
  );
}

describe('evenhand', () => {
  const commands = [
    'validate',
    'run-pipeline',
    'pipeline',
    'config',
    'train-regularized',
    'train-lagrangian',
    'train-reductions',
    'calibrate',
    'predict',
    'sample-data',
    'doctor',
    'completion',
    'init',
    'version',
  ];

  it('lists every command and first steps with --help', async () => {
    const { code, stdout } = await runCli(['--help']);
    for (const command of commands) expect(stdout).to.match(new RegExp(`^ {2}${command}\\b`, 'm'));
    expect(stdout).to.include('Start here:');
    expect(code).to.equal(0);
  });

  for (const command of commands) {
    it(`exits with 0 for ${command} --help and lists the common options`, async () => {
      const { code, stdout } = await runCli([command, '--help']);
      for (const option of ['--json', '--quiet', '--verbose']) expect(stdout).to.include(option);
      expect(code).to.equal(0);
    });
  }

  it('prints the version with version and --version', async () => {
    for (const args of [['version'], ['--version']]) expect((await runCli(args)).stdout).to.equal('0.9.0\n');
    expect(JSON.parse((await runCli(['version', '--json'])).stdout)).to.include({ version: '0.9.0' });
  });

  it('prints the version, the chosen backend and every backend with doctor --json', async () => {
    const { code, stdout } = await runCli(['doctor', '--json']);
    const report = JSON.parse(stdout) as { backends: { name: string }[]; chosen: string; matmul_ms: number };
    expect(report).to.include.all.keys('version', 'node', 'chosen', 'backends', 'adapter', 'matmul_ms');
    expect(report.backends.map(({ name }) => name)).to.deep.equal(['node-gpu', 'webgpu', 'node', 'wasm', 'cpu']);
    expect(report.matmul_ms).to.be.greaterThan(0);
    expect(code).to.equal(0);
  });

  it('writes the named file with sample-data', async () => {
    const { code } = await runCli(['sample-data', 'berkeley', '--out', 'b.csv'], { cwd: folder() });
    expect(code).to.equal(0);
    expect(existsSync(path.join(folder(), 'b.csv'))).to.equal(true);
  });

  it('says which tensor backend it uses only if the environment asks for debug messages', async () => {
    const rows = Array.from({ length: 400 }, (_, row) => `${row % 2},${row % 7},${Number(row % 7 > 3)}`);
    writeFileSync(path.join(folder(), 't.csv'), ['s,x,y', ...rows].join('\n'));
    const args = ['train-regularized', '--csv', 't.csv', '--etas', '0', '--epochs', '1'];
    for (const level of [undefined, 'info']) {
      const quiet = await runCli(args, {
        cwd: folder(),
        env: { EVENHAND_TF_BACKEND: 'auto', ...(level === undefined ? {} : { EVENHAND_LOG_LEVEL: level }) },
      });
      expect(quiet.stderr).to.not.match(/tensor backend (?!'auto')|skipped/);
    }
    const loud = await runCli(args, {
      cwd: folder(),
      env: { EVENHAND_LOG_LEVEL: 'debug', EVENHAND_JSON_LOGS: '1', EVENHAND_TF_BACKEND: 'auto' },
    });
    expect(JSON.parse(loud.stderr.split('\n').find((line) => line.includes('tensor backend')) ?? ''))
      .to.have.property('msg')
      .that.match(/^tensor backend /);
  });

  it('exits with 130 on an interrupt and leaves no files', async () => {
    const rows = Array.from({ length: 20_000 }, (_, row) => `${row % 2},${row % 7},${Number(row % 7 > 3)}`);
    writeFileSync(path.join(folder(), 'long.csv'), ['s,x,y', ...rows].join('\n'));
    const child = spawn(
      process.execPath,
      [cli, 'train-regularized', '--csv', 'long.csv', '--epochs', '1000', '--patience', '1000', '--out-json', 'x.json'],
      { cwd: folder(), stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, EVENHAND_PROGRESS_SECONDS: '0' } },
    );
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    expect(await ended).to.equal(130);
    expect(readdirSync(folder()).filter((name) => name.startsWith('x.json') || name.endsWith('.tmp'))).to.deep.equal(
      [],
    );
  });
});

describe('the start of evenhand', () => {
  it('loads at most 18 modules for --help, and no command', async () => {
    const modules = await modulesLoadedBy('--help');
    expect(commandsIn(modules)).to.deep.equal([]);
    expect(modules.length).to.be.within(2, 18);
  });

  it('loads no binding of DuckDB to validate a small file', async () => {
    const content = 'p,g\n1,a\n0,b\n';
    for (const [name, data, isLoaded] of [
      ['small.csv', content, false],
      ['small.csv.gz', gzipSync(content), true],
    ] as const) {
      writeFileSync(path.join(folder(), name), data);
      const modules = await modulesLoadedBy(
        ...['validate', '--csv', path.join(folder(), name), '--y-pred', 'p', '--sensitive', 'g', '--no-with-ci'],
      );
      expect(modules.some((file) => /require\w*\("@duckdb\/node-api"\)/.test(readFileSync(file, 'utf8')))).to.equal(
        isLoaded,
      );
    }
  });

  for (const args of [
    ['--', 'version'],
    ['help', 'validate'],
    ['validate', '--help'],
  ]) {
    it(`runs the named command for '${args.join(' ')}'`, async () => {
      const { code, stdout } = await runCli(args);
      expect(stdout).to.match(args.includes('version') ? /^0\.9\.0$/m : /^ {2}--sensitive <columns>/m);
      expect(code).to.equal(0);
    });
  }

  it('keeps the names of classes in its bundle', () => {
    const bundled = path.dirname(cli);
    const texts = readdirSync(bundled).map((name) => readFileSync(path.join(bundled, name), 'utf8'));
    const renamed = texts.flatMap((text) =>
      [...text.matchAll(/class (_\w+)/g)].filter(([, name = '']) => !text.includes(`"${name.slice(1)}")`)),
    );
    expect(renamed.map(([text]) => text)).to.deep.equal([]);
    expect(texts.join('')).to.match(/class _/);
  });

  it('loads one command for the help of a command', async () => {
    const modules = await modulesLoadedBy('validate', '--help');
    expect(commandsIn(modules)).to.deep.equal(['validate']);
  });
});
