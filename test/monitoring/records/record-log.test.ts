import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { RecordLog } from '../../../src/monitoring/records/record-log.ts';
import { recordsAt, sampleRecord } from './sample-record.ts';

const values = (log: RecordLog) => log.toRecords().map(({ value }) => value);

describe('RecordLog', () => {
  it('is empty at first', () => {
    const log = new RecordLog();
    expect([log.length, log.index.length, log.toRecords(), log.toTable().rowCount]).to.deep.equal([0, 0, [], 0]);
    expect(log.between(-Infinity, Infinity).length).to.equal(0);
    expect(log.thin(2)).to.equal(0);
  });

  it('returns the records that were added, with empty, missing or unusual labels', () => {
    const records = [
      sampleRecord({ group: '' }),
      sampleRecord({ group: null, value: null, low: null, high: null }),
      sampleRecord({ group: 'a,"b"\n', attribute: '', metric: '__proto__', window: 'cumulative', n: 0 }),
      sampleRecord({ group: 'constructor', value: -0.1 + 0.3, low: 5e-324, high: 1.7976931348623157e308 }),
    ];
    expect(RecordLog.from(records).toRecords()).to.deep.equal(records);
  });

  it('keeps many records unchanged', () => {
    const records = recordsAt(...Array.from({ length: 1000 }, (_, position) => position * 7));
    const log = new RecordLog();
    for (const record of records) log.append([record]);
    expect(log.toRecords()).to.deep.equal(records);
    expect([...log.index]).to.deep.equal(records.map(({ timestamp }) => Date.parse(timestamp)));
  });

  it('has its times as index, and not as a column of its table', () => {
    const log = RecordLog.from([sampleRecord({ group: 'b' }), sampleRecord({ group: null, value: null })]);
    const table = log.toTable();
    expect(table.columnNames).to.deep.equal([
      'metric', 'attribute', 'group', 'window', 'value', 'n', 'low', 'high',
    ]); // prettier-ignore
    expect(table.toColumns()['group']).to.deep.equal(['b', null]);
    expect(table.toColumns()['value']).to.deep.equal([0.1, null]);
    expect(table.rowCount).to.equal(log.index.length);
    log.index.fill(0);
    expect(log.index[0]).to.equal(Date.UTC(2024, 4, 1));
  });

  it('sorts late records by time and keeps records with the same time in the order of arrival', () => {
    const log = RecordLog.from(recordsAt(30, 10, 20, 10));
    log.append([sampleRecord({ timestamp: new Date(15).toISOString(), value: 9 })]);
    expect([...log.index]).to.deep.equal([10, 10, 15, 20, 30]);
    expect(values(log)).to.deep.equal([1, 3, 9, 2, 0]);
  });

  it('reads times of any zone, in UTC without one', () => {
    const log = RecordLog.from(
      ['2024-05-01T02:00:00+02:00', '2024-05-01 00:00:00', '2024-05-01'].map((timestamp) =>
        sampleRecord({ timestamp }),
      ),
    );
    expect([...new Set(log.index)]).to.deep.equal([Date.UTC(2024, 4, 1)]);
  });

  for (const [from, to, expected] of [
    [10, 30, [0, 1, 2]],
    [11, 29, [1]],
    [20, 20, [1]],
    [30, 10, []],
    [31, 99, []],
    ['1970-01-01T00:00:00.020Z', '2000-01-01', [1, 2]],
  ] as const) {
    it(`has ${JSON.stringify(expected)} of three times between ${from} and ${to}, both included`, () => {
      expect(values(RecordLog.from(recordsAt(10, 20, 30)).between(from, to))).to.deep.equal(expected);
    });
  }

  for (const bad of ['yesterday', NaN, '2024-02-30', '2024-01-01T25:00']) {
    it(`rejects ${bad} as an end of a range`, () => {
      expect(() => new RecordLog().between(bad, 5)).to.throw(ValueError, /from parameter must be a time/);
      expect(() => new RecordLog().between(5, bad)).to.throw(ValueError, /to parameter must be a time/);
    });
  }

  describe('thin', () => {
    // Every second time is dropped and the last is kept; computed by hand.
    for (const [held, most, kept] of [
      [5, 5, [0, 1, 2, 3, 4]],
      [5, 4, [0, 2, 4]],
      [6, 5, [0, 2, 4, 5]],
      [6, 3, [0, 4, 5]],
      [6, 2, [0, 5]],
      [2, 2, [0, 1]],
      [1, 2, [0]],
    ] as const) {
      it(`keeps ${JSON.stringify(kept)} of ${held} times if at most ${most} are allowed`, () => {
        const log = RecordLog.from(recordsAt(...Array.from({ length: held }, (_, position) => position)));
        expect(log.thin(most)).to.equal(held - kept.length);
        expect([...log.index]).to.deep.equal(kept);
      });
    }

    it('counts times, not records, and drops all records of a time', () => {
      const log = RecordLog.from(recordsAt(1, 1, 1, 2, 2, 2, 3, 3, 3));
      expect(log.thin(3)).to.equal(0);
      expect(log.thin(2)).to.equal(3);
      expect([...log.index]).to.deep.equal([1, 1, 1, 3, 3, 3]);
    });

    it('bounds the number of times for endless records, and keeps the first and the last time', () => {
      const log = new RecordLog();
      for (let time = 0; time < 5000; time++) {
        log.append(recordsAt(time, time));
        log.thin(50);
        expect(log.length).to.be.at.most(100);
        expect([log.index[0], log.index.at(-1)]).to.deep.equal([0, time]);
      }
      const steps = [...new Set(log.index)].map((time, position, all) => time - (all[position - 1] ?? 0));
      // Even steps: the smallest power of two for which 5000 times and the last one are at most 50.
      expect(Math.max(...steps)).to.equal(128);
    });

    it('continues with the same steps after its state was saved and restored', () => {
      const complete = new RecordLog();
      let resumed = new RecordLog();
      for (let time = 0; time < 300; time++) {
        for (const log of [complete, resumed]) log.append(recordsAt(time));
        for (const log of [complete, resumed]) log.thin(10);
        if (time % 37 === 0) resumed = RecordLog.restore(JSON.parse(JSON.stringify(resumed.state())));
      }
      expect([...resumed.index]).to.deep.equal([...complete.index]);
    });

    it('keeps only the ends if the time that was added first lies between them', () => {
      const log = RecordLog.from(recordsAt(5, 1, 9));
      expect(log.thin(2)).to.equal(1);
      expect([...log.index]).to.deep.equal([1, 9]);
    });

    it('counts the times of a range from its beginning', () => {
      const part = RecordLog.from(recordsAt(0, 1, 2, 3, 4, 5)).between(1, 5);
      part.thin(4);
      expect([...part.index]).to.deep.equal([1, 3, 5]);
    });

    for (const bad of [1, 0, -1, 2.5, NaN, '3' as never]) {
      it(`rejects ${bad} as the maximum`, () => {
        expect(() => new RecordLog().thin(bad)).to.throw(ValueError, /most parameter/);
      });
    }
  });

  describe('its state', () => {
    const log = RecordLog.from([
      sampleRecord({ group: 'f', value: null }),
      sampleRecord({ window: 'cumulative' }),
      ...recordsAt(5, 3),
    ]);
    const state = () => JSON.parse(JSON.stringify(log.state())) as Record<string, unknown>;

    it('is restored unchanged from JSON, and can be continued', () => {
      const restored = RecordLog.restore(state());
      expect(restored.toRecords()).to.deep.equal(log.toRecords());
      expect(restored.state()).to.deep.equal(log.state());
      restored.append([sampleRecord({ group: 'f' })]);
      expect(restored.length).to.equal(log.length + 1);
    });

    for (const [title, change, position] of [
      ['null', () => null, 'kind'],
      ['a different kind', (s) => ({ ...s, kind: 'x' }), 'kind'],
      ['decreasing times', (s) => ({ ...s, time: [3, 2, 1, 0] }), 'time[1]'],
      ['a time that is text', (s) => ({ ...s, time: ['3', 4, 5, 6] }), 'time[0]'],
      ['no times', (s) => ({ ...s, time: undefined }), 'time should be a list'],
      ['an ordinal above the number of times', (s) => ({ ...s, ordinal: [0, 1, 2, 99] }), 'ordinal[3]'],
      ['a fractional number of times', (s) => ({ ...s, times: 4.5 }), 'times should'],
      ['too few values', (s) => ({ ...s, value: [1] }), 'value has 1 entries; expected 4'],
      ['a value that is text', (s) => ({ ...s, low: [1, 2, 'x', 3] }), 'low[2]'],
      ['a missing n', (s) => ({ ...s, n: [1, 2, null, 3] }), 'n[2]'],
      ['a code without label', (s) => ({ ...s, metric: { labels: ['m'], codes: [0, 0, 0, 1] } }), 'metric.codes[3]'],
      ['a missing metric', (s) => ({ ...s, metric: { labels: ['m'], codes: [0, 0, 0, -1] } }), 'metric.codes[3]'],
      ['an unknown window', (s) => ({ ...s, window: { labels: ['w'], codes: [0, 0, 0, 0] } }), 'window.labels[0]'],
      ['labels that are numbers', (s) => ({ ...s, group: { labels: [1], codes: [0, 0, 0, 0] } }), 'group.labels[0]'],
    ] as readonly (readonly [string, (s: Record<string, unknown>) => unknown, string])[]) {
      it(`is rejected with ${title}`, () => {
        expect(() => RecordLog.restore(change(state()))).to.throw(DataValidationError, position);
      });
    }
  });

  for (const [field, bad] of [
    ['timestamp', 'soon'],
    ['timestamp', 5],
    ['metric', undefined],
    ['attribute', null],
    ['group', undefined],
    ['window', 'all'],
    ['value', NaN],
    ['value', '0.5'],
    ['n', -1],
    ['n', null],
    ['low', Infinity],
    ['high', undefined],
  ] as const) {
    it(`rejects a record whose ${field} is ${String(bad)}, and keeps none of its batch`, () => {
      const log = new RecordLog();
      const batch = [sampleRecord(), { ...sampleRecord(), [field]: bad }];
      expect(() => {
        log.append(batch);
      }).to.throw(DataValidationError, `The ${field} of records[1]`);
      expect(log.length).to.equal(0);
    });
  }
});
