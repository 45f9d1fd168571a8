import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import fc from 'fast-check';

import type { MonitorOutcome } from '../../src/integration/monitor/monitor-outcome.ts';
import { monitorToJson, runMonitor } from '../../src/integration/monitor/run-monitor.ts';
import { createRandom } from '../../src/internal/random.ts';
import { monitorSchema } from '../../src/schemas/monitor.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const EVENTS = 1500;

/** Events with late labels, a repeated id, a missing decision and an invalid line; women are approved less often. */
function makeLines(): string[] {
  const random = createRandom(11);
  const lines: string[] = [];
  for (let row = 0; row < EVENTS; row++) {
    const sex = random.next() < 0.5 ? 'f' : 'm';
    const rate = row >= 300 && sex === 'f' ? 0.2 : 0.75;
    const approved = row % 97 === 5 ? null : Number(random.next() < rate);
    const at = new Date(1_700_000_000_000 + 60_000 * row).toISOString();
    lines.push(JSON.stringify({ case: row % 89 === 0 ? 0 : row, timestamp: at, approved, sex }));
    if (row > 50 && row % 3 === 0) lines.push(JSON.stringify({ case: row - 50, repaid: Number(random.next() < 0.5) }));
    if (row % 211 === 0) lines.push('no JSON');
  }
  return lines;
}

interface Files {
  readonly state: string;
  readonly records: string;
  readonly alerts: string;
}

describe('a monitoring run that stops and is resumed', () => {
  const root = useTemporaryFolder();
  const lines = makeLines();

  function filesIn(folder: string): Files {
    return {
      state: path.join(folder, 'state.json'),
      records: path.join(folder, 'records.csv'),
      alerts: path.join(folder, 'alerts.ndjson'),
    };
  }
  const freshFiles = (): Files => filesIn(mkdtempSync(path.join(root(), 'run-')));

  async function run(files: Files, part: readonly string[], more: object = {}): Promise<MonitorOutcome> {
    const request = monitorSchema.parse({
      yPred: 'approved',
      yTrue: 'repaid',
      id: 'case',
      attributes: [['sex']],
      timestamp: 'timestamp',
      windowSize: 400,
      ...files,
      ...more,
    });
    return runMonitor(request, {
      // eslint-disable-next-line @typescript-eslint/require-await -- the lines are there
      openLines: async function* () {
        yield* part;
      },
    });
  }

  /** All outputs of a run, and its reports over all parts. */
  async function runInParts(cuts: readonly number[]): Promise<object> {
    const files = freshFiles();
    const bounds = [0, ...[...cuts].sort((a, b) => a - b), lines.length];
    const outcomes: MonitorOutcome[] = [];
    for (let part = 1; part < bounds.length; part++) {
      outcomes.push(await run(files, lines.slice(bounds[part - 1], bounds[part])));
    }
    const last = outcomes.at(-1) as MonitorOutcome;
    const { alerts: _, watches: __, ...end } = monitorToJson(last);
    // The checksum also depends on the order of members.
    const { sha256: ___, ...state } = JSON.parse(readFileSync(files.state, 'utf8')) as Record<string, unknown>;
    return {
      alerts: outcomes.flatMap(({ alerts }) => alerts),
      watches: outcomes.flatMap(({ watches }) => watches),
      end,
      view: last.view,
      windowEvents: last.windowEvents,
      state,
      records: readFileSync(files.records, 'utf8'),
      alertLines: readFileSync(files.alerts, 'utf8'),
    };
  }

  let complete: object;
  before(async () => {
    complete = await runInParts([]);
  });

  it('raises alarms and records, so that there is something to compare', () => {
    expect(complete).to.have.property('alerts').with.length.above(0);
    expect(complete).to.have.property('watches').with.length.above(0);
    expect((complete as { records: string }).records.split('\n').length).to.be.above(50);
  });

  it('gives the same fields as a run without a break, for every position of the break', async function () {
    this.timeout(120_000);
    const cut = fc.integer({ min: 1, max: lines.length - 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 4 }), async (cuts) => {
        expect(await runInParts(cuts)).to.deep.equal(complete);
      }),
      { numRuns: 12, seed: 26, examples: [[[1]], [[99]], [[100]], [[101]], [[50, 51, 52]], [[lines.length - 1]]] },
    );
  });

  it('replays a file in parts with the same result', async () => {
    const rows = lines.flatMap((line) => {
      if (!line.includes('approved')) return [];
      const { timestamp, approved, sex } = JSON.parse(line) as Record<string, string | number | null>;
      return [`${String(timestamp)},${String(approved ?? '')},${String(sex)}`];
    });
    const replay = async (cuts: readonly number[]): Promise<unknown> => {
      const files = freshFiles();
      const bounds = [0, ...cuts, rows.length];
      for (let part = 1; part < bounds.length; part++) {
        const csv = `${files.state}.csv`;
        writeFileSync(csv, ['timestamp,approved,sex', ...rows.slice(bounds[part - 1], bounds[part])].join('\n'));
        await run(files, [], { csv, id: undefined, yTrue: undefined });
      }
      const [state = '', ...others] = [files.state, files.records, files.alerts].map((file) =>
        readFileSync(file, 'utf8'),
      );
      // The state lists the checksums of the files that were read, which are others if there are more parts.
      const { files: sums, sha256: _, ...counts } = JSON.parse(state) as { files: string[]; sha256: string };
      expect(sums).to.have.length(cuts.length + 1);
      return [JSON.stringify(counts), ...others];
    };
    const inOne = await replay([]);
    for (const cuts of [[1], [149, 150], [700, 1111]]) expect(await replay(cuts)).to.deep.equal(inOne);
  });

  it('reports a preview of the next check at its end, and does not count it', async () => {
    const files = freshFiles();
    const event = (row: number): string =>
      JSON.stringify({ case: row, timestamp: new Date(6e7 * (row + 1)).toISOString(), approved: row % 2, sex: 'fm'[row % 2] });
    const sharp = Array.from({ length: 400 }, (_, row) => event(row));
    const outcome = await run(files, sharp.slice(0, 399), { lookEvery: 400 });
    expect(outcome.alerts).to.deep.equal([]);
    expect(outcome.isAlarmed).to.equal(true);
    expect(monitorToJson(outcome)).to.have.nested.property('preview.alerts').with.length(1);
    expect(outcome.states).to.have.nested.property('sex.demographic_parity_difference', 'breach');
    expect(JSON.parse(readFileSync(files.state, 'utf8'))).to.have.nested.property('engine.seen', '');
    expect(readFileSync(files.alerts, 'utf8')).to.equal('');
    const next = await run(files, sharp.slice(399), { lookEvery: 400 });
    expect(next.alerts).to.have.length(1);
    expect(next.alerts[0]).to.include({ id: 'sex:demographic_parity_difference:1' });
  }); // prettier-ignore

  it('adds no record and no alert twice if it is killed and restarted from the beginning', async () => {
    const unbroken = freshFiles();
    await run(unbroken, lines);
    const killed = freshFiles();
    await run(killed, lines.slice(0, 700));
    const state = readFileSync(killed.state, 'utf8');
    // A killed process leaves records and alerts that are later than its last state.
    await run(killed, lines.slice(700, 1400));
    writeFileSync(killed.state, state);
    await run(killed, lines);
    for (const name of ['records', 'alerts'] as const) {
      expect(readFileSync(killed[name], 'utf8'), name).to.equal(readFileSync(unbroken[name], 'utf8'));
    }
  });
});

describe('the JSON of a monitoring run', () => {
  it('has the gap of each metric, its interval and the two groups', async () => {
    // Agresti and Caffo: with one success and one failure more in each group the rates are 61/102 and 46/102, and
    // 15/102 -+ 1.959964 sqrt((61 * 41 + 46 * 56) / 102^3) = 0.147059 -+ 0.135567.
    const counts = { m: 60, f: 45 };
    const request = monitorSchema.parse({ yPred: 'approved', attributes: [['sex']], timestamp: 'at', limit: 0.9 });
    const lines = Object.entries(counts).flatMap(([sex, approved]) =>
      Array.from({ length: 100 }, (_, row) => JSON.stringify({ at: row + 1, sex, approved: Number(row < approved) })),
    );
    // eslint-disable-next-line @typescript-eslint/require-await -- the lines are there
    const outcome = await runMonitor(request, { openLines: async function* () { yield* lines; } }); // prettier-ignore
    const { metrics } = monitorToJson(outcome) as { metrics: Record<string, Record<string, Record<string, number>>> };
    const entry = metrics['sex']?.['demographic_parity_difference'] ?? {};
    expect(entry).to.deep.include({
      state: 'within',
      groups: ['m', 'f'],
      rates: [0.6, 0.45],
      measure: 'selection_rate',
      n: 100,
      window_events: 200,
      limit: 0.9,
    });
    expect(entry['value']).to.be.closeTo(0.15, 1e-12);
    expect(entry['low']).to.be.closeTo(0.011492, 1e-5);
    expect(entry['high']).to.be.closeTo(0.282626, 1e-5);
  });

  it('has null for an undefined gap', async () => {
    const request = monitorSchema.parse({ yPred: 'approved', attributes: [['sex']] });
    // eslint-disable-next-line @typescript-eslint/require-await -- the line is available already
    const outcome = await runMonitor(request, { openLines: async function* () { yield '{"approved":1,"sex":"f"}'; } }); // prettier-ignore
    expect(monitorToJson(outcome)).to.have.nested.property('metrics.sex.demographic_parity_difference').that.deep.equals({
      state: 'unknown', value: null, low: null, high: null, groups: null, rates: null, n: null,
      measure: 'selection_rate', window_events: 1, limit: 0.1,
    }); // prettier-ignore
  });
});
