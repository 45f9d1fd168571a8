import { canonicalLabel } from '../../internal/label-text.ts';
import { isDeviceTensor } from '../../table/index.ts';
import {
  type ColumnReading,
  type ColumnRole,
  type ColumnSource,
  countLabels,
  countTexts,
  encodeAttributes,
  labelValue,
  missingGroups,
  missingOutcomes,
  numbersAmong,
  readingOfGroups,
  readingOfLabels,
  readingOfMissing,
  readLabels,
  type SensitiveSource,
  suspiciousGroups,
  toColumn,
  unwrap,
} from '../../table/index.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import type { MetricRows } from '../row-options.ts';

/**
 * Returns a record of how labels and texts were interpreted. There is a record for each column with values other than
 * 0, 1 and plain group labels.
 */
export function rowReadings(kind: GroupStats['kind'], rows: MetricRows): ColumnReading[] {
  return [...outcomeReadings(kind, rows), ...groupReadings(rows.sensitive, rows.naValues)];
}

/** Returns the {@link rowReadings} of predictions, true labels, scores and weights. */
export function outcomeReadings(kind: GroupStats['kind'], rows: Omit<MetricRows, 'sensitive'>): ColumnReading[] {
  const { yPred, yTrue, yScore, sampleWeight, positiveLabel, naValues } = rows;
  const isMacro = rows.average === 'macro';
  const label = (role: ColumnRole, source: ColumnSource | undefined, positive: string | undefined): ColumnReading[] =>
    labelReading(role, source, isMacro ? undefined : positive, naValues);
  const number = (role: ColumnRole, source: ColumnSource | undefined): ColumnReading[] =>
    numberReading(role, source, naValues);
  const truth = rows.yTruePositiveLabel ?? positiveLabel;
  const ofKind = {
    classification: () => [...label('predictions', yPred, positiveLabel), ...label('true labels', yTrue, truth)],
    regression: () => [...number('predictions', yPred), ...number('true labels', yTrue)],
    scores: () => [...number('scores', yScore), ...label('true labels', yTrue, truth)],
  };
  return [...ofKind[kind](), ...number('weights', sampleWeight)];
}

/** Returns the {@link rowReadings} of the sensitive columns, by name. */
export function groupReadings(sensitive: SensitiveSource, naValues: readonly string[] | undefined): ColumnReading[] {
  if (isDeviceTensor(sensitive)) return [];
  const missing = missingGroups(naValues);
  return encodeAttributes(withoutTensors(sensitive)).flatMap(([name, column]) => {
    const labels = column.labels.filter((label) => label !== '');
    const groups = [...new Set(labels.map(canonicalLabel))];
    if (suspiciousGroups(groups, naValues).length === 0 && !labels.some((label) => missing.has(label))) return [];
    const counts = countLabels(column).filter(({ label }) => label !== '');
    const read = counts.map((one) => ({ ...one, value: missing.has(one.label) ? -1 : 1 }));
    return readingOfGroups(name, read, naValues);
  });
}

function labelReading(
  role: ColumnRole,
  source: ColumnSource | undefined,
  positiveLabel: string | undefined,
  naValues: readonly string[] | undefined,
): ColumnReading[] {
  if (source === undefined || isDeviceTensor(source)) return [];
  if (positiveLabel === undefined && naValues === undefined && !holdsText(source)) return [];
  const { column, rule } = readLabels(source, role, positiveLabel, naValues);
  const labels = countLabels(column).map((one) => ({ ...one, value: labelValue(one.label, rule) ?? NaN }));
  const missing = labels.filter(({ label, value }) => value < 0 && label !== '');
  if (rule.positiveLabel === undefined && missing.length === 0) return [];
  const known = labels.filter(({ value }) => value >= 0);
  return [readingOfLabels(role, [...known, ...missing], { positiveLabel: rule.positiveLabel })];
}

function numberReading(
  role: ColumnRole,
  source: ColumnSource | undefined,
  naValues: readonly string[] | undefined,
): ColumnReading[] {
  if (source === undefined || isDeviceTensor(source)) return [];
  const missing = missingOutcomes(naValues);
  if (!holdsText(source) && numbersAmong(missing).length === 0) return [];
  const counts = countTexts(toColumn(source, role), missing);
  return Object.keys(counts).length === 0 ? [] : [readingOfMissing(role, counts)];
}

/** Returns whether a column may hold texts. For arrays of numbers and booleans, this check is cheap. */
function holdsText(source: ColumnSource): boolean {
  const values = unwrap(source, 'column');
  if ('kind' in values) return values.kind === 'categorical';
  if (ArrayBuffer.isView(values)) return false;
  for (let row = 0; row < values.length; row++) if (typeof values[row] === 'string') return true;
  return false;
}

function withoutTensors(sensitive: SensitiveSource): SensitiveSource {
  if (Array.isArray(sensitive) || Object.getPrototypeOf(sensitive) !== Object.prototype || 'kind' in sensitive) {
    return sensitive;
  }
  const hosted = Object.entries(sensitive as Record<string, ColumnSource>).filter(([, own]) => !isDeviceTensor(own));
  return hosted.length === 0 ? { sensitive: [] } : Object.fromEntries(hosted);
}
