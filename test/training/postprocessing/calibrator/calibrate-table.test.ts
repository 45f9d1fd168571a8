import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import type { TableSource } from '../../../../src/table/index.ts';
import { calibrateHeldOut } from '../../../../src/training/postprocessing/calibrator/calibrate-held-out.ts';
import { calibrateTable } from '../../../../src/training/postprocessing/calibrator/calibrate-table.ts';
import {
  plotReliability,
  reliabilityCurve,
} from '../../../../src/training/postprocessing/calibrator/reliability-curve.ts';
import { tableCalibrationToJson } from '../../../../src/training/postprocessing/calibrator/table-calibration.ts';
import { useTemporaryFolder } from '../../../helpers/run-cli.ts';
import { drawScores } from './draw-scores.ts';

const { scores, y } = drawScores(200, (score) => score ** 2);
const groups = Array.from(scores, (_, row) => 'ab'[row % 2] ?? '');

describe('calibration of a table', () => {
  it('returns the held-out calibration of its rows as columns', async () => {
    const calibration = await calibrateTable({ table: { score: scores, y, g: groups } });
    const { calibrated } = await calibrateHeldOut(scores, y, { groups });
    expect(calibration.table.columnNames).to.deep.equal(['score_raw', 'score_cal', 'y', 'g']);
    expect(calibration.table.toColumns()).to.deep.equal({
      score_raw: [...scores],
      score_cal: [...calibrated],
      y: [...y],
      g: groups,
    });
    expect([calibration.n, calibration.nDropped]).to.deep.equal([200, 0]);
  });

  it('warns if all scores are decisions', async () => {
    const decided = Array.from(scores, (score) => Number(score > 0.5));
    const { warnings } = await calibrateTable({ table: { score: decided, y, g: groups } });
    expect(warnings).to.include("all scores in 'score' are 0 or 1, as decisions are: calibrate the probabilities instead"); // prettier-ignore
    expect((await calibrateTable({ table: { score: scores, y, g: groups } })).warnings).to.deep.equal([]);
  });

  it('excludes and counts rows without a score, a label or a group', async () => {
    const table: TableSource = {
      s: [...scores, null, 0.5, 0.5],
      t: [...Array.from(y, (label) => (label === 1 ? 'yes' : 'no')), 'yes', null, 'no'],
      r: [...groups, 'a', 'a', null],
    };
    const source = { table, score: 's', target: 't', group: ['r'], positiveLabel: 'yes' };
    const calibration = await calibrateTable(source);
    expect([calibration.n, calibration.nDropped, calibration.positiveLabel]).to.deep.equal([200, 3, 'yes']);
    expect(calibration.table.toColumns()['y']).to.deep.equal([...y]);
  });

  it('combines several group columns, and drops rows that lack one of them', async () => {
    const other = Array.from(scores, (_, row) => (row === 0 ? null : Math.floor(row / 2) % 2));
    const calibration = await calibrateTable({ table: { score: scores, y, g: groups, h: other }, group: ['g', 'h'] });
    expect(calibration.nDropped).to.equal(1);
    expect(calibration.after.groups.map(({ group }) => group)).to.deep.equal(['a||0', 'a||1', 'b||0', 'b||1']);
  });

  it('writes JSON in snake_case with values before and after per group', async () => {
    const calibration = await calibrateTable({ table: { score: scores, y, g: groups } }, { folds: 4, seed: 3 });
    const body = tableCalibrationToJson(calibration);
    expect(body).to.include({ method: 'platt', input: 'logit', min_samples: 20, folds: 4, train_size: null, seed: 3 });
    expect(body).to.deep.include({ measured_on: 'cross_fitted_rows', n: 200, n_measured: 200, n_dropped: 0 });
    const [first] = body.groups;
    expect(first).to.include({ group: 'a', n: 100, calibrator: 'own' });
    expect(Object.keys(first?.before ?? {})).to.deep.equal(['mean_score', 'ece', 'brier_score', 'log_loss']);
    expect(JSON.parse(JSON.stringify(body))).to.deep.equal(body);
  });

  const refusals: [string, Parameters<typeof calibrateTable>[0], RegExp][] = [
    ['an unknown column', { table: { scores, y, g: groups } }, /no column 'score'/],
    [
      'a score above 1',
      { table: { score: [0.1, 2], y: [0, 1], g: ['a', 'a'] } },
      /Column 'score' must lie in \[0, 1\], but holds 2 in row 2/,
    ],
    [
      'an infinite score',
      { table: { score: [0.1, Infinity], y: [0, 1], g: ['a', 'a'] } },
      /Column 'score' must lie in \[0, 1\], but holds Infinity in row 2/,
    ],
    [
      'text for scores',
      { table: { score: ['low', '0.2'], y: [0, 1], g: ['a', 'a'] } },
      /Column 'score' should hold numbers, but row 1 holds 'low'/,
    ],
    [
      'labels that are not 0 and 1',
      { table: { score: [0.1, 0.2], y: ['no', 'yes'], g: ['a', 'a'] } },
      /Column 'y' must be 0 or 1, but holds 'no'/,
    ],
    [
      'a positive label that never occurs',
      { table: { score: [0.1, 0.2], y: ['no', 'yes'], g: ['a', 'a'] }, positiveLabel: 'ja' },
      /Column 'y' never has the value 'ja'/,
    ],
    ['one label', { table: { score: [0.1, 0.2], y: [1, 1], g: ['a', 'a'] } }, /y is 1 in every row/],
    [
      'a table of only missing values',
      { table: { score: [0.1, null], y: [null, 1], g: ['a', 'a'] } },
      /All 2 rows lack a score, a label or a group/,
    ],
    [
      'one column with two roles',
      { table: { score: [0.1, 0.2], y: [0, 1] }, group: ['y'] },
      /Column 'y' cannot be both the target and the group/,
    ],
    [
      'a group named twice',
      { table: { score: [0.1, 0.2], y: [0, 1], g: ['a', 'a'] }, group: ['g', 'g'] },
      /Column 'g' is named twice among the groups/,
    ],
    [
      'an empty list of group columns',
      { table: { score: [0.1, 0.2], y: [0, 1] }, group: [] },
      /list of group columns .* is empty/,
    ],
  ];
  for (const [title, source, message] of refusals) {
    it(`rejects ${title}`, async () => {
      const error = await calibrateTable(source).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(message);
    });
  }
});

describe('the seed of a table’s calibration', () => {
  it('must be a whole number', async () => {
    const error = await calibrateTable({ table: { score: scores, y, g: groups } }, { seed: NaN }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(ValueError);
  });
});

describe('a reliability plot', () => {
  const folder = useTemporaryFolder();

  it('is written in the format of its extension, completely or not at all', async () => {
    const before = await reliabilityCurve(scores, y, groups);
    for (const [name, start] of [
      ['a.svg', '<svg'],
      ['b.html', '<!doctype'],
      ['c.png', '\u{FFFD}PNG'],
    ] as const) {
      const location = path.join(folder(), 'plots', name);
      expect(await plotReliability({ before, after: before }, { savePath: location, title: 'A title' })).to.equal(
        location,
      );
      expect(readFileSync(location, 'utf8').startsWith(start)).to.equal(true);
    }
    const bad = path.join(folder(), 'plot.jpg');
    const error = await plotReliability(before, { savePath: bad }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DataValidationError);
    expect(existsSync(bad)).to.equal(false);
  });

  it('rejects curves without a group', async () => {
    const curves = { groups: [], bins: 10, minBinSize: 1, level: 0.95, nDropped: 0 };
    const error = await plotReliability(curves, { savePath: 'x.svg' }).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.match(/no group to draw/);
  });
});
