export type {
  ABComparison,
  ABEffect,
  ABFinding,
  ABGap,
  ABGroup,
  ABInterval,
  ABRow,
  ABTestFields,
  PerArm,
  SampleRatio,
} from './ab-test-fields.ts';
export { type ABTestJson, ABTestResult } from './ab-test-result.ts';
export type {
  ABAnalysisOptions,
  ABAttribute,
  ABSettings,
  ABTestOptions,
  SequentialOptions,
} from './ab-test-options.ts';
export { AB_METRICS, type ABMetric } from './fairness-measures.ts';
export { FairnessABTestAnalyzer } from './fairness-ab-test-analyzer.ts';
export { type ArmLabels, type SplitArms, splitArms } from './split-arms.ts';
