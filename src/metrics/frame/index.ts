export { type ControlCell, crossControl, levelsOf, type StatsByKind } from './cross-control.ts';
export { type MeasureValues, MetricFrame } from './metric-frame.ts';
export { metricFrame, type MetricFrameRows } from './metric-frame-of-rows.ts';
export type { SimpsonFinding } from './simpson.ts';
