import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { validateFile } from '../../src/integration/validate-file.ts';
import { validateRows, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import type { ValidateInput } from '../../src/schemas/validate-values.ts';
import { FairnessAnalyzer } from '../../src/metrics/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/** Decisions, truth and group of 20 rows. */
const TABLE = [
  ...Array<string>(5).fill('x,x,a'),
  ...Array<string>(3).fill('y,y,a'),
  ...Array<string>(2).fill('z,z,a'),
  ...Array<string>(2).fill('x,x,b'),
  ...Array<string>(2).fill('y,y,b'),
  ...Array<string>(2).fill('y,x,b'),
  ...Array<string>(4).fill('z,z,b'),
].map((row) => row.split(','));

/*
 * By hand. Selection rates: x 0.5 and 0.2, y 0.3 and 0.4, z 0.2 and 0.4; differences 0.3, 0.1 and 0.2, mean 0.2.
 * Equalized odds: group a has no error. In group b, x has a TPR of 2/4, y an FPR of 2/8, and z no error; mean 0.25.
 */
const EXPECTED = { demographic_parity_difference: 0.2, equalized_odds_difference: 0.25 };

const column = (index: number): string[] => TABLE.map((row) => row[index] as string);
const ROWS: ValidateRowsInput = {
  yPred: column(0),
  yTrue: column(1),
  sensitive: { group: column(2) },
  minGroupSize: 5,
  average: 'macro',
};

describe('a validation that averages over classes', () => {
  const folder = useTemporaryFolder();

  function file(): string {
    const name = path.join(folder(), 'classes.csv');
    writeFileSync(name, ['decision,truth,group', ...TABLE.map((row) => row.join(','))].join('\n'));
    return name;
  }
  const columns: ValidateInput = {
    attributes: [['group']],
    yPred: 'decision',
    yTrue: 'truth',
    minGroupSize: 5,
    average: 'macro',
  };

  for (const backend of ['native', 'danfo', 'duckdb'] as const) {
    it(`gives the mean of one-against-rest metrics, with ${backend}`, async () => {
      const analyzer = new FairnessAnalyzer({ minGroupSize: 5, backend });
      for (const validation of [await validateRows({ ...ROWS, backend }), await validateFile(file(), { ...columns, backend })]) {
        const metrics = validation.attributes['group'] ?? {};
        expect(Object.keys(metrics)).to.deep.equal(Object.keys(EXPECTED));
        for (const [name, value] of Object.entries(EXPECTED)) {
          expect(metrics[name]?.value).to.be.closeTo(value, 1e-12);
          const own = await analyzer.metric(name, { yPred: column(0), yTrue: column(1), sensitive: { group: column(2) } }, { average: 'macro', withEffectSize: false }); // prettier-ignore
          expect(metrics[name]?.toJSON()).to.deep.equal(own.toJSON());
        }
      }
    }); // prettier-ignore
  }

  it('applies gates to the mean', async () => {
    const gates = [{ metric: 'equalized_odds_difference', threshold: 0.2 }];
    expect((await validateRows({ ...ROWS, gates })).gates[0]?.message).to.match(/^FAIL: .* 0\.2500 > 0\.2\./);
  });

  it('counts a class that only the true labels have for metrics with true labels only', async () => {
    // Nobody is predicted z: it counts as a class of equalized odds, with rates of 0, and not of demographic parity.
    const yPred = column(0).map((label) => (label === 'z' ? 'y' : label));
    const { attributes } = await validateRows({ ...ROWS, yPred });
    const own = await new FairnessAnalyzer({ minGroupSize: 5 }).metric('demographic_parity_difference', { yPred, sensitive: column(2) }, { average: 'macro' }); // prettier-ignore
    expect(attributes['group']?.['demographic_parity_difference']?.value).to.equal(own.value);
    expect(own.value).to.be.closeTo(0.3, 1e-12);
  });

  const refused: readonly (readonly [title: string, input: object, text: RegExp])[] = [
    ['a positive label', { positiveLabel: 'x' }, /cannot be combined with a positiveLabel/],
    ['a positive label of the truth', { yTruePositiveLabel: 'x' }, /cannot be combined with a positiveLabel/],
    ['a control feature', { control: column(2) }, /cannot be combined with control/],
    ['a metric of numbers', { metric: 'mae_parity_difference' }, /decisions only, but mae_parity_difference/],
    ['a single class', { yPred: column(0).map(() => 'x'), yTrue: undefined }, /needs at least two classes/],
    ['scores', { yPred: undefined, yScore: column(0).map(() => 0.5) }, /average.*needs decisions/],
    ['another average', { average: 'weighted' }, /average must be .*macro.*got 'weighted'/],
  ];
  for (const [title, input, text] of refused) {
    it(`is rejected with ${title}`, async () => {
      const error = await validateRows({ ...ROWS, ...input }).then(
        () => expect.fail('it was accepted'),
        (reason: unknown) => reason as Error,
      );
      expect(error.message).to.match(text);
    });
  }

  it('is bounded by the number of classes', async () => {
    const many = { ...ROWS, yPred: TABLE.map((_, row) => `c${String(row)}`), yTrue: undefined };
    const error = await validateRows(many, { maxClasses: 19 }).catch(String);
    expect(error).to.match(/20 classes.*at most 19/);
    await validateRows(many, { maxClasses: 20 });
    const ofFile = await validateFile(file(), columns, { maxClasses: 2 }).catch(String);
    expect(ofFile).to.match(/3 classes.*at most 2/);
  });
});
