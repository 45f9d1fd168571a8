export { type Cell, type FourCells, meanCell, type RateCell, rateCell } from './cell.ts';
export {
  type DifferenceInDifferences,
  type DifferenceInDifferencesOptions,
  differenceInDifferences,
} from './difference-in-differences.ts';
export { type LogitInteraction, logitInteraction } from './logit-interaction.ts';
export { newcombeInterval } from './newcombe-interval.ts';
export { detectableDifference, differencePower, type PowerOptions } from './power.ts';
