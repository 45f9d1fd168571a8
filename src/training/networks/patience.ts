import type { Judgement } from './objective.ts';

/** Early stopping of k models apart. */
export interface Patience {
  /** Takes an epoch's judgement and tells which models are at their best yet: 1 or 0 each. */
  update(judgement: Judgement): Uint8Array;
  /** Whether a model has run out of patience. */
  readonly isResting: (model: number) => boolean;
  /** Whether every model has run out of patience. */
  isOver(): boolean;
  /** The epoch, from 1, at which each model was best. */
  readonly bestEpochs: Uint32Array;
}

/** Lets a model rest after so many epochs without a better score. */
export function createPatience(models: number, patience: number): Patience {
  const best = new Float64Array(models).fill(Infinity);
  const waited = new Uint32Array(models);
  const bestEpochs = new Uint32Array(models);
  const isResting = (model: number): boolean => (waited[model] as number) >= patience;
  let epoch = 0;
  return {
    bestEpochs,
    isResting,
    update({ scores, mayRest }) {
      epoch++;
      return Uint8Array.from({ length: models }, (_, model) => {
        const score = scores[model] as number;
        if (isResting(model)) return 0;
        if (score < (best[model] as number)) {
          best[model] = score;
          waited[model] = 0;
          bestEpochs[model] = epoch;
          return 1;
        }
        if (mayRest?.[model] !== false) waited[model] = (waited[model] as number) + 1;
        return 0;
      });
    },
    isOver: () => waited.every((_, model) => isResting(model)),
  };
}
