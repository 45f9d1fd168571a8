/** The text of an empty table cell. */
export const NOTHING = '\u2013';

/** The unit of a value. A value with the unit `share` is shown in percent. */
export type Unit = 'share' | 'number';

/** Capitalizes the first letter of a text. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a text with a small first letter, unless it starts with an abbreviation such as ROC. */
export function uncapital(text: string): string {
  return /^\p{Lu}\p{Ll}/u.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}

/** Formats a count with thousands separators: `12,345`. A sum of weights gets at most one decimal. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** Joins names with commas. If there are more than `most`, the result has the first names and the number of the others. */
export function firstNames(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${formatCount(names.length - most)} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}

/** Formats a count for a table. A sum of weights gets at most four decimals, and a missing count becomes a dash. */
export function tableCount(count: number | null | undefined): string {
  return count?.toLocaleString('en-US', { maximumFractionDigits: 4 }) ?? NOTHING;
}

/** Returns a count with its noun: `1 event`, `2,000 events`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Formats a number with a fixed number of decimals: `0.1235`. NaN becomes `undefined`, and infinity `no bound`. */
export function formatNumber(value: number, decimals = 4): string {
  if (Number.isNaN(value)) return 'undefined';
  return Number.isFinite(value) ? value.toFixed(decimals) : 'no bound';
}

/** Formats a number for a table: four decimals, or four significant digits if it is very small or very large. */
export function tableNumber(value: number | null | undefined): string {
  const known = value ?? NaN;
  const size = Math.abs(known);
  const isHidden = (size > 0 && size < 5e-5) || (size >= 1e15 && size < Infinity);
  return isHidden ? known.toExponential(3) : formatNumber(known);
}

/** Formats a number with the given number of significant digits, without trailing zeros: `0.14`. */
export function formatSignificant(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** Formats a number with two significant digits, including trailing zeros: `0.10`. */
export function twoDigits(value: number): string {
  if (!Number.isFinite(value)) return 'undefined';
  const size = Math.abs(value);
  return size >= 1e-4 && size < 10 ? value.toPrecision(2) : formatSignificant(value, 2);
}

/**
 * Formats a number with the given number of significant digits. Digits before the decimal point are never rounded:
 * `1,235`, `0.124`.
 */
export function formatCompact(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return size >= 1000 ? formatCount(Math.round(value)) : formatSignificant(value, digits);
}

/** Formats a statistic or a mean with four significant digits. Digits before the decimal point are never rounded. */
export function formatStatistic(value: number): string {
  return formatCompact(value, 4);
}

/** Formats a value for a chart: a share as a percentage with one decimal, a number with three significant digits. */
export function chartValue(value: number, unit: Unit): string {
  if (unit === 'share') return formatShare(value);
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1000
    ? value.toFixed(2 - Math.min(2, Math.floor(Math.log10(size))))
    : formatCompact(value);
}

/** Formats a value for a table: a share as a percentage with two decimals, a number with {@link tableNumber}. */
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

/** Formats an interval in brackets: `[0.100, 0.200]`. Returns an empty text if there is no interval. */
export function bracketText(ends: readonly [number, number] | null): string {
  return ends === null ? '' : `[${ends[0].toFixed(3)}, ${ends[1].toFixed(3)}]`;
}

/** Formats a number, with a plus sign if it is above 0: `+0.1235`. */
export function withPlus(value: number, shown: (value: number) => string = (size) => formatNumber(size)): string {
  return `${value > 0 ? '+' : ''}${shown(value)}`;
}

/** Formats a change with its sign: `+0.1235`. Returns an empty text if the change is undefined. */
export function formatChange(change: number): string {
  return Number.isNaN(change) ? '' : withPlus(change);
}

/** Formats a p-value for a table: `0.012`, or `< 0.001`. A missing p-value becomes a dash. */
export function pValueText(p: number | null): string {
  if (p === null) return NOTHING;
  return p < 0.001 ? '< 0.001' : formatNumber(p, 3);
}

/** Formats a p-value with an equals or less-than sign: `= 0.012`, or `< 0.001`. */
export function pValuePhrase(p: number): string {
  return p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`;
}

/** Formats a p-value for use in a sentence: `p = 0.012`, or `p < 0.001`. */
export function pValueWords(p: number): string {
  return `p ${pValuePhrase(p)}`;
}

/** The maximum number of names in a message. */
const MAX_NAMES = 8;

/** Formats names: 'a', 'b' and 3 more. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `'${name}'`);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into units that a reader sees as one character, such as a letter with its combining marks. */
export function charactersOf(text: string): string[] {
  // Creating a segmenter takes long, and plain text needs none.
  if (/^[ -~]*$/.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
