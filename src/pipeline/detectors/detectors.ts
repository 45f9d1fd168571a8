import { disparityDetector } from './disparity-detector.ts';
import { missingnessDetector } from './missingness-detector.ts';
import { proxyDetector } from './proxy-detector.ts';
import { representationDetector } from './representation-detector.ts';

/** The detectors, in the order in which the report contains their findings. */
export const DETECTORS = {
  representation: representationDetector,
  disparities: disparityDetector,
  missingness: missingnessDetector,
  proxies: proxyDetector,
} as const;

/** The name of a detector. */
export type DetectorName = keyof typeof DETECTORS;

/** The names of all detectors. */
export const DETECTOR_NAMES = Object.keys(DETECTORS) as readonly DetectorName[];

/** The type of a detector's findings. */
export type FindingOf<Name extends DetectorName> = ReturnType<(typeof DETECTORS)[Name]['detect']>[number];
