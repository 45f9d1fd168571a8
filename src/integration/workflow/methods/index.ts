import type { TrainingMethod } from '../../../schemas/pipeline/pipeline-document.ts';
import { LAGRANGIAN, REGULARIZED } from './network.ts';
import { REDUCTIONS } from './reductions.ts';
import type { TrainingMethodDefinition } from './training-method.ts';

/** All training methods that a configuration can name. */
export const TRAINING_METHODS: Readonly<Record<TrainingMethod, TrainingMethodDefinition>> = {
  reductions: REDUCTIONS,
  regularized: REGULARIZED,
  lagrangian: LAGRANGIAN,
};
