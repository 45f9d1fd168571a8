/** The text of a table cell without a number. */
export const NOTHING = '\u2013';

/** The unit of a value: shares are shown in percent. */
export type Unit = 'share' | 'number';

/** Returns the text with a capital letter at its start. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a count with thousands separated: `12,345`; a sum of weights with at most one decimal. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** Returns a count for a table: a sum of weights with at most four decimals; a dash if there is none. */
export function tableCount(count: number | null | undefined): string {
  return count?.toLocaleString('en-US', { maximumFractionDigits: 4 }) ?? NOTHING;
}

/** Returns a count with its noun: `1 event`, `2,000 events`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Returns a number with a fixed number of decimals: `0.1235`; NaN is `undefined`, and infinity `no bound`. */
export function formatNumber(value: number, decimals = 4): string {
  if (Number.isNaN(value)) return 'undefined';
  return Number.isFinite(value) ? value.toFixed(decimals) : 'no bound';
}

/** Returns a number for a table: four decimals, or four significant digits if four decimals would hide it. */
export function tableNumber(value: number | null | undefined): string {
  const known = value ?? NaN;
  const size = Math.abs(known);
  const isHidden = (size > 0 && size < 5e-5) || (size >= 1e15 && size < Infinity);
  return isHidden ? known.toExponential(3) : formatNumber(known);
}

/** Returns a number with some significant digits, without trailing zeros: `0.14`. */
export function formatSignificant(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** Returns a number with two significant digits, trailing zeros included: `0.10`. */
export function twoDigits(value: number): string {
  if (!Number.isFinite(value)) return 'undefined';
  const size = Math.abs(value);
  return size >= 1e-4 && size < 10 ? value.toPrecision(2) : formatSignificant(value, 2);
}

/** Returns a number with some significant digits, or all before the decimal point: `1,235`, `0.124`. */
export function formatCompact(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return size >= 1000 ? formatCount(Math.round(value)) : formatSignificant(value, digits);
}

/** Returns a statistic or a mean with four significant digits, or all before the decimal point. */
export function formatStatistic(value: number): string {
  return formatCompact(value, 4);
}

/** Returns a value beside its row in a chart: a share with one decimal, a number with three significant digits. */
export function chartValue(value: number, unit: Unit): string {
  if (unit === 'share') return formatShare(value);
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1000
    ? value.toFixed(2 - Math.min(2, Math.floor(Math.log10(size))))
    : formatCompact(value);
}

/** Returns a value for a table: a share as a percentage with two decimals, a number as {@link tableNumber} does. */
export function tableValue(value: number | null | undefined, unit: Unit): string {
  return unit === 'share' && Number.isFinite(value) ? formatShare(value as number, 2) : tableNumber(value);
}

/** Returns a share as a percentage: `12.3%`. */
export function formatShare(share: number, decimals = 1): string {
  return Number.isNaN(share) ? 'undefined' : `${(100 * share).toFixed(decimals)}%`;
}

/** Returns a confidence level as a percentage without trailing zeros: `95%`. */
export function formatLevel(level: number): string {
  return `${String(Number((100 * level).toFixed(6)))}%`;
}

/** Returns an interval in words: `0.1000 to 0.2000`. */
export function rangeText(ends: readonly [number, number], shown: (end: number) => string = tableNumber): string {
  return `${shown(ends[0])} to ${shown(ends[1])}`;
}

/** Returns an interval in brackets: `[0.100, 0.200]`; an empty text if there is none. */
export function bracketText(ends: readonly [number, number] | null): string {
  return ends === null ? '' : `[${ends[0].toFixed(3)}, ${ends[1].toFixed(3)}]`;
}

/** Returns a number with a plus sign if it is above 0: `+0.1235`. */
export function withPlus(value: number, shown: (value: number) => string = (size) => formatNumber(size)): string {
  return `${value > 0 ? '+' : ''}${shown(value)}`;
}

/** Returns a change with its sign: `+0.1235`; an empty text if it is undefined. */
export function formatChange(change: number): string {
  return Number.isNaN(change) ? '' : withPlus(change);
}

/** Returns a p-value for a table: `0.012`, or `< 0.001`; a dash if there is none. */
export function pValueText(p: number | null): string {
  if (p === null) return NOTHING;
  return p < 0.001 ? '< 0.001' : formatNumber(p, 3);
}

/** Returns a p-value with its relation sign: `= 0.012`, or `< 0.001`. */
export function pValuePhrase(p: number): string {
  return p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`;
}

/** Returns a p-value for a sentence: `p = 0.012`, or `p < 0.001`. */
export function pValueWords(p: number): string {
  return `p ${pValuePhrase(p)}`;
}
