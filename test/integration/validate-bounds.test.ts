import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { validateFile } from '../../src/integration/validate-file.ts';
import { validateRows, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Rows with a number of groups, four rows each. */
function rowsOf(groups: number): ValidateRowsInput & { sensitive: string[] } {
  const rows = Array.from({ length: 4 * groups }, (_, row) => row);
  return {
    yPred: rows.map((row) => row % 2),
    sensitive: rows.map((row) => `g${String(row >> 2)}`),
    minGroupSize: 1,
  };
}

describe('bounds of a validation', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();

  const refused: readonly (readonly [title: string, input: ValidateRowsInput, bounds: object, text: RegExp])[] = [
    ['too many groups', rowsOf(51), { maxGroups: 50 }, /'sensitive' has more than 50 groups/],
    [
      'too many groups of a named attribute',
      { ...rowsOf(51), sensitive: { id: rowsOf(51).sensitive } },
      { maxGroups: 50 },
      /'id' has more/,
    ],
    [
      'too many combinations',
      {
        ...rowsOf(20),
        sensitive: { a: rowsOf(20).sensitive, b: rowsOf(20).sensitive.map((_, row) => row % 4) },
        intersections: [['a', 'b']],
      },
      { maxGroups: 50 },
      /'a\|\|b' has more than 50 groups/,
    ],
    [
      'too many combinations with the control feature',
      { ...rowsOf(20), control: rowsOf(20).sensitive.map((_, row) => row % 4) },
      { maxGroups: 50 },
      /'control\|\|sensitive' has more than 50 groups/,
    ],
    [
      'a long label',
      { ...rowsOf(1), sensitive: ['a', 'a', 'b', 'x'.repeat(1001)] },
      { maxGroups: 50 },
      /label of 1,001/,
    ],
    [
      'too many replicates',
      { ...rowsOf(10), withCi: true, ciSamples: 11 },
      { maxDraws: 100 },
      /ciSamples is 11.*10 groups/,
    ],
    [
      'too many replicates of p-values',
      { ...rowsOf(10), withPValue: true, ciSamples: 11 },
      { maxDraws: 100 },
      /ciSamples is 11/,
    ],
  ];
  for (const [title, input, bounds, text] of refused) {
    it(`rejects ${title}`, async () => {
      const error = await errorOf(validateRows(input, bounds));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(String(error)).to.match(text);
      expect((error as DataValidationError).suggestion).to.be.a('string');
    });
  }

  it('accepts values at the bounds, and no bounds', async () => {
    await validateRows(rowsOf(50), { maxGroups: 50 });
    await validateRows({ ...rowsOf(10), withCi: true, ciSamples: 10 }, { maxDraws: 100 });
    // Without intervals there are no replicates.
    await validateRows({ ...rowsOf(10), withCi: false, ciSamples: 11 }, { maxDraws: 100 });
    await validateRows(rowsOf(300));
  });

  it('omits the intervals that nobody asked for, with the reason in the result', async () => {
    const [within, above] = [10, 11].map((ciSamples) => ({ ...rowsOf(10), ciSamples }));
    const metricOf = async (input: ValidateRowsInput) =>
      (await validateRows(input, { maxDraws: 100 })).attributes['sensitive']?.['demographic_parity_difference'];
    expect((await metricOf(within as ValidateRowsInput))?.ci).to.be.an('array');
    const omitted = await metricOf(above as ValidateRowsInput);
    expect([omitted?.value, omitted?.ci]).to.deep.equal([0, null]);
    expect(omitted?.warnings.join()).to.match(/no interval: 11 replicates times 10 groups exceed the limit of 100/);
    const silent = await metricOf({ ...above, withCi: false } as ValidateRowsInput);
    expect(silent?.warnings.join()).not.to.include('no interval');
  });

  it('stops at the next step after a signal, also from the event loop', async () => {
    const sensitive = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`a${String(index)}`, rowsOf(50).sensitive]),
    );
    const reason = new Error('enough');
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort(reason);
    }, 1);
    const work = validateRows(
      { ...rowsOf(50), sensitive, withCi: true, ciMethod: 'percentile', ciSamples: 5000 } as never,
      { signal: controller.signal },
    );
    expect(await errorOf(work)).to.equal(reason);
    expect(await errorOf(validateRows(rowsOf(2), { signal: AbortSignal.abort(reason) }))).to.equal(reason);
  });

  it('applies the same bounds to a file', async () => {
    const file = path.join(folder(), 'rows.csv');
    const { yPred, sensitive } = rowsOf(60);
    writeFileSync(
      file,
      [
        'sex,day,ok',
        ...sensitive.map((label, row) => `${label},${String(row % 4)},${String((yPred as number[])[row])}`),
        '',
      ].join('\n'),
    );
    const request = { attributes: [['sex']], yPred: 'ok', minGroupSize: 1 } as never;
    expect(String(await errorOf(validateFile(file, request, { maxGroups: 50 })))).to.match(/'sex' has more than 50/);
    expect(await errorOf(validateFile(file, request, { maxGroups: 60 }))).to.equal(undefined);
    const crossed = { attributes: [['sex']], yPred: 'ok', control: ['day'], minGroupSize: 1 } as never;
    expect(String(await errorOf(validateFile(file, crossed, { maxGroups: 60 })))).to.match(/'day\|\|sex' has more/);
    const drawn = { attributes: [['sex']], yPred: 'ok', minGroupSize: 1, withCi: true, ciSamples: 100 } as never;
    expect(String(await errorOf(validateFile(file, drawn, { maxDraws: 5999 })))).to.match(/ciSamples is 100/);
    const reason = new Error('enough');
    expect(await errorOf(validateFile(file, request, { signal: AbortSignal.abort(reason) }))).to.equal(reason);
  });
});
