export { AdwinDetector, type AdwinOptions, type AdwinParameters } from './adwin-detector.ts';
export { BettingDetector, type BettingDetectorOptions, type BettingParameters } from './betting-detector.ts';
export type { ChangeDirection } from './detector-state.ts';
export {
  createDriftDetector,
  DRIFT_DETECTOR_NAMES,
  type DriftDetectorChoice,
  type DriftDetectorName,
  type DriftDetectorOptions,
  type DriftDetectorSpec,
} from './create-drift-detector.ts';
export { CusumDetector, type CusumOptions, type CusumParameters } from './cusum-detector.ts';
export { DdmDetector, type DdmOptions, type DdmParameters } from './ddm-detector.ts';
export type { DetectorState, DriftDetector } from './drift-detector.ts';
export { EwmaDetector, type EwmaOptions, type EwmaParameters } from './ewma-detector.ts';
export { HddmADetector, type HddmAOptions, type HddmParameters } from './hddm-a-detector.ts';
export { HddmWDetector, type HddmWOptions, type HddmWParameters } from './hddm-w-detector.ts';
export { KsWindowDetector, type KsWindowOptions, type KsWindowParameters } from './ks-window-detector.ts';
export { PageHinkleyDetector, type PageHinkleyOptions, type PageHinkleyParameters } from './page-hinkley-detector.ts';
