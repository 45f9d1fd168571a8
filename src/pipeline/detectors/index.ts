export type { Contrast, ContrastEnd } from './contrast.ts';
export type { Detector, DetectorFinding, DetectorSettings, Sentence } from './detector.ts';
export type { DetectorConfig } from './detector-config.ts';
export { DetectorReport } from './detector-report.ts';
export type {
  AssociationCell,
  DetectorReportBody,
  DetectorReportMeta,
  DetectorSummary,
  SkippedColumn,
} from './detector-report-fields.ts';
export type { DisparityFinding } from './disparity-detector.ts';
export type { MissingnessFinding } from './missingness-detector.ts';
export type { ProxyFinding } from './proxy-detector.ts';
export type { GroupRepresentation, RepresentationFinding } from './representation-detector.ts';
export { runDetectors, type RunDetectorsOptions } from './run-detectors.ts';
export { plotProxies, type PlotProxiesOptions } from './plot-proxies.ts';
export { assertReportPath, writeDetectorReport } from './write-detector-report.ts';
