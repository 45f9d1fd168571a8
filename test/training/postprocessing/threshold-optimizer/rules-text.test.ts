import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import type { EstimatorJson, FitOptions } from '../../../../src/training/estimators/estimator.ts';
import type { ThresholdOptimizerOptions } from '../../../../src/training/postprocessing/threshold-optimizer/optimizer-options.ts';
import { ThresholdOptimizer } from '../../../../src/training/postprocessing/threshold-optimizer/threshold-optimizer.ts';

const ROWS = {
  scores: [0.9, 0.7, 0.4, 0.2, 0.8, 0.5, 0.3, 0.1],
  y: [1, 1, 0, 0, 1, 0, 1, 0],
  sensitive: ['a', 'a', 'a', 'a', 'b|c', 'b|c', 'b|c', 'b|c'],
};

async function fitted(options: ThresholdOptimizerOptions, rows: typeof ROWS = ROWS): Promise<ThresholdOptimizer> {
  return new ThresholdOptimizer(options).fit(rows.scores, rows.y, { sensitive: rows.sensitive });
}

/** Returns the cells of the table. */
function cellsOf(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe('the table of a threshold optimizer’s rules', () => {
  it('shows for each group how scores are decided', async () => {
    // At a true positive rate of 1, group a selects its two 1s. Group b goes down to 0.3 and also selects a 0.
    const optimizer = await fitted({ constraint: 'true_positive_rate_parity' });
    expect(cellsOf(optimizer.toMarkdown())).to.deep.equal([
      ['a', '4', 'above 0.55', '1'],
      ['', '', 'at most 0.55', '0'],
      ['b\\|c', '4', 'above 0.2', '1'],
      ['', '', 'at most 0.2', '0'],
    ]);
  });

  it('shows a mixture as a separate band, and states the constraint and its result', async () => {
    // At a false positive rate of 0, group b selects only 0.8.
    const markdown = (await fitted({ constraint: 'equalized_odds', gridSize: 4 })).toMarkdown();
    expect(markdown).to.match(/^### Thresholds: equalized_odds, accuracy_score/);
    expect(markdown).to.match(/Every decision needs the group\./);
    // b has 1 at 0.8, 0 at 0.5, 1 at 0.3, 0 at 0.1: hull (0, 0.5), (0.5, 1), (1, 1). Best common y - x is 0.5 at x = 0.
    // a reaches (0, 1): its rule ignores the score half of the time, with constant 0.
    expect(cellsOf(markdown)).to.deep.equal([
      ['a', '4', 'above 0.55', '0.5'],
      ['', '', 'at most 0.55', '0'],
      ['b\\|c', '4', 'above 0.65', '1'],
      ['', '', 'at most 0.65', '0'],
    ]);
  });

  it('warns of groups with so few rows that their rates may differ on other rows', async () => {
    const rows = { scores: [...ROWS.scores, 0.95], y: [...ROWS.y, 1], sensitive: [...ROWS.sensitive, 'c'] };
    const many = Array.from({ length: 7 }, () => ROWS);
    const large = {
      scores: many.flatMap(({ scores }) => scores).concat(0.5, 0.6),
      y: many.flatMap(({ y }) => y).concat(0, 1),
      sensitive: many.flatMap(({ sensitive }) => sensitive).concat('a', 'a'),
    };
    const small = await fitted({}, rows);
    expect(small.warnings).to.deep.equal([
      'the thresholds of 3 groups come from fewer than 30 rows each: a (4 rows), b|c (4 rows), c (1 row); on other rows, their rates may be far from the constraint',
    ]);
    expect(small.toMarkdown()).to.include(
      'Warning: the thresholds of 3 groups come from fewer than 30 rows each: a (4 rows), b\\|c',
    );
    // Group a has 30 rows, and b|c has 28.
    expect((await fitted({}, large)).warnings[0]).to.match(
      /of 1 group come from fewer than 30 rows: b\|c \(28 rows\);/,
    );
    const enough = await fitted({}, { ...large, sensitive: large.sensitive.map(() => 'all') });
    expect(enough.warnings).to.deep.equal([]);
    expect(enough.toMarkdown()).to.not.include('Warning');
  });

  it('names low scores if they are selected', async () => {
    const rows = { scores: [1, 2, 3, 4], y: [1, 1, 0, 0], sensitive: ['a', 'a', 'a', 'a'] };
    expect(cellsOf((await fitted({ flip: true }, rows)).toMarkdown())).to.deep.equal([
      ['a', '4', 'at least 2.5', '0'],
      ['', '', 'below 2.5', '1'],
    ]);
  });

  it('a rule that decides all rows equally has one row', async () => {
    const rows = { scores: [1, 2], y: [1, 1], sensitive: ['a', 'a'] };
    expect(cellsOf((await fitted({}, rows)).toMarkdown())).to.deep.equal([['a', '2', 'any', '1']]);
  });

  it('a mixture of two thresholds has three bands', async () => {
    // Selection rate 1/2 on a grid of two steps: one of two tied rows of group a, at random.
    const rows = { scores: [3, 2, 2, 1], y: [1, 1, 0, 0], sensitive: ['a', 'a', 'a', 'a'] };
    expect(cellsOf((await fitted({ gridSize: 2 }, rows)).toMarkdown())).to.deep.equal([
      ['a', '4', 'above 2.5', '1'],
      ['', '', 'above 1.5, at most 2.5', '0.5'],
      ['', '', 'at most 1.5', '0'],
    ]);
  });
});

describe('a threshold optimizer as JSON', () => {
  const asked = { scores: [0.05, 0.35, 0.45, 0.6, 0.85], sensitive: ['a', 'b|c', 'a', 'b|c', 'a'] };

  for (const options of [
    {},
    { constraint: 'equalized_odds', objective: 'balanced_accuracy_score', gridSize: 7, seed: 3 },
    { constraint: 'false_negative_rate_parity', flip: true, tolerance: 0.25, unseenGroups: 'pooled' },
  ] satisfies ThresholdOptimizerOptions[]) {
    it(`comes back the same: ${JSON.stringify(options)}`, async () => {
      const optimizer = await fitted(options);
      const text = JSON.stringify(optimizer);
      const back = ThresholdOptimizer.fromJSON(JSON.parse(text));
      expect(back.describe()).to.deep.equal(optimizer.describe());
      expect(JSON.stringify(back)).to.equal(text);
      expect(Object.isFrozen(back.describe().groups[0]?.interpolation.operation1)).to.equal(true);
      expect(await back.predictProba(asked.scores, { sensitive: asked.sensitive })).to.deep.equal(
        await optimizer.predictProba(asked.scores, { sensitive: asked.sensitive }),
      );
      expect(await back.predict(asked.scores, { sensitive: asked.sensitive })).to.deep.equal(
        await optimizer.predict(asked.scores, { sensitive: asked.sensitive }),
      );
    });
  }

  it('infinite thresholds survive, as texts', async () => {
    const rows = { scores: [1, 2], y: [1, 1], sensitive: ['a', 'a'] };
    const optimizer = await fitted({}, rows);
    const text = JSON.stringify(optimizer);
    expect(text).to.include('"threshold":"-Infinity"').and.to.include('"threshold":"Infinity"');
    expect(ThresholdOptimizer.fromJSON(JSON.parse(text)).interpolation['a']?.operation1.threshold).to.equal(-Infinity);
  });

  it('stays unfitted if it was not fitted', () => {
    const json: unknown = JSON.parse(JSON.stringify(new ThresholdOptimizer({ gridSize: 9 })));
    const back = ThresholdOptimizer.fromJSON(json);
    expect(back.gridSize).to.equal(9);
    expect(() => back.describe()).to.throw(ValueError, 'not fitted yet');
  });

  interface StoredRules {
    params: { constraint: unknown };
    state: { groups: { group: string; interpolation: { p0: unknown; operation0: { threshold: unknown } } }[] };
  }
  const problems: [string, (json: StoredRules) => unknown, RegExp][] = [
    ['nothing', () => null, /This is not a valid threshold optimizer/],
    ['another kind', (json) => ({ ...json, kind: 'calibrator' }), /'kind'/],
    [
      'an unknown constraint',
      (json) => ({ ...json, params: { ...json.params, constraint: 'x' } }),
      /'params\.constraint'/,
    ],
    ['rules without a group', (json) => ({ ...json, state: { ...json.state, groups: [] } }), /'groups'/],
    [
      'a probability above 1',
      (json) => {
        (json.state.groups[0] as StoredRules['state']['groups'][0]).interpolation.p0 = 2;
        return json;
      },
      /'groups\.0\.interpolation\.p0'/,
    ],
    [
      'a threshold that is another text',
      (json) => {
        (json.state.groups[0] as StoredRules['state']['groups'][0]).interpolation.operation0.threshold = 'NaN';
        return json;
      },
      /'groups\.0\.interpolation\.operation0\.threshold'/,
    ],
    ...[
      [1, 1],
      [0, 0],
    ].map(([p0, p1]): (typeof problems)[0] => [
      `probabilities ${String(p0)} and ${String(p1)}`,
      (json) => {
        Object.assign((json.state.groups[0] as StoredRules['state']['groups'][0]).interpolation, { p0, p1 });
        return json;
      },
      /'groups\.0\.interpolation': p0 and p1 must add up to 1/,
    ]),
    ...Object.entries({
      constraint: 'true_positive_rate_parity',
      objective: 'balanced_accuracy_score',
      grid_size: 7,
      flip: true,
      tolerance: 0.5,
    }).map(([field, value]): (typeof problems)[0] => [
      `rules of another ${field} than the options`,
      (json) => ({ ...json, state: { ...json.state, [field]: value } }),
      new RegExp(`'state\\.${field}': must be equal to params\\.${field}`),
    ]),
    [
      'a group twice',
      (json) => ({ ...json, state: { ...json.state, groups: [...json.state.groups, ...json.state.groups] } }),
      /'groups': A group occurs twice/,
    ],
  ];
  for (const [title, change, message] of problems) {
    it(`rejects ${title}, and names the field`, async () => {
      const json = JSON.parse(JSON.stringify(await fitted({}))) as StoredRules;
      expect(() => ThresholdOptimizer.fromJSON(change(json))).to.throw(DataValidationError, message);
    });
  }
});

/** An estimator whose score is the first feature times the number of fits. */
class FirstFeature {
  fits = 0;
  weights: unknown;
  fit(_x: unknown, _y: unknown, { sampleWeight }: FitOptions = {}): Promise<this> {
    this.fits++;
    this.weights = sampleWeight;
    return Promise.resolve(this);
  }
  predictProba(x: unknown): Promise<Float64Array> {
    return Promise.resolve(Float64Array.from(x as number[][], ([first = NaN]) => first * this.fits));
  }
  predict(): Promise<Float64Array> {
    throw new Error('scores come from predictProba');
  }
  clone(): FirstFeature {
    return new FirstFeature();
  }
  toJSON(): EstimatorJson {
    return { kind: 'first_feature', params: {}, state: { fits: this.fits } };
  }
}

describe('a threshold optimizer around an estimator', () => {
  const x = ROWS.scores.map((score) => [score, -score]);
  const { y, sensitive } = ROWS;

  it('fits a copy on features and weights, and takes its probabilities as scores', async () => {
    const estimator = new FirstFeature();
    const optimizer = await new ThresholdOptimizer({ estimator }).fit(x, y, {
      sensitive,
      sampleWeight: y.map(() => 2),
    });
    expect(estimator.fits).to.equal(0);
    const plain = await fitted({});
    expect(optimizer.interpolation).to.deep.equal(plain.interpolation);
    expect(await optimizer.predictProba(x, { sensitive })).to.deep.equal(
      await plain.predictProba(ROWS.scores, { sensitive }),
    );
    expect(await optimizer.predict(x, { sensitive })).to.deep.equal(await plain.predict(ROWS.scores, { sensitive }));
  });

  it('leaves a prefitted estimator unchanged', async () => {
    const estimator = new FirstFeature();
    await estimator.fit(x, y);
    const optimizer = await new ThresholdOptimizer({ estimator, prefit: true }).fit(x, y, { sensitive });
    expect(estimator.fits).to.equal(1);
    expect(optimizer.interpolation).to.deep.equal((await fitted({})).interpolation);
  });

  it('is stored with its estimator, and read back with the estimator that the caller reads back', async () => {
    const optimizer = await new ThresholdOptimizer({ estimator: new FirstFeature() }).fit(x, y, { sensitive });
    const json = optimizer.toJSON();
    expect(json.estimator).to.deep.equal({ kind: 'first_feature', params: {}, state: { fits: 1 } });
    expect(() => ThresholdOptimizer.fromJSON(json)).to.throw(ValueError, /fitted first_feature/);
    expect(() => ThresholdOptimizer.fromJSON({ ...json, estimator: null }, { estimator: new FirstFeature() })).to.throw(
      ValueError,
      /must be left out, because this optimizer had none. Got first_feature instead/,
    );
    const other = { ...json, estimator: { kind: 'logistic_regression' } };
    expect(() => ThresholdOptimizer.fromJSON(other, { estimator: new FirstFeature() })).to.throw(
      ValueError,
      /logistic/,
    );
    const estimator = new FirstFeature();
    await estimator.fit(x, y);
    const back = ThresholdOptimizer.fromJSON(json, { estimator });
    expect(await back.predictProba(x, { sensitive })).to.deep.equal(await optimizer.predictProba(x, { sensitive }));
  });
});
