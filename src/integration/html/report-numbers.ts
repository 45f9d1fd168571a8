import type { DecisionRateName } from '../../metrics/measures/index.ts';

/** Measures that are shares of rows, shown in percent. */
const SHARES: Readonly<Record<DecisionRateName, true>> = {
  selection_rate: true,
  true_positive_rate: true,
  false_negative_rate: true,
  false_positive_rate: true,
  true_negative_rate: true,
  precision: true,
  false_discovery_rate: true,
  negative_predictive_value: true,
  false_omission_rate: true,
  accuracy: true,
  error_rate: true,
  base_rate: true,
};

/** Returns the unit of a measure by its name, which may end with a class of a multiclass outcome. */
export function unitOf(measure: string): 'share' | 'number' {
  return Object.hasOwn(SHARES, measure.replace(/ of '.*'$/s, '')) ? 'share' : 'number';
}

/** Formats a number for a table: four decimals, or four significant digits if four decimals would hide it. */
export function tableNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return 'undefined';
  if (!Number.isFinite(value)) return 'no bound';
  const size = Math.abs(value);
  return size !== 0 && (size < 5e-5 || size >= 1e15) ? value.toExponential(3) : value.toFixed(4);
}

/** Formats the value of a measure for a table: shares in percent. */
export function tableValue(value: number | null | undefined, unit: 'share' | 'number'): string {
  const isShare = unit === 'share' && value !== null && value !== undefined && Number.isFinite(value);
  return isShare ? `${(100 * value).toFixed(2)}%` : tableNumber(value);
}

/** Formats a number of rows or a sum of their weights. */
export function tableCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '\u2013' : count.toLocaleString('en-US', { maximumFractionDigits: 4 });
}

/** Formats a p-value; a very small one as a bound. */
export function tablePValue(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** Returns the record's own value. Labels come from data and may have the name of an inherited property. */
export function own<T>(record: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined {
  return record !== null && record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
