import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();
const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

interface Decision {
  readonly timestamp: string;
  readonly sex: string;
  readonly race: string;
  readonly approved: number;
}

/** One decision a minute; from `change` on women have half the chance. */
function decisions(count: number, change = Infinity): Decision[] {
  const random = createRandom(9);
  return Array.from({ length: count }, (_, row) => {
    const sex = random.next() < 0.5 ? 'female' : 'male';
    const rate = row >= change && sex === 'female' ? 0.3 : 0.6;
    return {
      timestamp: new Date(1_700_000_000_000 + 60_000 * row).toISOString(),
      sex,
      race: ['a', 'b'][random.integer(2)] as string,
      approved: Number(random.next() < rate),
    };
  });
}

function makeCsv(name: string, rows: readonly Decision[]): string {
  const file = path.join(folder(), name);
  const lines = rows.map(({ timestamp, sex, race, approved }) => `${timestamp},${sex},${race},${String(approved)}`);
  writeFileSync(file, ['timestamp,sex,race,approved', ...lines].join('\n'));
  return file;
}

const ndjson = (rows: readonly unknown[]): string => `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
const COLUMNS = ['--y-pred', 'approved', '--sensitive', 'sex'];

interface MonitorJson {
  readonly alerts: readonly {
    readonly id: string;
    readonly groups: readonly string[];
    readonly changed_at: string | null;
  }[];
  readonly watches: readonly unknown[];
  readonly states: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

describe('evenhand monitor', () => {
  it('replays a file, raises an alarm, and leaves a dashboard, records and alerts', async () => {
    const out = path.join(folder(), 'out');
    const records = path.join(folder(), 'records.csv');
    const alerts = path.join(folder(), 'alerts.ndjson');
    const { code, stdout, stderr } = await runCli([
      'monitor', '--csv', makeCsv('breach.csv', decisions(5000, 2000)), ...COLUMNS, '--sensitive', 'sex,race',
      '--output-dir', out, '--records', records, '--alerts', alerts,
    ]); // prettier-ignore
    expect(code, stderr).to.equal(1);
    expect(stdout).to.match(/^5,000 events, the last at 2023-11-18T/);
    expect(stdout).to.match(/sex +demographic_parity_difference +BREACH/);
    expect(stdout).to.match(/sex\|\|race +demographic_parity_difference/);
    expect(stdout).to.include("the selection rate of 'male' is");
    for (const file of ['dashboard.html', 'report.md', 'active_alerts.json'])
      expect(existsSync(path.join(out, file))).to.equal(true);
    expect(readFileSync(records, 'utf8').split('\n')[0]).to.equal(
      'time,metric,attribute,group,window,value,n,low,high',
    );
    expect(JSON.parse(readFileSync(alerts, 'utf8').split('\n')[0] ?? '')).to.have.property('change', 'raised');
    expect(stderr).to.include(`Wrote ${path.join(out, 'dashboard.html')}`);
  });

  it('passes a stream without a breach, and says what that is worth', async () => {
    const { code, stdout } = await runCli(['monitor', '--csv', makeCsv('fair.csv', decisions(3000)), ...COLUMNS]);
    expect(code).to.equal(0);
    expect(stdout).to.include('No alarm: over all looks together a false one has a probability of at most 0.05.');
  });

  it('gives the same from a file as from its lines', async () => {
    const rows = decisions(4000, 1500);
    const [file, lines] = await Promise.all([
      runCli(['monitor', '--csv', makeCsv('same.csv', rows), ...COLUMNS, '--json']),
      runCli(['monitor', ...COLUMNS, '--json'], { input: ndjson(rows) }),
    ]);
    expect([file.code, lines.code]).to.deep.equal([1, 1]);
    const [fromFile, fromLines] = [file, lines].map(({ stdout }) => JSON.parse(stdout) as MonitorJson);
    expect(Object.keys(fromFile ?? {})).to.deep.equal(['alerts', 'watches', 'states']);
    expect(fromLines).to.deep.equal(fromFile);
    expect(fromFile?.alerts[0]?.groups).to.deep.equal(['male', 'female']);
    expect(fromFile?.states).to.deep.equal({ sex: { demographic_parity_difference: 'breach' } });
  });

  it('goes on from its state: two runs find what one finds', async () => {
    const rows = decisions(4000, 1500);
    const state = path.join(folder(), 'state.json');
    const whole = await runCli(['monitor', ...COLUMNS, '--json'], { input: ndjson(rows) });
    const first = await runCli(['monitor', ...COLUMNS, '--state', state, '--json'], {
      input: ndjson(rows.slice(0, 1700)),
    });
    const second = await runCli(['monitor', ...COLUMNS, '--state', state, '--json'], {
      input: ndjson(rows.slice(1700)),
    });
    expect([first.code, second.code]).to.deep.equal([0, 1]);
    const alertsOf = ({ stdout }: { stdout: string }): unknown => (JSON.parse(stdout) as MonitorJson).alerts;
    expect(alertsOf(second)).to.deep.equal(alertsOf(whole));
    const other = await runCli(['monitor', ...COLUMNS, '--state', state, '--window-size', '50'], {
      input: ndjson(rows),
    });
    expect(other.code).to.equal(2);
    expect(other.stderr)
      .to.include('is of a run with other options')
      .and.to.match(/^[^\n]+\n$/);
  });

  it('takes labels that come later', async () => {
    const rows = decisions(1500).map((row, index) => ({ ...row, case: index }));
    const labels = rows.map(({ case: id }) => ({ case: id, repaid: id % 2 }));
    const { code, stdout } = await runCli(
      ['monitor', ...COLUMNS, '--y-true', 'repaid', '--id', 'case', '--limit', '0.3'],
      {
        input: ndjson([...rows, ...labels]),
      },
    );
    expect(code).to.equal(0);
    expect(stdout).to.match(/equalized_odds_difference +WITHIN/);
  });

  it('passes over lines that it cannot count, and tells them', async () => {
    const input = `${ndjson(decisions(300))}nonsense\n[1]\n\n{"approved":"maybe","sex":"male"}\n{"sex":"male"}\n`;
    const { code, stdout, stderr } = await runCli(['monitor', ...COLUMNS], { input });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^300 events/);
    expect(stderr.split('\n')).to.include.members([
      'Line 301 was not counted: it is no JSON',
      'Line 302 was not counted: it is no JSON object',
      '3 lines were not counted.',
      'Not as it should be: missing prediction, 1 times.',
    ]);
    expect(stderr).to.include("Line 304 was not counted: The field 'approved' must be a number; it is 'maybe'.");
  });

  it('stopped by Ctrl-C writes what it has, and exits with 130', async () => {
    const state = path.join(folder(), 'stopped.json');
    const child = spawn(process.execPath, [CLI, 'monitor', ...COLUMNS, '--state', state, '--look-every', '50'], {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdin.on('error', () => undefined);
    child.stdin.write(ndjson(decisions(3000, 100)));
    // It tells its first alarm while it follows.
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGINT');
    expect(await closed).to.equal(130);
    expect(JSON.parse(readFileSync(state, 'utf8'))).to.have.nested.property('tracker.events', 3000);
  });

  for (const [what, args, input, message] of [
    ['no sensitive column', ['--y-pred', 'approved'], '', 'Missing: --sensitive'],
    ['a file that is not there', ['--csv', 'nowhere.csv', ...COLUMNS], '', 'nowhere.csv'],
    ['a limit below 0', [...COLUMNS, '--limit', '-1'], '', '--limit'],
    ['an alpha of 1', [...COLUMNS, '--alpha', '1'], '', '--alpha'],
    ['a metric that nobody knows', [...COLUMNS, '--metric', 'parity'], '', "no metric named 'parity'"],
    ['a metric that needs labels', [...COLUMNS, '--metric', 'equalized_odds_difference'], '', 'needs true labels'],
    ['a detector that nobody knows', [...COLUMNS, '--detector', 'adwn'], '', 'adwin'],
    ['a webhook that is no address', [...COLUMNS, '--webhook', 'ftp://x'], '', 'http'],
    ['a state that is none', [...COLUMNS, '--state', 'package.json'], '', 'holds no state'],
  ] as const) {
    it(`refuses ${what} in one line`, async () => {
      const { code, stdout, stderr } = await runCli(['monitor', ...args], {
        input,
        cwd: what === 'a state that is none' ? path.resolve(import.meta.dirname, '../..') : folder(),
      });
      expect(code, stderr).to.equal(2);
      expect(stderr)
        .to.include(message)
        .and.to.match(/^[^\n]+\n$/);
      expect(stdout).to.equal('');
    });
  }
});
