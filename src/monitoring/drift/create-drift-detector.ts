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

/** The options of each detector, by its name. */
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

/** The name of a built-in detector. */
export type DriftDetectorName = keyof DriftDetectorOptions;

/** A detector by its name, with parameters. */
export type DriftDetectorSpec = {
  [Name in DriftDetectorName]: { readonly name: Name; readonly params?: DriftDetectorOptions[Name] | undefined };
}[DriftDetectorName];

/** A detector: a name, a name with parameters, or a function that creates one. */
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

/** The names of the built-in detectors. */
export const DRIFT_DETECTOR_NAMES = Object.freeze(Object.keys(MAKERS) as DriftDetectorName[]);

/** The methods that every detector must have. */
const METHODS = ['update', 'state', 'restore'] as const;

/**
 * Creates a detector from a name, a name with parameters, or a function.
 * @param source a function must return a new detector on each call, because streams must not share one
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
  // Each maker takes the options of its own name; the type system cannot express this for a name in a variable.
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
