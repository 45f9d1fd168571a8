import path from 'node:path';

import { ADULT_FEATURES, ADULT_TASK } from '../../../scripts/adult-task.ts';
import { expect } from 'chai';

import { loadData } from '../../../src/io/index.ts';
import type { Table } from '../../../src/table/index.ts';
import type { TensorBackend } from '../../../src/tensor/index.ts';
import { LagrangianFairnessTrainer, loadModel, sweepPareto } from '../../../src/training/index.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { describeWithReference, referencePath } from '../../helpers/reference.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { describeOnSoftwareGpu } from '../../helpers/software-gpu.ts';

/** The share of rows on which the decisions of the same training on two backends may differ. */
const MAX_DIFFERENT = 0.01;

const { target: TARGET, positiveLabel: POSITIVE, sensitive: SENSITIVE } = ADULT_TASK;
const BACKENDS = ['wasm', 'webgpu'] as const;
const ETAS = [0, 4];

/** A software GPU is slow for each row and each step, so only some of the rows are used, in large batches. */
const LEARNED_FROM = 4;
const SHARED = { batchSize: 2048, hidden: [8], epochs: 3, patience: 10, seed: 7 } as const;
const LIMIT_MILLIS = 120_000;

type Decisions = ArrayLike<number>;

/** Prints and checks the share of rows decided differently; both must decide 1 for some rows and 0 for others. */
function compare(title: string, one: Decisions, other: Decisions): void {
  const n = one.length;
  expect(other.length).to.equal(n);
  let [different, chosen] = [0, 0];
  for (let row = 0; row < n; row++) {
    different += Number(one[row] !== other[row]);
    chosen += one[row] ?? NaN;
  }
  console.log(`      ${title}: ${String(different)} of ${String(n)} decisions differ (${((100 * different) / n).toFixed(3)}%)`); // prettier-ignore
  expect(chosen / n, 'rows decided for').to.be.within(0.02, 0.5);
  expect(different / n, title).to.be.at.most(MAX_DIFFERENT);
}

describeWithReference('the same training on Adult, on wasm and on webgpu @slow', () => {
  describeOnSoftwareGpu('makes the same decisions', function () {
    onDevice('webgpu');
    const folder = useTemporaryFolder();
    let [train, test] = [] as unknown as [Table, Table];
    before(async () => {
      train = everyNth(await loadData(referencePath('data', 'adult.train.csv')), LEARNED_FROM);
      test = await loadData(referencePath('data', 'adult.test.csv'));
    });

    it('in a sweep, for every eta', async function () {
      this.timeout(LIMIT_MILLIS);
      const decisions: Decisions[][] = [];
      for (const backend of BACKENDS) {
        const position = path.join(folder(), backend);
        const sweep = await sweepPareto(
          { table: train, testTable: everyNth(test, 10), ...ADULT_TASK, features: ADULT_FEATURES }, // prettier-ignore
          { ...SHARED, backend, etas: ETAS, penalty: 'mean_gap', lr: 0.05, modelPath: position },
        );
        expect(sweep.backend).to.equal(backend);
        decisions.push(await Promise.all(ETAS.map((eta) => decide(path.join(position, `eta-${String(eta)}`), test, backend)))); // prettier-ignore
      }
      ETAS.forEach((eta, index) => {
        compare(`eta ${String(eta)}`, decisions[0]?.[index] ?? [], decisions[1]?.[index] ?? []);
      });
      // The penalty has an effect; otherwise all etas would give the same network.
      const [free, bound] = (decisions[1] ?? []).map((one) => Array.from(one));
      expect(free).not.to.deep.equal(bound);
    });

    it('under a constraint', async function () {
      this.timeout(LIMIT_MILLIS);
      const { codes, labels } = train.categorical(TARGET);
      const y = Array.from(codes, (code) => Number(labels[code]?.startsWith(POSITIVE)));
      const decisions: Decisions[] = [];
      for (const backend of BACKENDS) {
        const options = { ...SHARED, backend, modelLr: 0.05, lambdaLr: 0.1, dpTol: 0.05 };
        const trainer = new LagrangianFairnessTrainer(options);
        await trainer.fit(train.select(ADULT_FEATURES), y, { sensitive: train.column(SENSITIVE) });
        expect(trainer.history.at(-1)?.lambdas[0], 'the multiplier').to.be.above(0);
        decisions.push(await trainer.predict(test.select(ADULT_FEATURES)));
      }
      compare('the constrained network', decisions[0] ?? [], decisions[1] ?? []);
    });
  });
});

function everyNth(table: Table, n: number): Table {
  return table.take(Int32Array.from({ length: Math.floor(table.rowCount / n) }, (_, row) => row * n));
}

async function decide(folder: string, table: Table, backend: TensorBackend): Promise<Decisions> {
  return (await loadModel(folder, { backend })).predict(table);
}
