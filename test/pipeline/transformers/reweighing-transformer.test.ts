import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { ReweighingTransformer } from '../../../src/pipeline/transformers/weighting/reweighing-transformer.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface Reference {
  readonly dataset: { readonly sex: number[]; readonly label: number[]; readonly weight: number[] };
  readonly reweighing_unweighted: { readonly weights: number[] };
  readonly reweighing_weighted: { readonly weights: number[] };
}

type Rows = Record<string, (string | number | null)[]>;

const weigh = async (
  options: ConstructorParameters<typeof ReweighingTransformer>[0],
  rows: Rows,
  sampleWeight?: readonly number[],
) => {
  const weigher = await new ReweighingTransformer(options).fit(rows, { sampleWeight });
  return { weigher, weights: [...((await weigher.transform(rows)).sampleWeight ?? [])] };
};

const expectClose = (actual: readonly number[], expected: readonly number[], tolerance = 1e-12) => {
  expect(actual).to.have.length(expected.length);
  actual.forEach((value, row) => {
    expect(value, `row ${row}`).to.be.closeTo(expected[row] ?? NaN, tolerance);
  });
};

describeWithReference('ReweighingTransformer against AIF360', () => {
  const reference = () => readVectors('aif360_metrics_and_algorithms.json') as Reference;

  it('assigns the same weights', async () => {
    const { dataset, reweighing_unweighted } = reference();
    const { weights } = await weigh({ sensitive: 'sex', label: 'label' }, { sex: dataset.sex, label: dataset.label });
    expectClose(weights, reweighing_unweighted.weights);
  });

  it('returns factors that turn the given weights into its own', async () => {
    const { dataset, reweighing_weighted } = reference();
    const { weights } = await weigh(
      { sensitive: 'sex', label: 'label' },
      { sex: dataset.sex, label: dataset.label },
      dataset.weight,
    );
    expectClose(
      weights.map((factor, row) => factor * (dataset.weight[row] ?? NaN)),
      reweighing_weighted.weights,
    );
  });
});

describe('ReweighingTransformer', () => {
  it("gives the weights of Kamiran and Calders' example of ten applicants", async () => {
    // Of 5 women 2 and of 5 men 4 are positive; the paper has 1.5, 0.67, 0.75 and 2.
    const rows = {
      sex: ['f', 'f', 'f', 'f', 'f', 'm', 'm', 'm', 'm', 'm'],
      y: ['+', '+', '-', '-', '-', '+', '+', '+', '+', '-'],
    };
    const { weights } = await weigh({ sensitive: 'sex', label: 'y' }, rows);
    expectClose(weights, [1.5, 1.5, 2 / 3, 2 / 3, 2 / 3, 0.75, 0.75, 0.75, 0.75, 2]);
  });

  it('makes group and label independent in the weighted rows, with three groups and three labels', async () => {
    const s = 'aaaaaabbbbccccccc'.split('');
    const y = 'xyzzyxxyzzzxxyzxy'.split('');
    const { weights } = await weigh({ sensitive: 's', label: 'y' }, { s, y });
    const sum = (isMeant: (row: number) => boolean) =>
      weights.reduce((total, weight, row) => total + (isMeant(row) ? weight : 0), 0);
    for (const group of 'abc') {
      for (const label of 'xyz') {
        const cell = sum((row) => s[row] === group && y[row] === label);
        expect(cell * 17).to.be.closeTo(sum((row) => s[row] === group) * sum((row) => y[row] === label), 1e-9);
      }
    }
  });

  it('crosses several attributes', async () => {
    const rows = { a: ['x', 'x', 'y', 'y', 'y'], b: ['p', 'q', 'p', 'q', 'q'], y: [0, 1, 1, 0, 1] };
    const crossed = { g: ['x||p', 'x||q', 'y||p', 'y||q', 'y||q'], y: rows.y };
    const both = await weigh({ sensitive: ['a', 'b'], label: 'y' }, rows);
    expectClose(both.weights, (await weigh({ sensitive: 'g', label: 'y' }, crossed)).weights);
  });

  it('counts all other labels as negative if a positive one is named', async () => {
    const rows = { s: ['a', 'a', 'a', 'b', 'b', 'b'], y: ['high', 'low', 'none', 'high', 'high', 'low'] };
    const binary = { s: rows.s, y: [1, 0, 0, 1, 1, 0] };
    const named = await weigh({ sensitive: 's', label: 'y', positiveLabel: 'high' }, rows);
    expectClose(named.weights, (await weigh({ sensitive: 's', label: 'y' }, binary)).weights);
  });

  it('keeps the mean weight 1 if a combination never occurs', async () => {
    // (b, 1) never occurs: 4/6, 4/12 and 8/12 over observed counts, rescaled.
    const { weights } = await weigh({ sensitive: 's', label: 'y' }, { s: ['a', 'a', 'b', 'b'], y: [0, 1, 0, 0] });
    const raw = [(2 * 3) / 4, (2 * 1) / 4, (2 * 3) / 8, (2 * 3) / 8];
    const mean = raw.reduce((sum, weight) => sum + weight, 0) / 4;
    expectClose(
      weights,
      raw.map((weight) => weight / mean),
    );
  });

  it('caps at 10 and keeps the mean 1', async () => {
    const s = Array.from({ length: 400 }, (_, row) => (row < 200 ? 'a' : 'b'));
    const y = s.map((group, row) => Number(group === 'b' || row === 0));
    const { weights, weigher } = await weigh({ sensitive: 's', label: 'y' }, { s, y });
    expect(Math.max(...weights)).to.equal(10);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).to.be.closeTo(400, 1e-9);
    expect(weigher.warnings.join()).to.match(
      /^weights of 1 combinations? (is|are) capped at 10, so independence is not reached$/,
    );
  });

  it('gives groups equal shares without a label, and targets if given', async () => {
    const rows = { s: ['a', 'b', 'b', 'b'] };
    expectClose((await weigh({ sensitive: 's' }, rows)).weights, [2, 2 / 3, 2 / 3, 2 / 3]);
    expectClose((await weigh({ sensitive: 's', targets: { a: 0.4, b: 0.6 } }, rows)).weights, [1.6, 0.8, 0.8, 0.8]);
  });

  it('returns no weights for rows without the label or the group', async () => {
    const weigher = await new ReweighingTransformer({ sensitive: 's', label: 'y' }).fit({ s: ['a', 'b'], y: [0, 1] });
    expect((await weigher.transform({ s: ['a'] })).sampleWeight).to.equal(null);
    expect((await weigher.transform({ y: [0] })).sampleWeight).to.equal(null);
  });

  it('assigns weight 1 to rows that lack a value and to unseen combinations, which it names', async () => {
    const weigher = await new ReweighingTransformer({ sensitive: 's', label: 'y' }).fit({
      s: ['a', 'b', 'b', null, 'a'],
      y: [0, 1, 0, 1, null],
    });
    const { sampleWeight } = await weigher.transform({ s: ['a', null, 'b', 'z'], y: [1, 0, null, 1] });
    expect([...(sampleWeight ?? [])]).to.deep.equal([1, 1, 1, 1]);
    expect(weigher.warnings.join()).to.match(
      /'a with label 1', 'z with label 1' have the weight 1 \(not seen in fit\)$/,
    );
  });

  it('gives equal weights to one group, and to one label', async () => {
    expectClose((await weigh({ sensitive: 's', label: 'y' }, { s: ['a', 'a'], y: [0, 1] })).weights, [1, 1]);
    expectClose((await weigh({ sensitive: 's', label: 'y' }, { s: ['a', 'b'], y: [1, 1] })).weights, [1, 1]);
  });

  it('rejects a positive label that no row has, with the most similar name', async () => {
    const failure = await new ReweighingTransformer({ sensitive: 's', label: 'y', positiveLabel: 'yess' })
      .fit({ s: ['a', 'b'], y: ['yes', 'no'] })
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
    expect((failure as DataValidationError).suggestion).to.match(/'yes'/);
  });

  describe('of a label column of numbers', () => {
    const rows = (count: number, text = false): Rows => {
      const y = Array.from({ length: 63 }, (_, row) => row % count);
      return { s: y.map((_, row) => (row % 2 === 0 ? 'a' : 'b')), y: text ? y.map((value) => `class ${value}`) : y };
    };

    it('rejects more than 20 values, since each would be a class, with a suggestion', async () => {
      const failure = await weigh({ sensitive: 's', label: 'y' }, rows(21)).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(DataValidationError);
      const { message, context, suggestion } = failure as DataValidationError;
      expect(message).to.match(/'y'.*21 distinct numbers/);
      expect(context).to.include({ argument: 'label', column: 'y', values: 21 });
      expect(suggestion).to.match(/InstanceReweighting.*positiveLabel/);
    });

    for (const { title, options, given } of [
      { title: '20 values', options: {}, given: rows(20) },
      { title: '21 values of text', options: {}, given: rows(21, true) },
      { title: '21 values of which one is positive', options: { positiveLabel: '3' }, given: rows(21) },
    ]) {
      it(`accepts ${title}`, async () => {
        const { weights } = await weigh({ sensitive: 's', label: 'y', ...options }, given);
        expect(weights.reduce((sum, weight) => sum + weight, 0)).to.be.closeTo(63, 1e-9);
      });
    }

    it('counts only rows with a weight above 0', async () => {
      const sampleWeight = Array.from({ length: 63 }, (_, row) => Number(row % 21 < 20));
      const { weights } = await weigh({ sensitive: 's', label: 'y' }, rows(21), sampleWeight);
      expect(weights[20]).to.equal(1);
    });
  });

  it('rejects a label column without values', async () => {
    const failure = await new ReweighingTransformer({ sensitive: 's', label: 'y' })
      .fit({ s: ['a', 'b'], y: [null, null] })
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
  });

  it('rejects options out of range', () => {
    expect(() => new ReweighingTransformer({ sensitive: 's', maxWeight: 0 })).to.throw(ValueError);
    expect(() => new ReweighingTransformer({ sensitive: 's', targets: { a: -1 } })).to.throw(ValueError);
    expect(() => new ReweighingTransformer({ sensitive: [] })).to.throw(ValueError);
  });
});
