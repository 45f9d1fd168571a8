import { finiteOrNull, own, sumOf } from '../internal/values.ts';
import type { MetricFrame } from '../metrics/frame/index.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import { Table } from '../table/index.ts';
import type { ReportedValidation } from './validation-document.ts';
import { boundsOfGroup } from './metric-facts.ts';

/** A row of {@link validationTable}; a missing value is null. */
interface ValidationRow {
  readonly attribute: string;
  /** The metric; null in the rows of requested measures. */
  readonly metric: string | null;
  /** The measure of the group; null in a row with the value of a metric, and in a row of an excluded group. */
  readonly measure: string | null;
  /** The group; null for all rows or all compared groups together. */
  readonly group: string | null;
  readonly n: number | null;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly level: number | null;
  /** The two groups that the value of a metric compares. */
  readonly first: string | null;
  readonly second: string | null;
  /** The reason why the metric is undefined, or why the group is excluded. */
  readonly reason: string | null;
}

const NOTHING = {
  measure: null,
  group: null,
  n: null,
  value: null,
  low: null,
  high: null,
  level: null,
  first: null,
  second: null,
  reason: null,
};

const COLUMNS = ['attribute', 'metric', ...(Object.keys(NOTHING) as (keyof typeof NOTHING)[])] as const;

/**
 * Returns a validation as a tidy table. Each attribute and metric has one row for the value, one for each group and
 * measure, and one for each excluded group. Rows of requested measures have no metric. Undefined values and infinite
 * ends of intervals are missing values. If small counts were left out, `low` and `high` are bounds, without a level.
 */
export function validationTable({ attributes, measures }: ReportedValidation): Table {
  const rows = Object.entries(attributes).flatMap(([attribute, metrics]) => [
    ...Object.values(metrics).flatMap((result) => metricRows(attribute, result)),
    ...frameRows(attribute, own(measures, attribute)),
  ]);
  return Table.from(Object.fromEntries(COLUMNS.map((name) => [name, rows.map((row) => row[name])])));
}

function metricRows(attribute: string, result: MetricResult): ValidationRow[] {
  const { metric, value, ci, ciLevel, nPerGroup, perGroup, perGroupCi, excluded, first, second } = result;
  const row = (part: Partial<ValidationRow>): ValidationRow => ({ ...NOTHING, attribute, metric, ...part });
  const interval = (ends: readonly [number, number] | null | undefined): Partial<ValidationRow> =>
    ends === null || ends === undefined
      ? {}
      : { low: finiteOrNull(ends[0]), high: finiteOrNull(ends[1]), level: ciLevel };
  const n = sumOf(Object.values(nPerGroup));
  // Bounds have no level.
  return [
    row({
      n,
      value: finiteOrNull(value),
      ...interval(result.bounds ?? ci),
      first,
      second,
      reason: result.undefinedReason,
    }),
    ...Object.entries(perGroup).flatMap(([group, values]) =>
      Object.entries(values).map(([measure, rate]) =>
        row({
          measure,
          group,
          n: own(nPerGroup, group) ?? null,
          value: finiteOrNull(rate ?? null),
          ...interval(boundsOfGroup(result, group, measure) ?? own(own(perGroupCi, group), measure)),
        }),
      ),
    ),
    ...Object.entries(excluded).map(([group, { n: rows, reason }]) => row({ group, n: rows, reason })),
  ];
}

function frameRows(attribute: string, frame: MetricFrame | undefined): ValidationRow[] {
  if (frame === undefined) return [];
  const row = (part: Partial<ValidationRow>): ValidationRow => ({ ...NOTHING, attribute, metric: null, ...part });
  const total = sumOf(Object.values(frame.nPerGroup));
  return frame.measures.flatMap((measure) => [
    ...Object.entries(frame.byGroup).map(([group, values]) =>
      row({
        measure,
        group,
        n: own(frame.nPerGroup, group) ?? null,
        value: finiteOrNull(own(values, measure) ?? null),
      }),
    ),
    row({ measure, n: total, value: finiteOrNull(own(frame.overall, measure) ?? null) }),
  ]);
}
