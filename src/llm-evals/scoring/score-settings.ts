import { requireLevel, requireInteger } from '../../stats/parameters.ts';
import type { ScoreOptions } from './llm-evaluator.ts';

/** {@link ScoreOptions} with defaults filled in. */
export type ScoreSettings = Pick<ScoreOptions, 'controlDimension'> & {
  readonly [Name in Exclude<keyof ScoreOptions, 'controlDimension'>]-?: NonNullable<ScoreOptions[Name]>;
};

/** The number of random permutations of every test. */
export const PERMUTATIONS = 4999;

/**
 * Fills in defaults and checks the options.
 * @throws {ValueError} if an option is out of range
 */
export function scoreSettings(options: ScoreOptions = {}): ScoreSettings {
  return {
    minGroupSize: requireInteger('minGroupSize', options.minGroupSize ?? 5, 1),
    withCi: options.withCi ?? true,
    ciLevel: requireLevel('ciLevel', options.ciLevel ?? 0.95),
    ciSamples: requireInteger('ciSamples', options.ciSamples ?? 200, 1),
    allowSmallSamples: options.allowSmallSamples ?? false,
    controlDimension: options.controlDimension,
    seed: requireInteger('seed', options.seed ?? 42, Number.MIN_SAFE_INTEGER),
  };
}

/**
 * Returns the reason why a metric is undefined if there are too few independent items. Returns null if there are enough
 * items.
 */
export function tooFew(units: number, { minGroupSize, allowSmallSamples }: ScoreSettings): string | null {
  if (units === 0) return 'no item has answers for both values';
  if (units >= minGroupSize || (allowSmallSamples && units > 0)) return null;
  return `${String(units)} independent ${units === 1 ? 'item was' : 'items were'} answered for both values, fewer than ${String(minGroupSize)} (min_group_size); items with the same name, or with the same template, count once`;
}

/** Returns the smallest p-value that is possible in a test that randomly flips the signs of n independent items. */
export function minSignFlip(units: number): number {
  return Math.max(2 ** (1 - units), 1 / (PERMUTATIONS + 1));
}
