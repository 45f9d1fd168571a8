import { LagrangianFairnessTrainer } from '../../../training/networks/lagrangian-fairness-trainer.ts';
import { trainNetwork } from './network.ts';
import type { TrainingMethodDefinition } from './training-method.ts';

/** A network whose gaps between groups are held within a tolerance by multipliers. */
export const LAGRANGIAN: TrainingMethodDefinition = {
  train(rows, settings) {
    const { params, task, seed, backend } = settings;
    return trainNetwork(new LagrangianFairnessTrainer({ backend, ...params, task, seed }), rows, settings);
  },
};
