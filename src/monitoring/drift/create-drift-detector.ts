import { invalidParameter, oneOf } from '../../internal/arguments.ts';
import { AdwinDetector } from './adwin-detector.ts';
import { BettingDetector } from './betting-detector.ts';
import { CusumDetector } from './cusum-detector.ts';
import { DdmDetector } from './ddm-detector.ts';
import type { DriftDetector } from './drift-detector.ts';
import { EwmaDetector } from './ewma-detector.ts';
import { HddmADetector } from './hddm-a-detector.ts';
import { HddmWDetector } from './hddm-w-detector.ts';
import { KsWindowDetector } from './ks-window-detector.ts';
import { PageHinkleyDetector } from './page-hinkley-detector.ts';

const DETECTORS = {
  adwin: AdwinDetector,
  page_hinkley: PageHinkleyDetector,
  cusum: CusumDetector,
  ewma: EwmaDetector,
  ddm: DdmDetector,
  hddm_a: HddmADetector,
  hddm_w: HddmWDetector,
  ks_windows: KsWindowDetector,
  betting: BettingDetector,
};

/** The name of a built-in detector. */
export type DriftDetectorName = keyof typeof DETECTORS;

/** The options of each detector, by its name. */
export type DriftDetectorOptions = {
  readonly [Name in DriftDetectorName]: NonNullable<ConstructorParameters<(typeof DETECTORS)[Name]>[0]>;
};

/** A built-in detector, given by its name and parameters. */
export type DriftDetectorSpec = {
  [Name in DriftDetectorName]: { readonly name: Name; readonly params?: DriftDetectorOptions[Name] | undefined };
}[DriftDetectorName];

/** The specification of a detector: a name, a name with parameters, or a function that creates a detector. */
export type DriftDetectorChoice = DriftDetectorName | DriftDetectorSpec | (() => DriftDetector);

/** The names of the built-in detectors. */
export const DRIFT_DETECTOR_NAMES = Object.freeze(Object.keys(DETECTORS) as DriftDetectorName[]);

/** The methods that every detector must have. */
const METHODS = ['update', 'state', 'restore'] as const;

/**
 * Creates a detector from a name, a name with parameters, or a function.
 * @param source a name, a name with parameters, or a function; a function must return a new detector on each call,
 *   because streams must not share a detector
 * @throws {ValueError} if the name is unknown, a parameter is unknown or invalid, or the function does not return a
 *   detector
 * @example
 * ```ts
 * import { createDriftDetector } from 'evenhand/monitoring';
 *
 * const detector = createDriftDetector({ name: 'page_hinkley', params: { threshold: 20 } });
 * console.log(detector.name, detector.update(1));
 * // page_hinkley false
 * ```
 */
export function createDriftDetector(source: DriftDetectorChoice): DriftDetector {
  if (typeof source === 'function') return requireDetector(source());
  if (typeof source === 'string') return make(source, undefined);
  if (typeof source !== 'object' || (source as unknown) === null) {
    throw invalidParameter('detector', 'be a name, a name with params, or a function', source);
  }
  return make(source.name, source.params);
}

function make(name: string, params: DriftDetectorOptions[DriftDetectorName] | undefined): DriftDetector {
  // Each class takes the options that belong to its name. TypeScript cannot express this for a name in a variable.
  const Detector = DETECTORS[oneOf('detector', name, DRIFT_DETECTOR_NAMES)] as new (options: unknown) => DriftDetector;
  return new Detector(params);
}

function requireDetector(made: unknown): DriftDetector {
  const candidate = (made ?? {}) as Partial<DriftDetector>;
  if (typeof candidate.name === 'string' && METHODS.every((method) => typeof candidate[method] === 'function')) {
    return made as DriftDetector;
  }
  throw invalidParameter('detector', 'be a function that returns a detector', typeof made);
}
