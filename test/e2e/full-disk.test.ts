import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'; // prettier-ignore
import path from 'node:path';

import { expect } from 'chai';

import { createApp } from '../../src/api/app/create-app.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { askApp, type Json } from '../helpers/service.ts';

const MEBIBYTE = 2 ** 20;
const ROWS = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 };

/** Mounts a file system of one mebibyte; returns why it cannot. */
function mountSmallDisk(folder: string): string | undefined {
  if (process.platform !== 'linux') return 'mounting a tmpfs needs Linux';
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(MEBIBYTE)}`, 'tmpfs', folder], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `a tmpfs cannot be mounted: ${String(error).split('\n').at(-2) ?? ''}`;
  }
}

describe('a full disk', function () {
  this.timeout(120_000);
  let isMounted = false;
  // Before the hook that removes the folder.
  after(() => {
    if (isMounted) execFileSync('umount', [disk()]);
  });
  const folder = useTemporaryFolder();
  const disk = (...names: string[]): string => path.join(folder(), 'disk', ...names);
  const data = (): string => path.join(folder(), 'rows.csv');

  before(function () {
    const problem = mountSmallDisk(disk());
    isMounted = problem === undefined;
    if (problem !== undefined) {
      process.stderr.write(`    skipped: ${problem}\n`);
      this.skip();
    }
    const lines = Array.from(
      { length: 200 },
      (_, row) => `${String(row % 3 === 0)},${row % 2 ? 'f' : 'm'},${String(row % 7)}`,
    );
    writeFileSync(data(), ['hired,sex,age', ...lines].join('\n').replaceAll('true', '1').replaceAll('false', '0'));
  });

  /** Fills the disk to its last byte. */
  const fill = (): void => {
    const file = openSync(disk('filler'), 'w');
    try {
      for (let size = 65_536; size >= 1; size = size === 65_536 ? 4096 : 0) {
        try {
          for (;;) writeSync(file, Buffer.alloc(size));
        } catch (error) {
          expect(error).to.have.property('code', 'ENOSPC');
        }
      }
    } finally {
      closeSync(file);
    }
  };
  beforeEach(fill);
  afterEach(() => {
    rmSync(disk('filler'));
  });

  const MONITOR = ['monitor', '--y-pred', 'hired', '--sensitive', 'sex'];
  const events = (count: number): string =>
    Array.from({ length: count }, (_, row) => JSON.stringify({ hired: row % 2, sex: row % 3 ? 'f' : 'm' })).join('\n');
  const train = (...outputs: string[]): string[] => [
    ...['train-regularized', '--csv', data(), '--target', 'hired', '--sensitive', 'sex'],
    ...['--etas', '0', '--epochs', '1', '--min-group-size', '5', '--quiet', ...outputs],
  ];
  const commands: [title: string, args: () => string[], file: string, input?: string][] = [
    ['validate --out', () => ['validate', '--csv', data(), '--y-pred', 'hired', '--sensitive', 'sex', '--out', disk('report.json')], 'report.json'], // prettier-ignore
    ['train-regularized --out', () => train('--out-json', disk('points.json')), 'points.json'],
    ['train-regularized --save-model', () => train('--save-model', disk('model')), 'model'],
    ['monitor --state', () => [...MONITOR, '--state', disk('state.json')], 'state.json', events(300)],
  ];
  for (const [title, args, file, input] of commands) {
    it(`is named by ${title}, which leaves nothing half-written`, async () => {
      const { code, stderr } = await runCli(args(), input === undefined ? {} : { input });
      expect(code, stderr).to.equal(2);
      expect(stderr)
        .to.include(`Cannot write '${disk(file)}`)
        .and.to.include('the disk is full');
      expect(readdirSync(disk())).to.deep.equal(['filler']);
    });
  }

  for (const [which, isFilled] of [
    ['first', true],
    ['second', false],
  ] as const) {
    it(`is named by train-reductions --in-blocks, whose ${which} temporary file does not fit, and which leaves no file`, async () => {
      // 50,000 rows fit once, with 16 bytes each, but not a second time.
      const lines = Array.from({ length: 50_000 }, (_, row) => `${String(row % 3 === 0 ? 1 : 0)},${row % 2 ? 'f' : 'm'},${String(row % 7)}`); // prettier-ignore
      const csv = path.join(folder(), 'many.csv');
      writeFileSync(csv, ['hired,sex,age', ...lines].join('\n'));
      if (!isFilled) writeFileSync(disk('filler'), '');
      const args = [
        'train-reductions',
        '--csv',
        csv,
        '--in-blocks',
        '--target',
        'hired',
        '--sensitive',
        'sex',
        '--quiet',
      ];
      const { code, stderr } = await runCli(args, { env: { TMPDIR: disk() } });
      expect(code, stderr).to.equal(2);
      expect(stderr).to.match(/Rows cannot be written to a temporary file in '.*': the disk is full/);
      expect(readdirSync(disk())).to.deep.equal(['filler']);
    });
  }

  it('keeps the report and the state of an earlier run, byte for byte', async () => {
    rmSync(disk('filler'));
    const report = ['validate', '--csv', data(), '--y-pred', 'hired', '--sensitive', 'sex', '--out', disk('old.md')];
    const state = [...MONITOR, '--state', disk('old.json')];
    expect((await runCli(report)).code).to.equal(0);
    expect((await runCli(state, { input: events(300) })).code).to.equal(0);
    const [text, saved] = [readFileSync(disk('old.md')), readFileSync(disk('old.json'))];
    fill();
    expect((await runCli(report)).code).to.equal(2);
    const second = await runCli(state, { input: events(300) });
    expect(second.code).to.equal(2);
    expect(second.stdout, 'the result is printed before the error').to.include('No alarm');
    expect([readFileSync(disk('old.md')), readFileSync(disk('old.json'))]).to.deep.equal([text, saved]);
    rmSync(disk('old.md'));
    rmSync(disk('old.json'));
    expect(readdirSync(disk())).to.deep.equal(['filler']);
  });

  it('is a 503 with Retry-After of the service with --store, which keeps its results and recovers', async () => {
    rmSync(disk('filler'));
    const options = { keys: [], threads: 1, storeFolder: disk('store') };
    const app = createApp(options);
    const post = async (): Promise<[number, Json, unknown]> => {
      const payload = JSON.stringify(ROWS);
      const headers = { 'content-type': 'application/json' };
      const answer = await askApp(app, { method: 'POST', url: '/validate', headers, payload });
      return [answer.statusCode, answer.json<Json>(), answer.headers['retry-after']];
    };
    await app.ready();
    try {
      const [, kept] = await post();
      const before = readdirSync(disk('store')).sort();
      fill();
      const [status, problem, retryAfter] = await post();
      expect([status, retryAfter]).to.deep.equal([503, '10']);
      expect(problem['detail']).to.equal('The run could not be saved in the store: the disk is full.');
      expect(readdirSync(disk('store')).sort()).to.deep.equal(before);
      const get = { method: 'GET', url: `/results/${String(kept['run_id'])}` } as const;
      expect((await askApp(app, get)).json<Json>()['result']).to.deep.equal(kept);
      rmSync(disk('filler'));
      expect((await post())[0]).to.equal(200);
      await app.close(1000);
      const next = createApp(options);
      await next.ready();
      expect((await askApp(next, get)).json<Json>()['result']).to.deep.equal(kept);
      await next.close(1000);
    } finally {
      await app.close(1000);
    }
    fill();
    rmSync(disk('store'), { recursive: true });
    expect(existsSync(disk('store'))).to.equal(false);
  });
});
