import { RegularizedFairnessTrainer } from '../../../training/networks/regularized-fairness-trainer.ts';
import { trainNetwork } from './network.ts';
import type { TrainingMethodDefinition } from './training-method.ts';

/** A network with a penalty on gaps between groups. */
export const REGULARIZED: TrainingMethodDefinition = {
  train(rows, settings) {
    const { params, task, seed, backend } = settings;
    return trainNetwork(new RegularizedFairnessTrainer({ backend, ...params, task, seed }), rows, settings);
  },
};
