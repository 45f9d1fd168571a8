import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import { createRandom } from '../../../../src/internal/random.ts';
import { type DuckDbEngine, openDuckDb } from '../../../../src/io/index.ts';
import { calibrateSql } from '../../../../src/training/index.ts';
import { errorOf } from '../../../helpers/engine-suite.ts';
import { golden } from './calibration-golden.ts';

/** Returns a query whose rows have a score, a label and a group. */
function queryOf(scores: readonly number[], y: readonly number[], groups: readonly (string | null)[] = []): string {
  const rows = scores.map((score, row) => {
    const group = groups.length === 0 ? 'g' : groups[row];
    return `(${String(score)}::DOUBLE, ${String(y[row])}, ${group === null ? 'NULL' : `'${String(group)}'`})`;
  });
  return `SELECT * FROM (VALUES ${rows.join(', ')}) AS t(score, y, g)`;
}

/** Scores of 40 levels without any relation to the labels, of which half are 1 on average. */
function noise(rows: number, seed: number): string {
  const random = createRandom(seed);
  const draw = (bound: number): number[] => Array.from({ length: rows }, () => random.integer(bound));
  return queryOf(
    draw(40).map((level) => (level + 1) / 64),
    draw(2),
  );
}

describe('calibrateSql', () => {
  let engine: DuckDbEngine;
  before(() => {
    engine = openDuckDb();
  });
  after(() => engine.close());

  for (const { name, queries, expected, ...rows } of golden.isotonic.filter(({ weights }) => weights[0] === 1)) {
    it(`has the isotonic rates of scikit-learn for ${name}`, async () => {
      const query = queryOf(rows.scores, rows.labels);
      const { calibrator } = await calibrateSql({ engine, query }, {}, { method: 'isotonic', minSamples: 1 });
      const found = await calibrator.transform(queries, { groups: queries.map(() => 'g') });
      for (const [index, rate] of expected.entries()) expect(found[index]).to.be.closeTo(rate, 1e-12);
    });
  }

  for (const { name, input, scipy, ...rows } of golden.sigmoid.filter(({ weights }) => weights[0] === 1)) {
    it(`has the line of SciPy with platt for ${name}, also if each row occurs 1,000 times`, async () => {
      const query = queryOf(rows.scores, rows.labels);
      const { calibrator, n } = await calibrateSql({ engine, query }, {}, { input, minSamples: 1 });
      const map = calibrator.toJSON().state?.groups[0]?.map;
      expect(map).to.include({ kind: 'platt' });
      expect((map as { slope: number }).slope).to.be.closeTo(scipy.slope, 1e-8);
      expect((map as { intercept: number }).intercept).to.be.closeTo(scipy.intercept, 1e-8);
      const many = await calibrateSql(
        { engine, query: `SELECT t.* FROM (${query}) AS t, range(1000)` },
        {},
        { input, folds: 1, minSamples: n + 1 },
      );
      expect(many.n).to.equal(1000 * n);
      // The group has enough rows only because each row is counted.
      expect(many.fallbacks).to.deep.equal({});
    });
  }

  it('measures with folds what the calibrator has not seen: noise is not calibrated away', async () => {
    const [fitted, unseen] = [[], []] as [number[], number[]];
    for (let seed = 0; seed < 20; seed++) {
      const source = { engine, query: noise(400, seed) };
      const options = { method: 'isotonic', seed } as const;
      fitted.push((await calibrateSql(source, {}, { ...options, folds: 1 })).after.overall.brierScore);
      unseen.push((await calibrateSql(source, {}, { ...options, folds: 5 })).after.overall.brierScore);
    }
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    // No prediction of a fair coin has a mean squared error below 1/4 on new rows.
    expect(mean(fitted)).to.be.below(0.25);
    expect(mean(unseen)).to.be.above(0.25);
  });

  it('measures each row once with folds, and the share of held-out rows with trainSize', async () => {
    const source = { engine, query: noise(4000, 7) };
    const folded = await calibrateSql(source, {});
    expect([folded.n, folded.before.overall.n, folded.after.overall.n]).to.deep.equal([4000, 4000, 4000]);
    expect(folded.before.overall.positiveRate).to.equal(folded.after.overall.positiveRate);
    const { after, measuredOn } = await calibrateSql(source, {}, { trainSize: 0.75 });
    expect(measuredOn).to.equal('held_out_rows');
    // 1,000 rows, with a standard deviation of 27.
    expect(after.overall.n).to.be.within(860, 1140).and.not.equal(1000);
    expect((await calibrateSql(source, {}, { trainSize: 0.75 })).after).to.deep.equal(after);
    expect((await calibrateSql(source, {}, { trainSize: 0.75, seed: 1 })).after).to.not.deep.equal(after);
  });

  it('crosses groups, and excludes and counts incomplete rows', async () => {
    const query = `SELECT *, CASE WHEN g = 'a' THEN 1 ELSE 2 END AS h FROM (${queryOf(
      [0.2, 0.4, 0.6, 0.8, 0.9],
      [0, 1, 0, 1, 1],
      ['a', 'b', 'a', 'b', null],
    )}) UNION ALL SELECT NULL, 1, 'a', 1`;
    const { n, nDropped, after, columns } = await calibrateSql(
      { engine, query },
      { group: ['g', 'h'] },
      { folds: 1, minSamples: 1 },
    );
    expect([n, nDropped]).to.deep.equal([4, 2]);
    expect(after.groups.map(({ group }) => group)).to.deep.equal(['a||1', 'b||2']);
    expect(columns.group).to.deep.equal(['g', 'h']);
  });

  const CASES: readonly (readonly [what: string, query: string, options: object, message: RegExp])[] = [
    ['one label', queryOf([0.1, 0.2], [1, 1]), {}, /y is 1 in every row/],
    ['a score above 1', queryOf([0.1, 1.5], [0, 1]), {}, /Column 'score' must lie in \[0, 1\], but holds 1.5/],
    ['more folds than rows', queryOf([0.1, 0.2], [0, 1]), { folds: 3 }, /3 folds need at least 3 rows; there are 2/],
    ['text', "SELECT 'x' AS score, 1 AS y, 'g' AS g", {}, /score/],
    ['no rows', `${queryOf([0.1], [1])} WHERE score > 2`, {}, /no rows|empty|lack/i],
  ];
  for (const [what, query, options, message] of CASES) {
    it(`${what} is one clear error`, async () => {
      const error = await errorOf(calibrateSql({ engine, query }, {}, options));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(message);
    });
  }

  it('a wrong option or column is one clear error', async () => {
    const source = { engine, query: queryOf([0.1, 0.2], [0, 1]) };
    expect((await errorOf(calibrateSql(source, { score: 'p' }))).message).to.match(/'p'/);
    expect((await errorOf(calibrateSql(source, { score: 'y' }))).message).to.match(/both the scores and the target/);
    expect(await errorOf(calibrateSql(source, {}, { folds: 2, trainSize: 0.5 }))).to.be.instanceOf(ValueError);
    expect((await errorOf(calibrateSql(source, {}, { fold: 2 } as object))).message).to.match(/fold/);
  });
});
