import { invalidParameter, oneOf } from '../../internal/arguments.ts';
import { AdwinDetector, type AdwinOptions } from './adwin-detector.ts';
import { BettingDetector, type BettingDetectorOptions } from './betting-detector.ts';
import { CusumDetector, type CusumOptions } from './cusum-detector.ts';
import { DdmDetector, type DdmOptions } from './ddm-detector.ts';
import type { DriftDetector } from './drift-detector.ts';
import { EwmaDetector, type EwmaOptions } from './ewma-detector.ts';
import { HddmADetector, type HddmAOptions } from './hddm-a-detector.ts';
import { HddmWDetector, type HddmWOptions } from './hddm-w-detector.ts';
import { KsWindowDetector, type KsWindowOptions } from './ks-window-detector.ts';
import { PageHinkleyDetector, type PageHinkleyOptions } from './page-hinkley-detector.ts';

/** The options of each detector by its name. */
export interface DriftDetectorOptions {
  readonly adwin: AdwinOptions;
  readonly page_hinkley: PageHinkleyOptions;
  readonly cusum: CusumOptions;
  readonly ewma: EwmaOptions;
  readonly ddm: DdmOptions;
  readonly hddm_a: HddmAOptions;
  readonly hddm_w: HddmWOptions;
  readonly ks_windows: KsWindowOptions;
  readonly betting: BettingDetectorOptions;
}

/** The name of a detector that is built in. */
export type DriftDetectorName = keyof DriftDetectorOptions;

/** A detector by its name, with parameters. */
export type DriftDetectorSpec = {
  [Name in DriftDetectorName]: { readonly name: Name; readonly params?: DriftDetectorOptions[Name] | undefined };
}[DriftDetectorName];

/** Which detector: a name, a name with parameters, or a function that makes a new one. */
export type DriftDetectorChoice = DriftDetectorName | DriftDetectorSpec | (() => DriftDetector);

type DetectorMakers = {
  readonly [Name in DriftDetectorName]: (params?: DriftDetectorOptions[Name]) => DriftDetector;
};

const MAKERS: DetectorMakers = {
  adwin: (params) => new AdwinDetector(params),
  page_hinkley: (params) => new PageHinkleyDetector(params),
  cusum: (params) => new CusumDetector(params),
  ewma: (params) => new EwmaDetector(params),
  ddm: (params) => new DdmDetector(params),
  hddm_a: (params) => new HddmADetector(params),
  hddm_w: (params) => new HddmWDetector(params),
  ks_windows: (params) => new KsWindowDetector(params),
  betting: (params) => new BettingDetector(params),
};

/** The names of the detectors that are built in. */
export const DRIFT_DETECTOR_NAMES = Object.freeze(Object.keys(MAKERS) as DriftDetectorName[]);

/** What an object must have to be a detector. */
const METHODS = ['update', 'state', 'restore'] as const;

/**
 * Makes a new detector from a name, a name with parameters, or a function.
 * @param source a function must return a new detector at each call: two streams must not share one
 * @throws {ValueError} for an unknown name, an unknown or invalid parameter, or a function that returns no detector
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
  // The maker of a name takes that name's options; one type for all of them cannot say so.
  const maker = MAKERS[oneOf('detector', name, DRIFT_DETECTOR_NAMES)];
  return maker(params);
}

function requireDetector(made: unknown): DriftDetector {
  const candidate = (made ?? {}) as Partial<DriftDetector>;
  if (typeof candidate.name === 'string' && METHODS.every((method) => typeof candidate[method] === 'function')) {
    return made as DriftDetector;
  }
  throw invalidParameter('detector', 'be a function that returns a detector', typeof made);
}
