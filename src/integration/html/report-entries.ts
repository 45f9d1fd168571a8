import type { Chart } from '../../charts/chart.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { metricCharts } from './metric-charts.ts';
import type { FileValidation } from '../validate-file.ts';

/** What a report is made of: a validation; `frames` only where groups were compared inside levels. */
export type ReportedValidation = Omit<FileValidation, 'frames' | 'labels'> &
  Partial<Pick<FileValidation, 'frames' | 'labels'>>;

/** A metric in its place on the page. */
export interface ReportEntry {
  readonly attribute: string;
  readonly result: MetricResult;
  readonly id: string;
  readonly charts: readonly Chart[];
}

/** Every metric of every attribute, in order. */
export function entriesOf({ attributes }: ReportedValidation): ReportEntry[] {
  return Object.entries(attributes).flatMap(([attribute, metrics], place) =>
    Object.values(metrics).map((result, index) => ({
      attribute,
      result,
      id: `metric-${String(place + 1)}-${String(index + 1)}`,
      charts: metricCharts(result, attribute),
    })),
  );
}
