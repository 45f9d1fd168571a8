import { expect } from 'chai';

import { DARK, LIGHT } from '../../../src/charts/palette.ts';
import type { MonitorState } from '../../../src/monitoring/alarms/alert-event.ts';
import { HEAT_STEPS, heatTable } from '../../../src/monitoring/dashboard/crossed-table.ts';
import { HEAT_DARK, HEAT_LIGHT, STATES_DARK, STATES_LIGHT } from '../../../src/monitoring/dashboard/dashboard-style.ts';
import { differences } from '../../../src/monitoring/dashboard/dashboard-to-html.ts';
import { attributeGroups, drawnGroups, HistoryIndex, thinned } from '../../../src/monitoring/dashboard/drawn-groups.ts';
import type { CrossedCells, MonitoringView, WatchedMetric } from '../../../src/monitoring/dashboard/monitoring-view.ts';
import { headlineOf } from '../../../src/monitoring/dashboard/state-words.ts';
import type { MonitoringRecord } from '../../../src/monitoring/records/monitoring-record.ts';
import { contrast } from '../../charts/contrast.ts';
import { emptyView, fullView } from './views.ts';

const viewIn = (...states: readonly MonitorState[]): MonitoringView => ({
  ...emptyView(),
  nEvents: 10,
  watched: states.map((state) => ({ ...(emptyView().watched[0] as WatchedMetric), state })),
});

describe('the headline', () => {
  for (const [states, title] of [
    [[], 'No metric is watched'],
    [['breach'], 'The metric is in breach'],
    [['within'], 'The metric is within its limit'],
    [['within', 'within'], 'All 2 metrics are within their limits'],
    [['within', 'breach'], '1 of 2 metrics is in breach'],
    [['breach', 'watch', 'breach'], '2 of 3 metrics are in breach'],
    [['within', 'watch', 'unknown'], 'No breach; 1 of 3 metrics is on watch'],
    [['within', 'unknown', 'unknown'], 'No breach was found; 2 of 3 metrics are inconclusive'],
  ] as const) {
    it(`of ${states.join(', ') || 'nothing'} is "${title}"`, () => {
      expect(headlineOf(viewIn(...states)).title).to.equal(title);
    });
  }

  it('counts open alarms, and never a watch', () => {
    const { sentences } = headlineOf(fullView());
    expect(sentences.at(-1)).to.equal('2 alarms are open, 1 not acknowledged.');
    expect(headlineOf({ ...fullView(), alerts: fullView().alerts.slice(1, 2) }).sentences.at(-1)).to.equal(
      '1 alarm is open, all acknowledged.',
    );
    expect(headlineOf({ ...fullView(), alerts: fullView().alerts.slice(2) }).sentences.at(-1)).to.equal(
      'No alarm is open.',
    );
  });
});

const rate = (group: string, value: number | null, n = 100): MonitoringRecord => ({
  timestamp: '2026-01-01T00:00:00.000Z',
  metric: 'selection_rate',
  attribute: 'a',
  group,
  window: 'cumulative',
  value,
  n,
  low: null,
  high: null,
});
const watchedOf = (
  overall: readonly MonitoringRecord[],
  now: readonly MonitoringRecord[] = overall,
): WatchedMetric => ({
  ...(emptyView().watched[0] as WatchedMetric),
  attribute: 'a',
  overall,
  now,
});

describe('the groups that a chart draws', () => {
  it('are all of up to eight, by label, each with the same colour in every chart', () => {
    const watched = watchedOf(['c', 'a', 'b'].map((group, index) => rate(group, index / 10)));
    const labels = attributeGroups([watched], 'a');
    expect(labels).to.deep.equal(['a', 'b', 'c']);
    const { groups, total } = drawnGroups(watched, 'selection_rate', labels);
    expect(total).to.equal(3);
    expect(groups.map(({ label, look: check, hasBand }) => [label, check, hasBand])).to.deep.equal([
      ['a', 0, true],
      ['b', 1, true],
      ['c', 2, true],
    ]);
  });

  it('are the three lowest, the three highest and the two largest of the others, for any order of records', () => {
    const records = Array.from({ length: 30 }, (_, index) =>
      rate(`g${String(index).padStart(2, '0')}`, index / 30, index === 11 || index === 20 ? 900 : 100 + index),
    );
    for (const ordered of [records, [...records].reverse()]) {
      const { groups, total } = drawnGroups(
        watchedOf(ordered),
        'selection_rate',
        attributeGroups([watchedOf(ordered)], 'a'),
      );
      expect(total).to.equal(30);
      expect(groups.map(({ label }) => label)).to.deep.equal(['g00', 'g01', 'g02', 'g11', 'g20', 'g27', 'g28', 'g29']);
      expect(groups.filter(({ hasBand }) => hasBand).map(({ label }) => label)).to.deep.equal(['g00', 'g29']);
      expect(new Set(groups.map(({ look: check }) => check)).size).to.equal(8);
    }
  });

  it('are only those with a rate in the window, if there are any', () => {
    const overall = Array.from({ length: 12 }, (_, index) => rate(`g${index}`, index / 12));
    const now = overall.map((record, index) => (index < 3 ? record : { ...record, value: null }));
    const { groups } = drawnGroups(
      watchedOf(overall, now),
      'selection_rate',
      attributeGroups([watchedOf(overall)], 'a'),
    );
    expect(groups.map(({ label }) => label)).to.deep.equal(['g0', 'g1', 'g2']);
  });
});

describe('an intersection as a table', () => {
  const crossing = (cells: CrossedCells['cells']): CrossedCells => ({
    attribute: 'a||b',
    rowAttribute: 'a',
    columnAttribute: 'b',
    measure: 'selection_rate',
    cells,
  });

  it('shows cells of fewer than twenty events as too few, without a colour', () => {
    const { rows, steps } = heatTable(
      crossing([
        { row: 'x', column: 'p', n: 19, value: 0.99 },
        { row: 'x', column: 'q', n: 20, value: 0.2 },
        { row: 'y', column: 'p', n: 500, value: 0.8 },
      ]),
    );
    expect(rows).to.deep.equal([
      {
        label: 'x',
        cells: [
          { text: 'too few', events: 'under 20', step: null },
          { text: '20.0%', events: '20', step: 0 },
        ],
      },
      {
        label: 'y',
        cells: [
          { text: '80.0%', events: '500', step: 5 },
          { text: '\u2013', events: null, step: null },
        ],
      },
    ]);
    expect(steps[0]).to.equal('20.0% to 30.0%');
    expect(steps.at(-1)).to.equal('70.0% to 80.0%');
  });

  it('has one colour step for equal rates, and none without rates', () => {
    const equal = heatTable(crossing(['p', 'q'].map((column) => ({ row: 'x', column, n: 50, value: 0.5 }))));
    expect(equal.steps).to.deep.equal(['50.0%']);
    expect(heatTable(crossing([])).steps).to.deep.equal([]);
    expect(heatTable(crossing([{ row: 'x', column: 'p', n: 50, value: null }])).rows[0]?.cells[0]?.text).to.equal(
      'undefined',
    );
  });

  it('shows the rows and columns with the most events, with a note', () => {
    const cells = Array.from({ length: 40 * 20 }, (_, index) => {
      const [row, column] = [Math.floor(index / 20), index % 20];
      return { row: `r${row}`, column: `c${column}`, n: 20 + row + column, value: 0.5 };
    });
    const { rows, columns, remarks } = heatTable(crossing(cells));
    expect([rows.length, columns.length]).to.deep.equal([24, 12]);
    expect(rows.map(({ label }) => label))
      .to.include('r39')
      .and.to.not.include('r15');
    expect(remarks).to.deep.equal([
      'Showing the 24 rows with the most events, of 40.',
      'Showing the 12 columns with the most events, of 20.',
    ]);
  });
});

describe('a history index', () => {
  it('returns ascending times, and a record or undefined at each', () => {
    const at = (hour: number, group: string): MonitoringRecord => ({
      ...rate(group, hour / 10),
      timestamp: `2026-01-01T0${hour}:00:00.000Z`,
    });
    const index = new HistoryIndex([at(1, 'x'), at(2, 'y'), at(3, 'x')]);
    const position = { attribute: 'a', metric: 'selection_rate', group: 'x', window: 'cumulative' } as const;
    const times = index.times([{ ...position, group: 'y' }, position], 10);
    expect(times.map((time) => time.slice(11, 13))).to.deep.equal(['01', '02', '03']);
    expect(index.at(position, times).map((record) => record?.value)).to.deep.equal([0.1, undefined, 0.3]);
    expect(index.times([{ ...position, window: 'sliding' }], 10)).to.deep.equal([]);
  });

  it('is thinned evenly and keeps both ends', () => {
    expect(thinned([0, 1, 2, 3, 4, 5, 6, 7, 8], 5)).to.deep.equal([0, 2, 4, 6, 8]);
    expect(thinned([1, 2], 5)).to.deep.equal([1, 2]);
    const most = thinned(Array.from({ length: 10_000 }, (_, position) => position), 240); // prettier-ignore
    expect([most.length, most[0], most.at(-1), new Set(most).size]).to.deep.equal([240, 0, 9999, 240]);
  });
});

describe('the differences between two options', () => {
  for (const [name, from, to, expected] of [
    ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, undefined],
    ['a nested value', { a: [1, { b: 2, c: 3 }] }, { a: [1, { b: 5, c: 3 }] }, { a: { 1: { b: 5 } } }],
    ['a value for an object', { a: null, b: 1 }, { a: { c: 1 }, b: 1 }, { a: { c: 1 } }],
  ] as const) {
    it(`is ${name}`, () => {
      expect(differences(from, to)).to.deep.equal(expected);
    });
  }
});

describe('the colours of the page', () => {
  for (const [name, palette, heat, states] of [
    ['light', LIGHT, HEAT_LIGHT, STATES_LIGHT],
    ['dark', DARK, HEAT_DARK, STATES_DARK],
  ] as const) {
    it(`in ${name} make text readable on every step of the heat map`, () => {
      expect(heat).to.have.length(HEAT_STEPS);
      for (const ground of heat) expect(contrast(palette.ink, ground), ground).to.be.at.least(4.5);
    });

    it(`in ${name} make the words of every state readable`, () => {
      for (const colour of Object.values(states)) {
        expect(contrast(colour, palette.surface), colour).to.be.at.least(4.5);
      }
    });
  }
});
