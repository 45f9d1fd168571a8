import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError, TrainingError, ValueError } from '../../../../src/exceptions/index.ts';
import { loadTensorflow } from '../../../../src/tensor/index.ts';
import {
  CALIBRATION_METHODS,
  type CalibrationMethod,
} from '../../../../src/training/postprocessing/calibrator/calibration-map.ts';
import { GroupFairnessCalibrator } from '../../../../src/training/postprocessing/calibrator/group-fairness-calibrator.ts';
import { golden } from './calibration-golden.ts';
import { drawScores, logit, oneGroup, sigmoid } from './draw-scores.ts';

/** Fits a calibrator on one group's rows, and calibrates some scores. */
async function calibrate(
  method: CalibrationMethod,
  rows: {
    readonly scores: ArrayLike<number>;
    readonly labels: ArrayLike<number>;
    readonly weights?: ArrayLike<number>;
    readonly input?: 'logit' | 'score';
  },
  queries: ArrayLike<number>,
): Promise<Float64Array> {
  const calibrator = new GroupFairnessCalibrator({ method, minSamples: 1, input: rows.input });
  await calibrator.fit(rows.scores, rows.labels, { groups: oneGroup(rows.scores.length), sampleWeight: rows.weights });
  return calibrator.transform(queries, { groups: oneGroup(queries.length) });
}

/** Computes the slope and intercept from two calibrated probabilities. */
async function lineOf(rows: Parameters<typeof calibrate>[1]): Promise<{ slope: number; intercept: number }> {
  const [low, high] = rows.input === 'score' ? [0, 1] : [sigmoid(0), sigmoid(1)];
  const [atLow = NaN, atHigh = NaN] = await calibrate('platt', rows, [low, high]);
  return { slope: logit(atHigh) - logit(atLow), intercept: logit(atLow) };
}

const closeTo = (actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void => {
  expect(actual.length).to.equal(expected.length);
  for (let row = 0; row < expected.length; row++) {
    expect(actual[row], `index ${row}`).to.be.closeTo(expected[row] ?? NaN, tolerance);
  }
};

describe('isotonic calibration', () => {
  for (const { name, queries, expected, ...rows } of golden.isotonic) {
    it(`equals that of scikit-learn for ${name}, also between and outside the fitted scores`, async () => {
      closeTo(await calibrate('isotonic', rows, queries), expected, 1e-12);
    });
  }

  it('is monotonic in the score', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 1 })), { minLength: 2 }),
        async (pairs) => {
          fc.pre(new Set(pairs.map(([, label]) => label)).size === 2);
          const rows = { scores: pairs.map(([score]) => score / 20), labels: pairs.map(([, label]) => label) };
          const curve = await calibrate(
            'isotonic',
            rows,
            [...Array(101).keys()].map((step) => step / 100),
          );
          expect([...curve]).to.deep.equal([...curve].sort((a, b) => a - b));
          expect(curve.every((value) => value >= 0 && value <= 1)).to.equal(true);
        },
      ),
    );
  });

  it('returns the rates of scores that already rise, and interpolates linearly between them', async () => {
    const rows = { scores: [0.2, 0.2, 0.4, 0.4, 0.8, 0.8], labels: [0, 0, 0, 1, 1, 1] };
    closeTo(await calibrate('isotonic', rows, [0, 0.2, 0.3, 0.4, 0.6, 0.8, 1]), [0, 0, 0.25, 0.5, 0.75, 1, 1], 1e-15);
  });

  for (const tiny of [1e-310, Number.MIN_VALUE]) {
    it(`returns finite numbers between scores that differ by ${String(tiny)}`, async () => {
      const rows = { scores: [0, tiny, 0.5], labels: [0, 1, 1] };
      expect([...(await calibrate('isotonic', rows, [0, tiny, 0.5, 1]))]).to.deep.equal([0, 1, 1, 1]);
    });
  }

  it('returns the overall rate with a warning if scores rank rows in reverse order', async () => {
    const calibrator = new GroupFairnessCalibrator({ method: 'isotonic', minSamples: 1 });
    const groups = oneGroup(4);
    closeTo(await calibrator.fitTransform([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], { groups }), [0.5, 0.5, 0.5, 0.5], 0);
    expect(calibrator.warnings.join()).to.match(/group 'g': .*flat/);
  });
});

describe('Platt calibration', () => {
  for (const { name, sklearn, scipy, ...rows } of golden.sigmoid) {
    it(`has the slope and intercept of scikit-learn on ${name}, and of SciPy at the minimum`, async () => {
      const { slope, intercept } = await lineOf(rows);
      // scikit-learn stops when its gradient is below 1e-6.
      closeTo([slope, intercept], [sklearn.slope, sklearn.intercept], 1e-6);
      closeTo([slope, intercept], [scipy.slope, scipy.intercept], 1e-9);
    });

    it(`has a zero gradient on ${name}: mean errors against the smoothed targets are 0`, async () => {
      const weightOf = (label: number): number =>
        rows.weights.reduce((sum, weight, row) => sum + (rows.labels[row] === label ? weight : 0), 0);
      const [no, yes] = [weightOf(0), weightOf(1)];
      const p = await calibrate('platt', rows, rows.scores);
      const errors = rows.weights.map(
        (weight, row) => weight * ((p[row] ?? NaN) - (rows.labels[row] === 1 ? (yes + 1) / (yes + 2) : 1 / (no + 2))),
      );
      const values = rows.scores.map((score) => (rows.input === 'logit' ? logit(score) : score));
      expect(errors.reduce((sum, error) => sum + error, 0)).to.be.closeTo(0, 1e-9);
      expect(errors.reduce((sum, error, row) => sum + error * (values[row] ?? NaN), 0)).to.be.closeTo(0, 1e-9);
    });
  }

  it('recovers the line that labels were drawn from, within four standard errors', async () => {
    const [slope, intercept, rows] = [0.6, -0.8, 20_000];
    const { scores, y } = drawScores(rows, (score) => sigmoid(slope * logit(score) + intercept));
    const found = await lineOf({ scores, labels: y });
    // The Fisher information of the true line determines the standard errors.
    const [one, x, xx] = scores.reduce(
      (sums: [number, number, number], score): [number, number, number] => {
        const value = logit(score);
        const p = sigmoid(slope * value + intercept);
        const information = p * (1 - p);
        return [sums[0] + information, sums[1] + information * value, sums[2] + information * value ** 2];
      },
      [0, 0, 0],
    );
    const determinant = one * xx - x * x;
    expect(Math.abs(found.slope - slope)).to.be.below(4 * Math.sqrt(one / determinant));
    expect(Math.abs(found.intercept - intercept)).to.be.below(4 * Math.sqrt(xx / determinant));
  });

  for (const input of ['logit', 'score'] as const) {
    it(`returns the smoothed rate on equal scores (${input}), with a slope of 0`, async () => {
      // Both targets weighted by their rows: (3 x 4/5 + 1 x 1/3) / 4.
      const p = await calibrate('platt', { scores: Array(4).fill(0.3), labels: [1, 1, 1, 0], input }, [0, 0.3, 1]);
      closeTo(p, Array<number>(3).fill((3 * (4 / 5) + 1 / 3) / 4), 1e-12);
    });

    it(`is finite and below 1 on separable scores (${input}), because of the smoothed targets`, async () => {
      const rows = { scores: [0, 0, 0.1, 0.9, 1, 1], labels: [0, 0, 0, 1, 1, 1], input };
      const p = await calibrate('platt', rows, [0, 0.5, 1]);
      expect(p.every((value) => value > 0 && value < 1)).to.equal(true);
      closeTo([p[1] ?? NaN, (p[0] ?? NaN) + (p[2] ?? NaN)], [0.5, 1], 1e-9);
    });
  }

  it('moves scores of 0 and 1 to half the distance of the next score: to 0.05 and 0.95', async () => {
    const labels = [0, 1, 0, 1, 1];
    const ends = await calibrate('platt', { scores: [0, 0.1, 0.5, 0.9, 1], labels }, [0, 0.3, 1]);
    const inside = await calibrate('platt', { scores: [0.05, 0.1, 0.5, 0.9, 0.95], labels }, [0.05, 0.3, 0.95]);
    closeTo(ends, inside, 1e-9);
  });

  it('warns if scores rank rows in reverse order', async () => {
    const { scores, y } = drawScores(200, (score) => 1 - score);
    const calibrator = await new GroupFairnessCalibrator().fit(scores, y, { groups: oneGroup(200) });
    expect(calibrator.warnings.join()).to.match(/group 'g': .*in reverse order/);
  });
});

describe('temperature calibration', () => {
  for (const { name, temperature, ...rows } of golden.temperature) {
    it(`finds the same temperature as SciPy for ${name}`, async () => {
      const [p = NaN] = await calibrate('temperature', rows, [sigmoid(1)]);
      expect(1 / logit(p)).to.be.closeTo(temperature, 1e-9);
    });
  }

  it('recovers the temperature that labels were drawn from, within four standard errors', async () => {
    const { scores, y } = drawScores(20_000, (score) => sigmoid(logit(score) / 2.5));
    const [p = NaN] = await calibrate('temperature', { scores, labels: y }, [sigmoid(1)]);
    const information = scores.reduce((sum, score) => {
      const q = sigmoid(logit(score) / 2.5);
      return sum + q * (1 - q) * logit(score) ** 2;
    }, 0);
    expect(Math.abs(logit(p) - 1 / 2.5)).to.be.below(4 / Math.sqrt(information));
  });

  const ends: [title: string, labels: number[], scores: number[], temperature: number, warning: RegExp][] = [
    ['separable scores', [0, 0, 1, 1], [0.4, 0.45, 0.55, 0.6], 0.01, /separate/],
    ['scores that rank rows in reverse order', [1, 1, 0, 0], [0.2, 0.3, 0.7, 0.8], 100, /in reverse order/],
    ['scores of one half', [0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5], 1, /0\.5/],
  ];
  for (const [title, labels, scores, temperature, warning] of ends) {
    it(`is ${temperature} with a warning for ${title}`, async () => {
      const calibrator = new GroupFairnessCalibrator({ method: 'temperature', minSamples: 1 });
      await calibrator.fit(scores, labels, { groups: oneGroup(4) });
      expect(calibrator.describe().numeric('temperature').values[0]).to.equal(temperature);
      expect(calibrator.warnings.join()).to.match(warning);
    });
  }

  for (const weight of [Number.MIN_VALUE, 1e-300, 2e307]) {
    it(`does not change with the unit of weights: ${String(weight)} each`, async () => {
      const labels = [0, 1, 0, 1, 1, 0, 1];
      const scores = [0.1, 0.3, 0.4, 0.6, 0.8, 1e-12, 0.2];
      const weights = labels.map(() => weight);
      const queries = [0.2, 0.9];
      const plain = await calibrate('temperature', { scores, labels }, queries);
      closeTo(await calibrate('temperature', { scores, labels, weights }, queries), plain, 1e-9);
    });
  }

  it('leaves one half unchanged', async () => {
    const { scores, y } = drawScores(100, (score) => score ** 2);
    closeTo(await calibrate('temperature', { scores, labels: y }, [0.5]), [0.5], 1e-15);
  });
});

describe('a calibrator per group', () => {
  const { scores, y } = drawScores(600, (score) => score ** 2);
  const groups = Array.from(scores, (_, row) => (row % 3 === 0 ? 'a' : 'b'));
  const rowsOf = (label: string): number[] => [...groups.keys()].filter((row) => groups[row] === label);

  for (const method of CALIBRATION_METHODS) {
    describe(method, () => {
      const fitted = (): Promise<GroupFairnessCalibrator> =>
        new GroupFairnessCalibrator({ method }).fit(scores, y, { groups });

      it('calibrates each group as a fit on its rows alone would', async () => {
        const all = await (await fitted()).transform(scores, { groups });
        for (const label of ['a', 'b']) {
          const rows = rowsOf(label);
          const own = { scores: rows.map((row) => scores[row] ?? NaN), labels: rows.map((row) => y[row] ?? NaN) };
          closeTo(rows.map((row) => all[row] ?? NaN), await calibrate(method, own, own.scores), 1e-12); // prettier-ignore
        }
      });

      it('calibrates an unseen group as a fit on all rows would, and lists it', async () => {
        const calibrator = await fitted();
        expect(calibrator.fallbacks).to.deep.equal({});
        const unseen = await calibrator.transform([0.2, 0.7], { groups: ['new', 'new'] });
        closeTo(unseen, await calibrate(method, { scores, labels: y }, [0.2, 0.7]), 1e-12);
        expect(calibrator.fallbacks).to.deep.equal({ new: { n: 2, reason: 'not among the groups fitted' } });
      });

      it('calibrates a group of fewer than minSamples rows as a fit on all rows would, and lists it', async () => {
        const few = groups.map((label, row) => (row < 19 ? 'few' : label));
        const calibrator = await new GroupFairnessCalibrator({ method }).fit(scores, y, { groups: few });
        expect(calibrator.fallbacks).to.deep.equal({ few: { n: 19, reason: 'fewer than minSamples = 20 rows' } });
        closeTo(
          await calibrator.transform([0.2, 0.7], { groups: ['few', 'few'] }),
          await calibrate(method, { scores, labels: y }, [0.2, 0.7]),
          1e-12,
        );
      });

      it('calibrates a group with one label as a fit on all rows would, and lists it', async () => {
        const sure = groups.map((label, row) => (y[row] === 1 && row < 300 ? 'sure' : label));
        const calibrator = await new GroupFairnessCalibrator({ method }).fit(scores, y, { groups: sure });
        const n = sure.filter((label) => label === 'sure').length;
        expect(calibrator.fallbacks).to.deep.equal({ sure: { n, reason: 'y is 1 in every row' } });
      });

      it('is not affected by weights of one', async () => {
        const weighted = new GroupFairnessCalibrator({ method });
        await weighted.fit(scores, y, { groups, sampleWeight: new Float64Array(600).fill(1) });
        expect(weighted.toJSON()).to.deep.equal((await fitted()).toJSON());
      });

      it('treats a row of weight 2 as two rows, and a row of weight 0 as no row', async () => {
        const weights = Array.from(scores, (_, row) => row % 4 === 3 ? 0 : 1 + (row % 2)); // prettier-ignore
        const weighted = new GroupFairnessCalibrator({ method });
        const once = await weighted.fitTransform(scores, y, { groups, sampleWeight: weights });
        const rows = [...groups.keys()].flatMap((row) => Array<number>(weights[row] ?? 0).fill(row));
        const repeated = await new GroupFairnessCalibrator({ method }).fit(
          rows.map((row) => scores[row] ?? NaN),
          rows.map((row) => y[row] ?? NaN),
          { groups: rows.map((row) => groups[row] ?? '') },
        );
        closeTo(once, await repeated.transform(scores, { groups }), 1e-9);
      });

      it('is not affected by the order of rows or the names of groups', async () => {
        const order = [...groups.keys()].sort((a, b) => (a * 7919) % 600 - (b * 7919) % 600); // prettier-ignore
        const renamed = await new GroupFairnessCalibrator({ method }).fit(
          order.map((row) => scores[row] ?? NaN),
          order.map((row) => y[row] ?? NaN),
          { groups: order.map((row) => (groups[row] === 'a' ? 'z' : 'c')) },
        );
        closeTo(
          await renamed.transform(scores, { groups: groups.map((label) => (label === 'a' ? 'z' : 'c')) }),
          await (await fitted()).transform(scores, { groups }),
          1e-9,
        );
      });

      it('changes calibrated scores only slightly', async () => {
        const true_ = drawScores(40_000, (score) => score, 3);
        const p = await calibrate(method, { scores: true_.scores, labels: true_.y }, true_.scores);
        const change = p.reduce((sum, value, row) => sum + Math.abs(value - (true_.scores[row] ?? NaN)), 0) / p.length;
        expect(change).to.be.below(0.02);
      });

      it('is the same after saving and reading back, also as text', async () => {
        const calibrator = await fitted();
        const text = JSON.stringify(calibrator);
        const read = GroupFairnessCalibrator.fromJSON(JSON.parse(text));
        expect(JSON.stringify(read)).to.equal(text);
        expect(await read.transform(scores, { groups })).to.deep.equal(await calibrator.transform(scores, { groups }));
        expect(read.fallbacks).to.deep.equal(calibrator.fallbacks);
      });

      it('describes every group and the pooled rows', async () => {
        const table = (await fitted()).describe();
        expect(table.toColumns()).to.deep.include({
          group: ['a', 'b', '(pooled)'],
          n: [200, 400, 600],
          calibrator: ['own', 'own', 'pooled'],
        });
      });
    });
  }

  it('reads typed arrays, columns, text labels and tensors equally', async () => {
    const { tf } = await loadTensorflow({ backend: 'cpu' });
    const [few, labels, own] = [Float32Array.from(scores.slice(0, 60)), y.slice(0, 60), groups.slice(0, 60)];
    const calibrator = (): GroupFairnessCalibrator => new GroupFairnessCalibrator({ minSamples: 10 });
    const expected = await calibrator().fitTransform(few, labels, { groups: own });
    const [scoreTensor, labelTensor] = [tf.tensor1d(few), tf.tensor1d([...labels], 'int32')];
    const others = [
      await calibrator().fitTransform([...few], Array.from(labels, String), { groups: own }),
      await calibrator().fitTransform({ kind: 'numeric', values: Float64Array.from(few) }, labels, {
        groups: { sex: own },
      }),
      await calibrator().fitTransform(
        few,
        Array.from(labels, (label) => (label === 1 ? 'yes' : 'no')),
        {
          groups: own,
          positiveLabel: 'yes',
        },
      ),
    ];
    for (const other of others) expect(other).to.deep.equal(expected);
    // Text groups beside tensors are uploaded.
    const calibrated = await calibrator().fitTransform(scoreTensor, labelTensor, { groups: own });
    (await calibrated.data()).forEach((value, row) => {
      expect(value).to.be.closeTo(expected[row] ?? NaN, 1e-6);
    });
    tf.dispose([calibrated, scoreTensor, labelTensor]);
  });

  it('keeps groups whose labels are names of inherited properties', async () => {
    const odd = groups.map((label) => (label === 'a' ? '__proto__' : 'constructor'));
    const calibrator = await new GroupFairnessCalibrator({ minSamples: 300 }).fit(scores, y, { groups: odd });
    expect(Object.keys(calibrator.fallbacks)).to.deep.equal(['__proto__']);
    expect(Object.keys(GroupFairnessCalibrator.fromJSON(JSON.parse(JSON.stringify(calibrator))).fallbacks)).to.deep.equal(['__proto__']); // prettier-ignore
  });

  it('returns no values if there are no rows to transform', async () => {
    const calibrator = await new GroupFairnessCalibrator().fit(scores, y, { groups });
    expect(await calibrator.transform([], { groups: [] })).to.deep.equal(new Float64Array(0));
    const typed = await calibrator.transform(new Float32Array(0), { groups: new Int32Array(0) });
    expect(typed).to.deep.equal(new Float64Array(0));
  });

  it('cannot be modified from outside, whether fitted or read back', async () => {
    const calibrator = await new GroupFairnessCalibrator().fit(scores, y, { groups });
    const read = GroupFairnessCalibrator.fromJSON(JSON.parse(JSON.stringify(calibrator)));
    for (const one of [calibrator, read]) {
      expect([one, one.warnings, one.fallbacks].map((part) => Object.isFrozen(part))).to.deep.equal([true, true, true]);
      expect(Reflect.set(one, 'method', 'bogus')).to.equal(false);
      expect(one.method).to.equal('platt');
    }
  });

  it('discards the earlier fit when fitted again', async () => {
    const calibrator = await new GroupFairnessCalibrator().fit(scores, y, { groups: oneGroup(600) });
    await calibrator.transform([0.5], { groups: ['new'] });
    await calibrator.fit(scores, y, { groups });
    const fresh = await new GroupFairnessCalibrator().fit(scores, y, { groups });
    expect([calibrator.toJSON(), calibrator.fallbacks]).to.deep.equal([fresh.toJSON(), fresh.fallbacks]);
  });
});

describe('a calibrator rejects', () => {
  const fit = (scores: unknown, y: unknown, groups: unknown, sampleWeight?: unknown) => (): Promise<unknown> =>
    new GroupFairnessCalibrator({ minSamples: 1 }).fit(scores as number[], y as number[], {
      groups: groups as string[],
      sampleWeight: sampleWeight as number[] | undefined,
    });
  const refusals: [string, () => Promise<unknown>, RegExp][] = [
    ['a score above 1', fit([0.5, 1.2], [0, 1], ['a', 'a']), /scores must lie in \[0, 1\], but holds 1\.2 at index 1/],
    [
      'a negative score',
      fit([-0.1, 0.2], [0, 1], ['a', 'a']),
      /scores must lie in \[0, 1\], but holds -0\.1 at index 0/,
    ],
    [
      'an infinite score',
      fit([0.5, Infinity], [0, 1], ['a', 'a']),
      /scores must be finite, but holds Infinity at index 1/,
    ],
    ['a missing score', fit([0.5, NaN], [0, 1], ['a', 'a']), /scores is missing at index 1/],
    [
      'text for scores',
      fit([0.5, 'high'], [0, 1], ['a', 'a']),
      /scores must hold numbers, but holds '0\.5' at index 0|'high'/,
    ],
    ['a label of 2', fit([0.5, 0.6], [0, 2], ['a', 'a']), /y must be 0 or 1, but holds 2 at index 1/],
    ['text for labels', fit([0.5, 0.6], ['no', 'yes'], ['a', 'a']), /y must be 0 or 1, but holds 'no' at index 0/],
    ['a missing label', fit([0.5, 0.6, 0.7], [0, null, 1], ['a', 'a', 'a']), /y is missing at index 1/],
    ['a missing group', fit([0.5, 0.6], [0, 1], ['a', null]), /groups is missing at index 1/],
    ['no groups', fit([0.5, 0.6], [0, 1], undefined), /groups must hold one value per row; got undefined/],
    ['a number for groups', fit([0.5, 0.6], [0, 1], 5), /groups must hold one value per row; got 5/],
    ['null for groups', fit([0.5, 0.6], [0, 1], null), /groups must hold one value per row; got null/],
    ['groups without a column', fit([0.5, 0.6], [0, 1], {}), /groups names no attribute/],
    ['a negative weight', fit([0.5, 0.6], [0, 1], ['a', 'a'], [1, -1]), /sampleWeight must be 0 or more.*index 1/],
    ['weights that are all 0', fit([0.5, 0.6], [0, 1], ['a', 'a'], [0, 0]), /sampleWeight is 0 in every row/],
    [
      'weights whose sum is infinite',
      fit([0.5, 0.6], [0, 1], ['a', 'a'], [1e308, 1e308]),
      /sum of the weights in sampleWeight is too large/,
    ],
    ['lengths that differ', fit([0.5, 0.6], [0, 1, 1], ['a', 'a']), /scores and y differ in length: 2 and 3/],
    ['no rows', fit([], [], []), /no rows to learn from/],
    ['labels that are all 1', fit([0.5, 0.6], [1, 1], ['a', 'a']), /y is 1 in every row/],
  ];
  for (const [title, run, message] of refusals) {
    it(title, async () => {
      const error = await run().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as DataValidationError).message).to.match(message);
    });
  }

  const parameters: [string, ConstructorParameters<typeof GroupFairnessCalibrator>[0], RegExp][] = [
    [
      'an unknown method',
      { method: 'beta' as 'platt' },
      /method parameter must be one of platt, isotonic, temperature/,
    ],
    ['a fraction of a row', { minSamples: 1.5 }, /minSamples parameter must be a whole number of at least 1/],
    ['minSamples of 0', { minSamples: 0 }, /minSamples parameter must be a whole number of at least 1/],
    ['an unknown input', { input: 'odds' as 'logit' }, /input parameter must be one of logit, score/],
    [
      'an input for a method without inputs',
      { method: 'isotonic', input: 'score' },
      /input parameter must be left out/,
    ],
  ];
  for (const [title, options, message] of parameters) {
    it(title, () => {
      expect(() => new GroupFairnessCalibrator(options)).to.throw(ValueError, message);
    });
  }

  it('transform before fit', async () => {
    const error = await new GroupFairnessCalibrator().transform([0.5], { groups: ['a'] }).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(TrainingError);
    expect((error as TrainingError).message).to.match(/has not been fitted/);
  });

  const damaged: [string, (json: Record<string, Record<string, unknown>>) => unknown, RegExp][] = [
    ['another kind', (json) => ({ ...json, kind: 'logistic_regression' }), /kind/],
    ['no object', () => 'text', /saved calibrator/],
    ['an unknown method', (json) => ({ ...json, params: { ...json['params'], method: 'beta' } }), /params\.method/],
    ['a slope that is text', (json) => ({ ...json, state: { ...json['state'], pooled: { kind: 'platt', input: 'logit', slope: 'x', intercept: 0 } } }), /state\.pooled/], // prettier-ignore
    ['steps that fall', (json) => ({ ...json, state: { ...json['state'], pooled: { kind: 'isotonic', scores: [0, 1], rates: [1, 0] } } }), /state\.pooled/], // prettier-ignore
    ['a pooled map of another kind than the method', (json) => ({ ...json, state: { ...json['state'], pooled: { kind: 'temperature', temperature: 2 } } }), /state\.pooled.*platt/], // prettier-ignore
    ['a pooled line through another input', (json) => ({ ...json, state: { ...json['state'], pooled: { kind: 'platt', input: 'score', slope: 1, intercept: 0 } } }), /state\.pooled.*logit/], // prettier-ignore
    ['a group\'s map of another kind than the method', (json) => ({ ...json, state: { ...json['state'], groups: [{ label: 'g', n: 60, positive_rate: 0.5, map: { kind: 'isotonic', scores: [0], rates: [0.5] }, reason: null }] } }), /state\.groups\.0\.map.*platt/], // prettier-ignore
    ['a label twice', (json) => ({ ...json, state: { ...json['state'], groups: [json['state']?.['groups'], json['state']?.['groups']].flat() } }), /state\.groups.*twice/], // prettier-ignore
    ['a group without a map or a reason', (json) => ({ ...json, state: { ...json['state'], groups: [{ label: 'g', n: 60, positive_rate: 0.5, map: null, reason: null }] } }), /state\.groups\.0.*reason/], // prettier-ignore
    ['a group with a map and a reason', (json) => ({ ...json, state: { ...json['state'], groups: [{ label: 'g', n: 60, positive_rate: 0.5, map: { kind: 'platt', input: 'logit', slope: 1, intercept: 0 }, reason: 'small' }] } }), /state\.groups\.0.*reason/], // prettier-ignore
    ['a temperature of 0', (json) => ({ ...json, state: { ...json['state'], pooled: { kind: 'temperature', temperature: 0 } } }), /state\.pooled/], // prettier-ignore
  ];
  for (const [title, damage, message] of damaged) {
    it(`saved JSON with ${title}`, async () => {
      const { scores, y } = drawScores(60, (score) => score);
      const calibrator = await new GroupFairnessCalibrator().fit(scores, y, { groups: oneGroup(60) });
      const json = JSON.parse(JSON.stringify(calibrator)) as Record<string, Record<string, unknown>>;
      expect(() => GroupFairnessCalibrator.fromJSON(damage(json))).to.throw(DataValidationError, message);
    });
  }

  it('nothing if the calibrator was saved before fit', () => {
    const read = GroupFairnessCalibrator.fromJSON(new GroupFairnessCalibrator({ minSamples: 7 }).toJSON());
    expect([read.minSamples, read.toJSON().state]).to.deep.equal([7, null]);
  });
});
