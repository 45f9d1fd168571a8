import type { MeasureName } from '../measures/index.ts';
import type { MetricResult } from '../metric-result.ts';
import type { MetricOptions } from '../options.ts';

/** A number of each measure; NaN where it is undefined. */
export type MeasureValues = Readonly<Record<string, number>>;

/** What is read of a metric frame by whoever judges or prints it. */
export interface FrameValues {
  readonly measures: readonly MeasureName[];
  readonly overall: MeasureValues;
  readonly byGroup: Readonly<Record<string, MeasureValues>>;
  readonly nPerGroup: Readonly<Record<string, number>>;
  readonly byLevel: Readonly<Record<string, FrameValues>>;
  readonly warnings: readonly string[];
  difference(): MeasureValues;
  ratio(): MeasureValues;
  metric(name: MeasureName, comparison?: 'difference' | 'ratio', options?: MetricOptions): MetricResult;
}
