import { expect } from 'chai';

import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { fitReductionBlocks } from '../../../src/training/reductions/fit-blocks.ts';
import type { ReductionsOptions } from '../../../src/training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { loadAnchorData, measure, type Part, readAnchors } from '../../helpers/anchor-data.ts';
import { describeWithReference } from '../../helpers/reference.ts';
import { kindsOf, type MadeRows, madeRows, withBlocks } from '../estimators/made-blocks.ts';
import { CONVERGED, expectFigures } from './converged-runs.ts';

const LABELS = ['a', 'b', 'c'];
const estimator = new LogisticRegression({ precision: 'float64' });

async function fitBlocks(
  options: ReductionsOptions,
  rows: MadeRows,
  blockRows: number,
  labels: readonly string[] = LABELS,
): ReturnType<typeof fitReductionBlocks> {
  return withBlocks(rows, blockRows, (blocks) =>
    fitReductionBlocks({ estimator, ...options }, blocks, labels, { onProgress: undefined, signal: undefined }),
  );
}

describe('a reduction on rows in blocks', () => {
  const cases: readonly ReductionsOptions[] = [
    { constraint: 'demographic_parity', eps: 0.02 },
    { constraint: 'equalized_odds', eps: 0.03, bound: 'pairwise' },
    { constraint: 'false_positive_rate_parity', eps: 0.02, costs: { falsePositive: 3, falseNegative: 1 } },
    { constraint: 'bounded_group_loss', loss: 'zero_one', upperBound: 0.2, eps: 0.02 },
  ];
  for (const options of cases) {
    it(`is that of the rows in memory, for every size of blocks: ${options.constraint ?? ''}`, async () => {
      const rows = madeRows(2500);
      const sensitive = Array.from(rows.codes, (code) => LABELS[code] as string);
      const expected = new ReductionsWrapper({ estimator, ...options });
      await expected.fit(rows.x, [...(rows.y as Uint8Array)], { sensitive });
      const decided = await expected.predictProba(rows.x);
      const selected = new Float64Array(6);
      kindsOf(rows).forEach((kind, row) => ((selected[kind] as number) += decided[row] as number));
      for (const blockRows of [2500, 800, 60]) {
        const { wrapper: found, selected: own } = await fitBlocks(options, rows, blockRows);
        expect(found.oracleCalls).to.equal(expected.oracleCalls);
        expect(found.bestGap).to.be.closeTo(expected.bestGap, 1e-10);
        expect(found.weights).to.have.length(expected.weights.length);
        for (const [index, weight] of expected.weights.entries()) expect(found.weights[index]).to.be.closeTo(weight, 1e-9); // prettier-ignore
        for (const [name, value] of Object.entries(expected.lambda)) expect(found.lambda[name]).to.be.closeTo(value, 1e-8); // prettier-ignore
        selected.forEach((value, kind) => expect(own[kind]).to.be.closeTo(value, 1e-6));
      }
    });
  }

  it('needs two groups for a parity constraint', async () => {
    const { codes, ...rows } = madeRows(300);
    const one = { ...rows, codes: codes.length === 0 ? codes : new Int32Array(codes.length), groupCount: 1 };
    const error: unknown = await fitBlocks({}, one, 100, ['a']).catch((cause: unknown) => cause);
    expect((error as Error).message).to.match(/compares groups, but only one group has rows with a weight above 0 \(a\)/); // prettier-ignore
  });
});

describeWithReference('reductions on rows in blocks, against converged runs of fairlearn', () => {
  const anchors = readAnchors();
  for (const [name, run, ofTrain, ofTest, calls] of CONVERGED) {
    const tag = run.endsWith('eps0.02') ? '' : ' @slow';
    it(`${name} ${run}${tag}`, async () => {
      const { train, test } = await loadAnchorData(name, anchors[name]);
      const labels = [...new Set(train.sensitive)].sort();
      const options: ReductionsOptions = {
        constraint: run.includes('EO') ? 'equalized_odds' : 'demographic_parity',
        eps: Number(run.split('eps')[1]),
      };
      const { wrapper } = await fitBlocks(options, rowsOf(train, labels), 150, labels);
      expectFigures(measure(await wrapper.predictProba(train.x), train), ofTrain);
      expectFigures(measure(await wrapper.predictProba(test.x), test), ofTest);
      expect(wrapper.oracleCalls).to.equal(calls);
    });
  }
});

function rowsOf({ x, y, sensitive }: Part, labels: readonly string[]): MadeRows {
  const codes = Int32Array.from(sensitive, (group) => labels.indexOf(group));
  return { x, y, codes, groupCount: labels.length };
}
