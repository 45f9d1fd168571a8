import { canonicalLabel } from '../internal/label-text.ts';
import { isNumberText } from '../internal/values.ts';
import { type Column, isNumber, numbersOf } from './column.ts';

/**
 * The texts that are read as missing values: exactly the defaults of pandas' `read_csv`. The list applies to
 * predictions, true labels, scores, weights and features. In columns of groups, only the empty text means a missing
 * value, because `None` or `NA` may be the name of a group.
 */
export const MISSING_TEXTS: readonly string[] = Object.freeze([
  '',
  '#N/A',
  '#N/A N/A',
  '#NA',
  '-1.#IND',
  '-1.#QNAN',
  '-NaN',
  '-nan',
  '1.#IND',
  '1.#QNAN',
  '<NA>',
  'N/A',
  'NA',
  'NULL',
  'NaN',
  'None',
  'n/a',
  'nan',
  'null',
]);

/** Other texts that people write for a missing value. They are values, and only cause a warning. */
const USUALLY_MISSING =
  /^\s*(?:\?+|-+|\.+|n\. ?a\.?|k\. ?a\.?|unknown|missing|not (?:known|stated|available|reported)|unbekannt|keine angabe|inconnue?|non renseigné|desconocid[oa]|sin dato)\s*$/i;

/** Returns whether a text often means a missing value. */
export function oftenMeansMissing(text: string): boolean {
  return MISSING_TEXTS.includes(text) || USUALLY_MISSING.test(text);
}

/**
 * Returns the texts that mean a missing value in predictions, labels, scores, weights and features.
 * @param naValues texts that replace {@link MISSING_TEXTS}; the empty text always means a missing value
 * @param kept the positive label, which never means a missing value
 */
export function missingOutcomes(naValues: readonly string[] | undefined, kept?: string): ReadonlySet<string> {
  const missing = new Set(naValues === undefined ? MISSING_TEXTS : ['', ...naValues]);
  if (kept !== undefined) missing.delete(kept);
  return missing;
}

/**
 * Returns the labels that mean a missing value in sensitive and control columns; by default only the empty text. Labels
 * of the same group, such as `-99` and `-99.0`, are equal in this set.
 */
export function missingGroups(naValues: readonly string[] | undefined): ReadonlySet<string> {
  return new GroupLabels(['', ...(naValues ?? []).map(canonicalLabel)]);
}

/** A set of labels of groups. It compares labels as groups are compared. */
class GroupLabels extends Set<string> {
  override has(label: string): boolean {
    return super.has(canonicalLabel(label));
  }
}

/**
 * Returns the numbers among the given texts, for use in numeric columns. In a set of {@link missingGroups}, only texts
 * that a number has as its label, because `099` is not the group `99`.
 */
export function numbersAmong(texts: ReadonlySet<string>): number[] {
  const isLabel = texts instanceof GroupLabels ? (text: string) => String(Number(text)) === text : () => true;
  return [...texts].filter((text) => isNumberText(text) && isLabel(text)).map(Number);
}

/**
 * Returns a column in which the given texts are replaced by missing values, or the column itself if it contains none of
 * these texts. In a numeric column, texts that are numbers are compared by value.
 */
export function withoutTexts<Kind extends Column>(column: Kind, missing: ReadonlySet<string>): Kind;
export function withoutTexts(column: Column, missing: ReadonlySet<string>): Column {
  if (column.kind === 'numeric') {
    const numbers = new Set(numbersAmong(missing));
    if (numbers.size === 0) return column;
    return { kind: 'numeric', values: column.values.map((value) => (numbers.has(value) ? NaN : value)) };
  }
  const { codes, labels } = column;
  if (!labels.some((label) => missing.has(label))) return column;
  const kept = labels.filter((label) => !missing.has(label));
  const positionOf = new Map(kept.map((label, index) => [label, index]));
  const codeOf = labels.map((label) => positionOf.get(label) ?? -1);
  // A code without a label is kept, so that later checks can report it.
  return { kind: 'categorical', codes: codes.map((code) => codeOf[code] ?? code), labels: Object.freeze(kept) };
}

/**
 * Replaces the given texts by missing values, as {@link withoutTexts} does. If texts were replaced and all remaining
 * labels are numbers, the result is a numeric column.
 */
export function asNumbersWithout(column: Column, missing: ReadonlySet<string>): Column {
  const rest = withoutTexts(column, missing);
  if (rest.kind === 'numeric' || rest === column) return rest;
  return rest.labels.every(isNumber) ? numbersOf(rest) : rest;
}
