import { LagrangianFairnessTrainer } from '../../../training/networks/lagrangian-fairness-trainer.ts';
import { trainNetwork } from './network.ts';
import type { TrainingMethodDefinition } from './training-method.ts';

/** A network whose gaps between groups are held within a tolerance by multipliers. */
export const LAGRANGIAN: TrainingMethodDefinition = {
  async train(rows, settings) {
    const { params, task, seed, backend } = settings;
    const trainer = new LagrangianFairnessTrainer({ backend, ...params, task, seed });
    const trained = await trainNetwork(trainer, rows, settings);
    return { ...trained, warnings: [...trained.warnings, ...unmetWarning(trainer)] };
  },
};

/** Where no epoch was within the tolerance, the nearest was kept. */
function unmetWarning({ history, bestEpoch, options }: LagrangianFairnessTrainer): string[] {
  const { fairness, dpTol, eoTol } = options;
  const violation = history[bestEpoch - 1]?.violationHard ?? 0;
  const tolerance = fairness === 'demographic_parity' ? dpTol : eoTol;
  if (violation <= tolerance) return [];
  return [
    `the constraint is not met on the training rows: no epoch was within ${String(tolerance)}, and the nearest, kept, is at ${violation.toPrecision(3)}; train for more epochs, or raise the tolerance`,
  ];
}
