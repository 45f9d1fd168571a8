export {
  accuracyParityDifference,
  demographicParityDifference,
  demographicParityRatio,
  equalizedOddsDifference,
  equalizedOddsRatio,
  equalOpportunityDifference,
  falsePositiveRateDifference,
  predictiveParityDifference,
} from './decision-metrics.ts';
export { calibrationDifference, rocAucDifference } from './score-metrics.ts';
export { maeParityDifference, meanPredictionDifference, rmseParityDifference } from './error-metrics.ts';
