/** A loss of one prediction; both the truth and the prediction are cut to the range first. */
export type GroupLossName = 'square' | 'absolute' | 'zero_one';

/** The losses that groups can be held to. */
export const GROUP_LOSSES: readonly GroupLossName[] = ['square', 'absolute', 'zero_one'];

/** The lowest and highest value that counts. */
export type LossRange = readonly [number, number];

/** A value cut to a range. */
export function cut(value: number, [low, high]: LossRange): number {
  return Math.min(high, Math.max(low, value));
}

/** The loss of a distance |truth - prediction|. On labels and decisions 0 and 1, `zero_one` counts errors. */
export function lossOf(name: GroupLossName): (distance: number) => number {
  return name === 'square' ? (distance) => distance * distance : (distance) => distance;
}
