import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { watchKernels } from '../../../scripts/gpu-check/watch-kernels.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { loadTensorflow, type NetworkRows, type TensorBackend, type Tf } from '../../../src/tensor/index.ts';
import { NETWORK_DEFAULTS } from '../../../src/training/networks/network-options.ts';
import { FAIRNESS_PENALTIES, type FairnessPenaltyName } from '../../../src/training/networks/penalties.ts';
import { createRegularizedObjective } from '../../../src/training/networks/regularized-objective.ts';
import { trainNetworks } from '../../../src/training/networks/train-networks.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { describeOn } from '../../helpers/software-gpu.ts';

const [ROWS, INPUTS, GROUPS] = [64, 3, 2];
const ETAS = [0, 1, 2];

/** The batch sizes of two runs of one epoch: their steps differ, and all other work is the same. */
const BATCH_SIZES = [16, 32] as const;

/** The limit for every penalty on WebGPU, where the time of a step depends on the number of kernels. */
const LIMIT = 50;

function makeRows(areWeighted: boolean): NetworkRows {
  const random = createRandom(5);
  const rows = {
    x: Float32Array.from({ length: ROWS * INPUTS }, () => random.normal()),
    y: Float32Array.from({ length: ROWS }, () => random.integer(2)),
    groups: Int32Array.from({ length: ROWS }, () => random.integer(GROUPS)),
    inputs: INPUTS,
    groupCount: GROUPS,
  };
  return areWeighted ? { ...rows, weights: Float32Array.from({ length: ROWS }, () => 1 + random.integer(3)) } : rows;
}

/** The kernels that return their input under another shape or name, so that no backend starts work for them. */
const WITHOUT_WORK = ['Reshape', 'Identity'];

/** Counts the kernels of one epoch. */
async function kernelsOfEpoch(
  tf: Tf,
  penalty: FairnessPenaltyName,
  areWeighted: boolean,
  batchSize: number,
): Promise<number> {
  const rows = makeRows(areWeighted);
  const objective = createRegularizedObjective(tf, {
    etas: ETAS,
    penalty,
    task: 'binary',
    groupCount: GROUPS,
    seed: 1,
  });
  const problem = { train: rows, validation: rows, names: ETAS.map((eta) => `eta ${String(eta)}`), objective };
  let count = 0;
  try {
    await watchKernels(
      tf,
      (name) => {
        if (!WITHOUT_WORK.includes(name)) count++;
      },
      () => trainNetworks(tf, problem, { ...NETWORK_DEFAULTS, epochs: 1, batchSize }),
    );
  } finally {
    objective.dispose();
  }
  return count;
}

async function kernelsPerStep(tf: Tf, penalty: FairnessPenaltyName, areWeighted = false): Promise<number> {
  const [many, few] = BATCH_SIZES;
  const [ofMany, ofFew] = [
    await kernelsOfEpoch(tf, penalty, areWeighted, many),
    await kernelsOfEpoch(tf, penalty, areWeighted, few),
  ];
  return (ofMany - ofFew) / (ROWS / many - ROWS / few);
}

/** Reads the kernels per step from the columns `now` of docs/performance.md. */
function documented(penalty: FairnessPenaltyName, backend: TensorBackend): number {
  const page = readFileSync(path.join(projectRoot, 'docs/performance.md'), 'utf8').split('\n');
  const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim());
  const head = cells(page.find((line) => /^\| penalty .*now/.test(line)) ?? '');
  const row = cells(page.find((line) => line.startsWith(`| \`${penalty}\``)) ?? '');
  return Number(row[head.findIndex((cell) => cell.includes('now') && cell.includes(`\`${backend}\``))]);
}

for (const backend of ['wasm', 'webgpu'] as const) {
  describeOn(backend, `the kernels of one training step on ${backend}`, () => {
    for (const penalty of FAIRNESS_PENALTIES) {
      it(`with the penalty ${penalty} are as many as documented`, async () => {
        const { tf } = await loadTensorflow({ backend });
        const count = await kernelsPerStep(tf, penalty);
        if (backend === 'webgpu') expect(count).to.be.below(LIMIT);
        expect(count).to.equal(documented(penalty, backend));
      });
    }

    if (backend !== 'webgpu') return;
    for (const penalty of FAIRNESS_PENALTIES) {
      it(`with the penalty ${penalty} are no more with sample weights`, async () => {
        const { tf } = await loadTensorflow({ backend });
        expect(await kernelsPerStep(tf, penalty, true)).to.equal(documented(penalty, backend));
      });
    }
  });
}
