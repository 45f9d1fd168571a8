import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();
const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

interface Decision {
  readonly timestamp: string;
  readonly sex: string;
  readonly race: string;
  readonly approved: number;
}

/** Returns one decision per minute; from index `change`, women are approved half as often. */
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
const TOPIC = ['--kafka', '127.0.0.1:1', '--topic', 'decisions'];
const REDIS = ['--redis', 'redis://127.0.0.1:1'];

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
  it('warns of numbers that are dates, and of a column with times that is not used', async () => {
    const rows = decisions(400);
    const lines = (name: string, time: (row: Decision) => string): string => {
      const file = path.join(folder(), `${name}.csv`);
      writeFileSync(file, [`${name},sex,approved`, ...rows.map((row) => `${time(row)},${row.sex},${String(row.approved)}`)].join('\n')); // prettier-ignore
      return file;
    };
    const day = lines('day', ({ timestamp }) => timestamp.slice(0, 10).replaceAll('-', ''));
    const early = 'The latest event is of 1970-08-23. Numbers are read as seconds or milliseconds since 1970';
    const asNumbers = await runCli(['monitor', '--csv', day, ...COLUMNS, '--timestamp', 'day']);
    expect(joinLines(asNumbers.stderr)).to.include(early);
    const time = lines('event_time', ({ timestamp }) => timestamp);
    const unused = "If column 'event_time' has their time, name it: --timestamp event_time.";
    expect(joinLines((await runCli(['monitor', '--csv', time, ...COLUMNS])).stderr)).to.include(unused);
    const { stderr } = await runCli(['monitor', '--csv', time, ...COLUMNS, '--timestamp', 'event_time']);
    expect(joinLines(stderr)).to.not.include('event_time');
  });

  it('replays a file, raises an alarm, and leaves a dashboard, records and alerts', async () => {
    const out = path.join(folder(), 'out');
    const records = path.join(folder(), 'records.csv');
    const alerts = path.join(folder(), 'alerts.ndjson');
    const { code, stdout, stderr } = await runCli([
      'monitor', '--csv', makeCsv('breach.csv', decisions(5000, 2000)), ...COLUMNS, '--sensitive', 'sex,race',
      '--output-dir', out, '--records', records, '--alerts', alerts,
    ]); // prettier-ignore
    expect(code, stderr).to.equal(1);
    expect(stdout).to.match(/^ALARM: \d alarms raised\n/);
    expect(stdout).to.match(/^5,000 events, 2023-11-14 .* to 2023-11-18 .* UTC$/m);
    expect(stdout).to.match(/^Demographic parity difference of sex +✗ Breach +0\.100 +0\.\d{3} /m);
    expect(stdout).to.match(/^Demographic parity difference of sex × race +. /m);
    expect(stdout).to.include("the selection rate of 'male' is");
    for (const file of ['dashboard.html', 'report.md', 'active_alerts.json'])
      expect(existsSync(path.join(out, file))).to.equal(true);
    expect(readFileSync(records, 'utf8').split('\n')[0]).to.equal(
      'time,metric,attribute,group,window,value,n,low,high',
    );
    expect(JSON.parse(readFileSync(alerts, 'utf8').split('\n')[0] ?? '')).to.have.property('change', 'raised');
    expect(stderr).to.include(`Wrote ${path.join(out, 'dashboard.html')}`);
  });

  it('passes a stream without a breach, and prints the probability of a false alarm', async () => {
    const { code, stdout } = await runCli(['monitor', '--csv', makeCsv('fair.csv', decisions(3000)), ...COLUMNS]);
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /^No alarm\n {2}Over all checks together, the probability of a false alarm is at most 0\.05\.\n/,
    );
  });

  it('warns of a limit within which groups are very different, and of people with several events', async () => {
    const rows = decisions(600);
    const warningsOf = async (file: string, ...args: string[]): Promise<string> => {
      const { stdout } = await runCli(['monitor', '--csv', file, ...COLUMNS, ...args, '--json', '--quiet']);
      return (JSON.parse(stdout) as { warnings: string[] }).warnings.join('\n');
    };
    const file = makeCsv('lenient.csv', rows);
    expect(await warningsOf(file, '--limit', '0.9')).to.equal(
      'Very different groups stay within the limit of 0.9, such as values of 0.05 and 0.95.',
    );
    expect(await warningsOf(file, '--limit', '0.3')).to.equal('');
    const people = path.join(folder(), 'people.csv');
    writeFileSync(people, ['person,sex,approved', ...rows.map(({ sex, approved }, row) => `p${String(row % 20)},${sex},${String(approved)}`)].join('\n')); // prettier-ignore
    expect(await warningsOf(people)).to.match(/^Column 'person' has about 30\.0 rows for each of its values\. .* false alarms are more frequent than promised/); // prettier-ignore
    // Ten of 600 events are in the file twice.
    const twice = path.join(folder(), 'twice.csv');
    writeFileSync(twice, ['event_id,sex,approved', ...rows.map(({ sex, approved }, row) => `e${String(row < 10 ? row + 300 : row)},${sex},${String(approved)}`)].join('\n')); // prettier-ignore
    expect(await warningsOf(twice)).to.match(/^10 events repeat a value of column 'event_id', and each event counts\. .*: --id event_id; /); // prettier-ignore
  });

  it('gives the same results for a file as for its lines', async () => {
    const rows = decisions(4000, 1500);
    const [file, lines] = await Promise.all([
      runCli(['monitor', '--csv', makeCsv('same.csv', rows), ...COLUMNS, '--json']),
      runCli(['monitor', ...COLUMNS, '--json'], { input: ndjson(rows) }),
    ]);
    expect([file.code, lines.code]).to.deep.equal([1, 1]);
    const [fromFile, fromLines] = [file, lines].map(({ stdout }) => JSON.parse(stdout) as MonitorJson);
    const keys = ['alerts', 'watches', 'states', 'metrics', 'n_events', 'faults', 'refused_lines', 'warnings'];
    expect(Object.keys(fromFile ?? {})).to.deep.equal(keys);
    expect(fromLines).to.deep.equal(fromFile);
    expect(fromFile?.alerts[0]?.groups).to.deep.equal(['male', 'female']);
    expect(fromFile?.states).to.deep.equal({ sex: { demographic_parity_difference: 'breach' } });
  });

  describe('reads missing texts and labels of events as those of a file', () => {
    // f: 10 of 20 approved, of the 10 who repay 5; m: 15 of 20, of the 10 who repay 10. Further rows do not count.
    const block = (sex: string, approved: string, repaid: string, count: number): Record<string, string>[] =>
      Array.from({ length: count }, () => ({ sex, approved, repaid }));
    const rows = [
      ...block('f', 'yes', 'good', 5),
      ...block('f', 'no', 'good', 5),
      ...block('f', 'yes', 'bad', 5),
      ...block('f', 'no', 'bad', 5),
      ...block('m', 'yes', 'good', 10),
      ...block('m', 'yes', 'bad', 5),
      ...block('m', 'no', 'bad', 5),
      ...block('f', '?', 'good', 7),
      ...block('unknown', 'yes', 'good', 6),
      ...block('m', 'yes', '?', 4),
    ];
    const csv = ['sex,approved,repaid', ...rows.map((row) => `${row['sex'] ?? ''},${row['approved'] ?? ''},${row['repaid'] ?? ''}`)].join('\n'); // prettier-ignore
    const options = [
      ...[...COLUMNS, '--y-true', 'repaid', '--positive-label', 'yes', '--y-true-positive-label', 'good'],
      ...['--na-values', '?,unknown', '--min-group-size', '5', '--json'],
    ];
    for (const [source, args, input] of [
      ['JSON lines on stdin', [], ndjson(rows)],
      ['CSV on stdin', ['--csv', '-'], csv],
    ] as const) {
      it(source, async () => {
        const { code, stdout, stderr } = await runCli(['monitor', ...args, ...options], { input });
        expect(code, stderr).to.equal(0);
        const { sex } = (JSON.parse(stdout) as { metrics: Record<string, Record<string, Record<string, unknown>>> })
          .metrics;
        // Decisions: f 10 of 20, m 19 of 24. Of those who repay: f 5 of 10, m 10 of 10; of the others 5 of 10 each.
        expect(sex?.['demographic_parity_difference']?.['value']).to.be.closeTo(19 / 24 - 0.5, 1e-12);
        expect(sex?.['equalized_odds_difference']?.['value']).to.be.closeTo(0.5, 1e-12);
      });
    }

    it('and warns about labels that no event has, separately for decisions and true labels', async () => {
      const run = (...labels: string[]): ReturnType<typeof runCli> =>
        runCli(['monitor', ...COLUMNS, '--y-true', 'repaid', ...labels], { input: ndjson(rows) });
      const decided = await run('--positive-label', 'good');
      expect(decided.stderr).to.include("No event has the positive label 'good' in 'approved'.");
      const observed = await run('--positive-label', 'yes');
      expect(observed.stderr).to.include("No event has the positive label 'yes' in 'repaid'.");
    });

    it('and rejects a label of the truth without true labels', async () => {
      const { code, stderr } = await runCli(['monitor', ...COLUMNS, '--y-true-positive-label', 'good'], { input: '' });
      expect([code, stderr]).to.deep.equal([
        2,
        'error: monitor: A positive label of the truth needs true labels: add --y-true.\n',
      ]);
    });
  });

  it('resumes from its state: two runs find the same as one', async () => {
    const rows = decisions(4000, 1500);
    const state = path.join(folder(), 'state.json');
    const complete = await runCli(['monitor', ...COLUMNS, '--json'], { input: ndjson(rows) });
    const first = await runCli(['monitor', ...COLUMNS, '--state', state, '--json'], {
      input: ndjson(rows.slice(0, 1700)),
    });
    const second = await runCli(['monitor', ...COLUMNS, '--state', state, '--json'], {
      input: ndjson(rows.slice(1700)),
    });
    expect([first.code, second.code]).to.deep.equal([0, 1]);
    const alertsOf = ({ stdout }: { stdout: string }): unknown => (JSON.parse(stdout) as MonitorJson).alerts;
    expect(alertsOf(second)).to.deep.equal(alertsOf(complete));
    const other = await runCli(['monitor', ...COLUMNS, '--state', state, '--window-size', '50']);
    expect(other.code).to.equal(2);
    expect(other.stderr)
      .to.include('is from a run with other options')
      .and.to.include('--window-size was not given and is 50')
      .and.to.match(/^[^\n]+\n$/);
  });

  it('accepts labels that arrive later', async () => {
    const rows = decisions(1500).map((row, index) => ({ ...row, case: index }));
    const labels = rows.map(({ case: id }) => ({ case: id, repaid: id % 2 }));
    const { code, stdout } = await runCli(
      ['monitor', ...COLUMNS, '--y-true', 'repaid', '--id', 'case', '--limit', '0.3'],
      {
        input: ndjson([...rows, ...labels]),
      },
    );
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Equalized odds difference of sex +✓ Within limit/m);
  });

  it('ignores a label that arrives after more ids than --label-horizon', async () => {
    // The labels come after all 1,500 events, so that the first 500 events are past a horizon of 1,000 ids.
    const rows = decisions(1500).map((row, index) => ({ ...row, case: index }));
    const labels = rows.map(({ case: id }) => ({ case: id, repaid: id % 2 }));
    const args = ['monitor', ...COLUMNS, '--y-true', 'repaid', '--id', 'case', '--limit', '0.3'];
    const run = (horizon: string) =>
      runCli([...args, '--label-horizon', horizon], { input: ndjson([...rows, ...labels]) });
    const { code, stderr } = await run('1000');
    expect(code).to.equal(0);
    expect(stderr.split('\n')).to.include.members([
      'Problem: expired unlabelled, 500 times.',
      'Problem: labels with an unknown id, 500 times.',
    ]);
    expect((await run('1500')).stderr).not.to.include('Problem');
  });

  it('skips lines that it cannot count, and reports them', async () => {
    const input = `${ndjson(decisions(300))}nonsense\n[1]\n\n{"approved":"maybe","sex":"male"}\n{"sex":"male"}\n`;
    const { code, stdout, stderr } = await runCli(['monitor', ...COLUMNS], { input });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^300 events/m);
    expect(stderr.split('\n')).to.include.members([
      'Line 301 was not counted: it is not valid JSON',
      'Line 302 was not counted: it is not a JSON object',
      '3 lines were not counted.',
      'Problem: events without a prediction, once.',
    ]);
    expect(stderr).to.include("Line 304 was not counted: The field 'approved' must be a number; it is 'maybe'.");
  });

  it('exits with 2 and the offset of the byte if events are not UTF-8', async () => {
    const lines = ['{"approved": 1, "sex": "\u00e9"}', '{"approved": 0, "sex": "\u00e8"}', ''].join('\n');
    const input = Buffer.from(lines, 'latin1');
    const { code, stderr } = await runCli(['monitor', ...COLUMNS], { input });
    expect(code).to.equal(2);
    expect(stderr).to.include(`The input is not UTF-8: byte 0xe9 at offset ${String(input.indexOf(0xe9))}.`);
  });

  it('writes its state on Ctrl-C, and exits with 130', async () => {
    const state = path.join(folder(), 'stopped.json');
    const child = spawn(process.execPath, [CLI, 'monitor', ...COLUMNS, '--state', state, '--look-every', '50'], {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdin.on('error', () => undefined);
    child.stdin.write(ndjson(decisions(3000, 100)));
    // The first alarm is printed while the input is open.
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGINT');
    expect(await closed).to.equal(130);
    expect(JSON.parse(readFileSync(state, 'utf8'))).to.have.nested.property('tracker.events', 3000);
  });

  it('exits with 1 while an alarm of an earlier run is open, and prints since when', async () => {
    const state = path.join(folder(), 'open.json');
    const rows = decisions(3000, 100);
    const args = ['monitor', ...COLUMNS, '--state', state, '--cooldown-minutes', '100000'];
    const first = await runCli(args, { input: ndjson(rows.slice(0, 2990)) });
    const second = await runCli(args, { input: ndjson(rows.slice(2990)) });
    expect([first.code, second.code]).to.deep.equal([1, 1]);
    expect(second.stdout).to.match(/^ALARM: 1 open from earlier runs\n/m);
    expect(second.stdout).to.match(/From earlier runs, open since 2023-11-1\dT\d\d:\d\dZ:\n- \(\w+\) By sex, the selection/);
    const empty = await runCli([...args, '--json'], { input: '' });
    expect(empty.code).to.equal(1);
    expect(Object.keys(JSON.parse(empty.stdout) as object)).to.deep.equal(['alerts', 'watches', 'states', 'metrics', 'preview', 'n_events', 'faults', 'refused_lines', 'warnings']);
  }); // prettier-ignore

  it('warns if an earlier run with the same state has counted a file', async () => {
    const rows = decisions(400);
    const [june, july] = [makeCsv('june.csv', rows.slice(0, 200)), makeCsv('july.csv', rows.slice(200))];
    const copy = makeCsv('copy.csv', rows.slice(0, 200));
    const state = path.join(folder(), 'monthly.json');
    const run = async (csv: string): Promise<{ warnings: string[]; n_events: number }> => {
      const { stdout } = await runCli(['monitor', '--csv', csv, ...COLUMNS, '--state', state, '--json']);
      return JSON.parse(stdout) as { warnings: string[]; n_events: number };
    };
    expect((await run(june)).warnings).to.deep.equal([]);
    expect((await run(july)).warnings).to.deep.equal([]);
    const again = await run(copy);
    expect(again.n_events).to.equal(600);
    expect(again.warnings).to.deep.equal([
      `An earlier run with this state has counted the content of '${copy}', so its events count twice. If that is not intended, start again with a new state file and count each file once.`,
    ]);
  });

  it('prints a preview of the next check at the end, and exits with 1', async () => {
    const rows = decisions(4000, 0).map((row) => ({ ...row, approved: Number(row.sex === 'male') }));
    const csv = makeCsv('preview.csv', rows.slice(0, 399));
    const state = path.join(folder(), 'preview.json');
    const { code, stdout } = await runCli(['monitor', '--csv', csv, ...COLUMNS, '--look-every', '400', '--state', state]);
    expect(code).to.equal(1);
    expect(stdout).to.include('ALARM: 1 alarm at the end of the input\n').and.include('At the end of the input (a preview; the next check with this state raises it):\n- ');
    expect(stdout).not.to.include('No alarm');
  }); // prettier-ignore

  it('prints when an alarm was raised, and later a short line while it is open', async () => {
    const rows = decisions(3000, 100).map(({ sex, ...row }) => ({ ...row, 'se\nx': `${sex}\nx` }));
    const { stdout } = await runCli(['monitor', '--y-pred', 'approved', '--sensitive', 'se\nx'], {
      input: ndjson(rows),
    });
    const lines = stdout.split('\n').filter((line) => line.startsWith('ALARM '));
    expect(lines[0]).to.match(
      /^ALARM raised 2023-11-1\dT\d\d:\d\dZ \(\w+\) se⏎x:demographic_parity_difference:1: By se x, /,
    );
    expect(lines.length).to.be.above(1);
    for (const line of lines.slice(1))
      expect(line).to.match(/^ALARM still open 2023-11-1\d\S+Z \(\w+\) se⏎x:demographic_parity_difference:1: a gap of 0\.\d{3}, at least 0\.\d{3}$/); // prettier-ignore
    expect(stdout).not.to.match(/^x/m);
  });

  for (const [what, args, input, message] of [
    ['a field that does not exist', ['--y-pred', 'approvd', '--sensitive', 'sex'], ndjson(decisions(3)),
      "Line 1 has no field 'approvd', and no event was counted. Did you mean 'approved'?"],
    ['a group column that does not exist', ['--y-pred', 'approved', '--sensitive', 'sexx'], ndjson(decisions(3)),
      "Line 1 has no field 'sexx', and no event has a group. Did you mean 'sex'?"],
    ['CSV', COLUMNS, 'approved,sex\n1,f\n', 'use --csv'],
    ['text', COLUMNS, 'hello\n', 'Line 1 is not a JSON object'],
    ['events without a prediction', COLUMNS, '{"approved":null,"sex":"a"}\n', "No event has a value of 'approved'"],
  ] as const) {
    it(`rejects a stream with ${what}, of which nothing can be counted`, async () => {
      const { code, stdout, stderr } = await runCli(['monitor', ...args], { input });
      expect(code, stderr).to.equal(2);
      expect(stderr.trim().split('\n').at(-1)).to.include(message);
      expect(stdout).to.equal('');
    });
  } // prettier-ignore

  it('rejects a file of which nothing can be counted, and a positive label that no row has', async () => {
    const file = path.join(folder(), 'void.csv');
    writeFileSync(file, 'approved,sex\n,f\n,m\n');
    const noPrediction = await runCli(['monitor', '--csv', file, ...COLUMNS]);
    expect(noPrediction.code).to.equal(2);
    expect(noPrediction.stderr).to.include('No row of ').and.to.include("has a value of 'approved'");
    writeFileSync(file, 'approved,sex\n1,\n0,\n');
    const noGroup = await runCli(['monitor', '--csv', file, ...COLUMNS]);
    expect(noGroup.code).to.equal(2);
    expect(noGroup.stderr).to.include("has a group in 'sex'");
    writeFileSync(file, 'approved,sex\nyes,f\nno,m\n');
    const label = await runCli(['monitor', '--csv', file, ...COLUMNS, '--positive-label', 'Yes']);
    expect(label.code).to.equal(2);
    expect(label.stderr).to.include("holds the positive label 'Yes'").and.to.include("are 'no', 'yes'");
  });

  it('warns about a positive label that no line has', async () => {
    const { code, stdout, stderr } = await runCli(['monitor', ...COLUMNS, '--positive-label', 'Yes'], {
      input: '{"approved":"yes","sex":"f"}\n',
    });
    expect(code).to.equal(0);
    expect(stderr).to.include("No event has the positive label 'Yes' in 'approved'.");
    expect(stdout).to.match(/^No alarm, but a label occurs in no event\n/);
    expect(stdout).to.match(/No event has the positive label 'Yes' in 'approved'\./);
  });

  it('accepts a list of metrics, and repeated metrics, and warns of a field of true labels that no event has', async () => {
    const input = ndjson(decisions(300));
    const names = ['demographic_parity_difference', 'equalized_odds_difference'];
    const run = (...args: string[]): ReturnType<typeof runCli> => runCli(['monitor', ...COLUMNS, '--y-true', 'payed', ...args, '--json'], { input }); // prettier-ignore
    const [list, repeated] = [await run('--metric', names.join(',')), await run(...names.flatMap((name) => ['--metric', name]))]; // prettier-ignore
    expect([list.code, repeated.code], repeated.stderr).to.deep.equal([0, 0]);
    const body = JSON.parse(repeated.stdout) as { states: Record<string, object>; warnings: string[] };
    expect(Object.keys(body.states['sex'] ?? {})).to.deep.equal(names);
    expect(JSON.parse(list.stdout)).to.deep.include({ states: body.states });
    expect(body.warnings).to.deep.equal(["No event has a true label in 'payed'. Labels that arrive after their events need an id (--id, id)."]); // prettier-ignore
  });

  it('warns about several labels that count as negative, of which one may mean a missing value', async () => {
    const lines = ['yes', 'no', 'k. A.', 'no'].map((approved) => ({ approved, sex: 'f' }));
    const args = ['monitor', ...COLUMNS, '--positive-label', 'yes', '--json'];
    const { stdout } = await runCli(args, { input: ndjson(lines) });
    const warning = "Several labels of 'approved' count as negative: 'no', 'k. A.'. If one means a missing value, list it in --na-values (naValues, na_values)."; // prettier-ignore
    expect((JSON.parse(stdout) as { warnings: string[] }).warnings).to.deep.equal([warning]);
    const without = await runCli([...args, '--na-values', 'k. A.'], { input: ndjson(lines) });
    expect((JSON.parse(without.stdout) as { warnings: string[] }).warnings.join()).not.to.include('Several');
  });

  for (const [what, input, found] of [
    ['no input', '', 'The input had no lines'],
    ['only blank lines', '\n \n', 'The input had only blank lines (2)'],
  ] as const) {
    it(`rejects ${what}, and writes no state for it`, async () => {
      const state = path.join(folder(), 'empty.json');
      const { code, stdout, stderr } = await runCli(['monitor', ...COLUMNS, '--state', state], { input });
      expect(code).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.include(`${found}, and no event was counted.`).and.include('Check the program before the pipe');
      expect(existsSync(state)).to.equal(false);
    });
  }

  describe('says beside the verdict how many events could not be used', () => {
    const renamed = decisions(5000).map(({ sex, ...row }, index) => (index < 100 ? { ...row, sex } : { ...row, sx: sex }));
    const title = 'No alarm, but 4,900 of 5,000 events could not be used';

    it('on stdin, if a field is renamed in the middle of the stream', async () => {
      const out = path.join(folder(), 'renamed');
      const args = ['monitor', ...COLUMNS, '--output-dir', out];
      const { code, stdout, stderr } = await runCli(args, { input: ndjson(renamed) });
      expect(code, stderr).to.equal(0);
      expect(stdout.split('\n')[0]).to.equal(title);
      const sentence = "4,900 of 5,000 events have no usable group in 'sex', so its metrics do not count them.";
      expect(joinLines(stdout)).to.include(sentence);
      expect(readFileSync(path.join(out, 'report.md'), 'utf8')).to.include(sentence);
      expect(readFileSync(path.join(out, 'dashboard.html'), 'utf8')).to.include('4,900 of 5,000 events have no usable group');
    });

    it('of a file, also if an alarm was raised', async () => {
      const file = path.join(folder(), 'gaps.csv');
      const rows = renamed.map(({ approved, sex = '' }: { approved: number; sex?: string }) => `${String(approved)},${sex}`);
      writeFileSync(file, ['approved,sex', ...rows].join('\n'));
      expect((await runCli(['monitor', '--csv', file, ...COLUMNS])).stdout.split('\n')[0]).to.equal(title);
      const breach = decisions(5000, 0).map(({ approved, sex }, row) => `${row % 5 === 0 ? '' : String(approved)},${sex}`);
      writeFileSync(file, ['approved,sex', ...breach].join('\n'));
      const { code, stdout } = await runCli(['monitor', '--csv', file, ...COLUMNS]);
      expect(code).to.equal(1);
      expect(stdout.split('\n')[0]).to.equal('ALARM: 1 alarm raised; 1,000 of 5,000 events could not be used');
      expect(joinLines(stdout)).to.include('1,000 of 5,000 events have no prediction or no weight, and are not counted.');
    });

    it('and how many lines could not be counted', async () => {
      const input = `${ndjson(decisions(3000))}not JSON\n[]\n`;
      const { stdout } = await runCli(['monitor', ...COLUMNS], { input });
      expect(stdout.split('\n')[0]).to.equal('No alarm, but 2 lines could not be counted');
    });
  }); // prettier-ignore

  it('warns of groups whose labels look alike, on the console and in the reports', async () => {
    const out = path.join(folder(), 'alike');
    const spellings = ['Female', 'FEMALE', 'Female ', ' female', 'male', 'male'];
    const rows = decisions(3000).map((row, index) => ({ ...row, sex: spellings[index % 6] }));
    const { code, stdout } = await runCli(['monitor', ...COLUMNS, '--output-dir', out], { input: ndjson(rows) });
    expect(code).to.equal(0);
    const warning =
      "Groups of 'sex' differ only by case, spaces or Unicode form: ' female' (500 events), 'FEMALE' (500 events), 'Female' (500 events), 'Female ' (500 events); each is measured as a separate group.";
    expect(joinLines(stdout)).to.include(warning);
    expect(readFileSync(path.join(out, 'report.md'), 'utf8')).to.include(warning);
    expect(readFileSync(path.join(out, 'dashboard.html'), 'utf8')).to.include('differ only by case, spaces or Unicode form');
  }); // prettier-ignore

  it('resumes from its state for any first line', async () => {
    const state = path.join(folder(), 'firsts.json');
    const args = ['monitor', ...COLUMNS, '--id', 'case', '--y-true', 'repaid', '--state', state];
    const rows = decisions(200).map((row, index) => ({ ...row, case: index }));
    const parts = [
      `\n${JSON.stringify({ case: 900, repaid: 1 })}\n${ndjson(rows.slice(0, 100))}`,
      ndjson([{ case: 3, repaid: 1 }]),
      '',
      `\n${ndjson(rows.slice(100).map(({ timestamp: _, ...row }) => row))}`,
    ];
    for (const input of parts) {
      const { code, stderr } = await runCli(args, { input });
      expect(code, stderr).to.equal(0);
    }
    const saved = JSON.parse(readFileSync(state, 'utf8')) as { tracker: { events: number; options: { columns: object } } };
    expect(saved.tracker.events).to.equal(200);
    expect(saved.tracker.options.columns).to.have.property('timestamp', 'timestamp');
  }); // prettier-ignore

  it('rejects a state with another alpha, limit or detector, and accepts one with another cooldown', async () => {
    const state = path.join(folder(), 'policy.json');
    const run = (...more: readonly string[]): ReturnType<typeof runCli> =>
      runCli(['monitor', ...COLUMNS, '--state', state, ...more], { input: ndjson(decisions(50)) });
    expect((await run()).code).to.equal(0);
    for (const [option, value] of [['--alpha', '0.01'], ['--limit', '0.2'], ['--detector', 'cusum']] as const) {
      const { code, stderr } = await run(option, value);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.include('is from a run with other options');
    }
    expect((await run('--cooldown-minutes', '5', '--persistence', '2')).code).to.equal(0);
  }); // prettier-ignore

  it('writes at each refresh even without input, and ends at once on an error', async () => {
    const state = path.join(folder(), 'idle.json');
    const child = spawn(
      process.execPath,
      [CLI, 'monitor', ...COLUMNS, '--state', state, '--refresh-seconds', '0.2', '--look-every', '1000000'],
      { stdio: ['pipe', 'pipe', 'pipe'], timeout: 60_000 },
    );
    const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdin.write(ndjson(decisions(3000, 100)));
    // The alarm is printed at the first refresh, long before the next check by number of events.
    await new Promise((resolve) => child.stdout.once('data', resolve));
    while (!existsSync(state)) await new Promise((resolve) => setTimeout(resolve, 20));
    child.stdin.end();
    expect(await closed).to.equal(1);
    const stuck = spawn(process.execPath, [CLI, 'monitor', ...COLUMNS, '--metric', 'parity'], { timeout: 60_000 });
    const code = await new Promise<number | null>((resolve) => stuck.on('close', resolve));
    expect(code).to.equal(2);
  });

  it('continues if an output cannot be written, prints the result, and then fails', async () => {
    const out = path.join(folder(), 'blocked');
    const child = spawn(
      process.execPath,
      [CLI, 'monitor', ...COLUMNS, '--output-dir', out, '--refresh-seconds', '0.5', '--look-every', '100'],
      { stdio: ['pipe', 'pipe', 'pipe'], timeout: 60_000 },
    );
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
    const warned = new Promise<void>((resolve) => {
      child.stderr.on('data', (data: Buffer) => {
        stderr += data.toString();
        if (stderr.includes('Monitoring continues')) resolve();
      });
    });
    // The path is blocked after it was checked: the first line is printed when the input is open.
    const ready = new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdin.write(ndjson(decisions(3000, 100)));
    await ready;
    rmSync(out, { recursive: true, force: true });
    writeFileSync(out, 'in the way');
    await warned;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    child.stdin.end();
    expect(await closed).to.equal(2);
    expect(stdout).to.include('3,000 events');
    expect(stderr.split('Monitoring continues').length - 1, stderr).to.equal(1);
    expect(stderr).to.match(/error: Cannot write/);
    expect(stderr).not.to.include(`Wrote ${out}`);
  });

  it('does not report outputs as written if they could not be written', async function () {
    if (!existsSync('/dev/full')) this.skip();
    const [records, alerts] = ['full.csv', 'full.ndjson'].map((name) => path.join(folder(), name)) as [string, string];
    for (const link of [records, alerts]) symlinkSync('/dev/full', link);
    const { code, stderr } = await runCli(['monitor', ...COLUMNS, '--records', records, '--alerts', alerts], {
      input: ndjson(decisions(3000, 100)),
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(/records could not be written: the disk is full/);
    expect(stderr).to.match(/messages could not be delivered by ndjson/);
    expect(stderr).not.to.include('Wrote');
  });

  it('prints the number of events, and which metrics are inconclusive and why', async () => {
    const rows = decisions(2).reverse();
    const { stdout, stderr } = await runCli(['monitor', ...COLUMNS], { input: ndjson(rows) });
    expect(stdout).to.match(/^2 events, /m);
    expect(stdout).to.match(/\n- sex, demographic_parity_difference: Inconclusive: /);
    expect(stderr).to.include('events older than the one before, once');
    expect((await runCli(['monitor', ...COLUMNS], { input: ndjson(decisions(1)) })).stdout).to.match(/^1 event,/m);
  });

  it('asks whether a column with too many groups is an id @slow', async () => {
    const rows = Array.from({ length: 10_002 }, (_, row) => ({ approved: row % 2, sex: `p${String(row)}` }));
    const { stderr } = await runCli(['monitor', ...COLUMNS, '--look-every', '1000000'], { input: ndjson(rows) });
    expect(stderr).to.include("more than 10,000 groups in 'sex', 2 times. Is it an id?");
  }).timeout(180_000);

  for (const [what, args, input, message] of [
    ['no sensitive column', ['--y-pred', 'approved'], '', 'Missing: --sensitive'],
    ['a file that does not exist', ['--csv', 'nowhere.csv', ...COLUMNS], '', 'nowhere.csv'],
    ['a limit below 0', [...COLUMNS, '--limit', '-1'], '', '--limit'],
    ['an alpha of 1', [...COLUMNS, '--alpha', '1'], '', '--alpha'],
    ['an unknown metric', [...COLUMNS, '--metric', 'parity'], '', "no metric named 'parity'"],
    [
      'a metric that needs labels',
      [...COLUMNS, '--metric', 'equalized_odds_difference'],
      '',
      'Set --y-true, or --id for labels',
    ],
    [
      'a column used for two purposes',
      ['--y-pred', 'sex', '--sensitive', 'sex'],
      '',
      'has two roles: --y-pred and --sensitive',
    ],
    [
      'a window that is too large',
      [...COLUMNS, '--window-size', '100000001'],
      '',
      '--window-size must be at most 100000000',
    ],
    [
      'a window smaller than a group',
      [...COLUMNS, '--window-size', '20'],
      '',
      '--window-size must be at least --min-group-size (30)',
    ],
    [
      'a limit that no rate can reach',
      [...COLUMNS, '--limit', '5'],
      '',
      '--limit: demographic_parity_difference is at most 1, so that 5 always passes. For 5 percent write 0.05.',
    ],
    [
      'alerts in a format other than JSON lines',
      [...COLUMNS, '--alerts', 'alerts.csv'],
      '',
      '--alerts: the name must end in .ndjson or .jsonl',
    ],
    [
      'records in an unknown format',
      [...COLUMNS, '--records', 'records.txt'],
      '',
      '--records: the name must end in .csv, .ndjson or .jsonl',
    ],
    [
      'a state that is a folder',
      [...COLUMNS, '--state', 'folder.json'],
      '',
      "Cannot write 'folder.json': it is a folder.",
    ],
    [
      'records that are a folder',
      [...COLUMNS, '--records', 'folder.csv'],
      '',
      "Cannot write 'folder.csv': it is a folder.",
    ],
    ['a horizon of labels without ids', [...COLUMNS, '--label-horizon', '9'], '', '--label-horizon is about events with ids: add --id.'], // prettier-ignore
    ['a detector that nobody knows', [...COLUMNS, '--detector', 'adwn'], '', 'adwin'],
    ['a webhook that is no address', [...COLUMNS, '--webhook', 'ftp://x'], '', 'http'],
    ['brokers without a topic', [...COLUMNS, '--kafka', 'h:1'], '', '--kafka names the brokers and --topic the topic'],
    ['a stream in Redis without Redis', [...COLUMNS, '--redis-stream', 's'], '', 'add --redis'],
    ['Redis without a stream', [...COLUMNS, '--redis', 'redis://h'], '', '--redis holds the state of a stream'],
    ['two sources', [...COLUMNS, ...TOPIC, '--csv', 'package.json'], '', 'one of --csv, --kafka and --redis-stream'],
    ['an option of a broker for stdin', [...COLUMNS, '--until-end'], '', '--until-end is about a stream at a broker'],
    ['a state file beside Redis', [...COLUMNS, ...TOPIC, ...REDIS, '--state', 's.json'], '', 'leave out --state'],
    [
      'a detector beside Redis',
      [...COLUMNS, ...TOPIC, ...REDIS, '--detector', 'adwin'],
      '',
      'leave out --look-every and --detector',
    ],
    [
      'a prefix without Redis',
      [...COLUMNS, ...TOPIC, '--redis-prefix', 'x'],
      '',
      '--redis-prefix is about the state in Redis',
    ],
    ['TLS of Kafka for Redis', [...COLUMNS, '--redis-stream', 's', ...REDIS, '--kafka-tls'], '', 'rediss://'],
    ['a consumer of Kafka', [...COLUMNS, ...TOPIC, '--consumer', 'c'], '', 'Kafka assigns partitions itself'],
    [
      'an address of Kafka with a password',
      [...COLUMNS, '--kafka', 'ana:secret@h:1', '--topic', 't'],
      '',
      'Write host:port',
    ],
    [
      'a URL of Redis with a password',
      [...COLUMNS, ...TOPIC, '--redis', 'redis://ana:secret@h'],
      '',
      'EVENHAND_REDIS_PASSWORD',
    ],
    ['a Kafka that does not answer', [...COLUMNS, ...TOPIC], '', 'Kafka at 127.0.0.1:1 does not answer'],
    [
      'a Redis that does not answer',
      [...COLUMNS, '--redis-stream', 's', ...REDIS],
      '',
      'Redis at 127.0.0.1:1 does not answer',
    ],
    ['a file that is not a state', [...COLUMNS, '--state', 'package.json'], '', 'does not hold the state'],
  ] as const) {
    it(`rejects ${what} on one line`, async () => {
      for (const name of ['folder.json', 'folder.csv']) mkdirSync(path.join(folder(), name), { recursive: true });
      const { code, stdout, stderr } = await runCli(['monitor', ...args], {
        input,
        cwd: what === 'a file that is not a state' ? path.resolve(import.meta.dirname, '../..') : folder(),
      });
      expect(code, stderr).to.equal(2);
      expect(stderr)
        .to.include(message)
        .and.to.match(/^[^\n]+\n$/);
      expect(stdout).to.equal('');
      expect(stderr).not.to.include('secret');
    });
  }
});
