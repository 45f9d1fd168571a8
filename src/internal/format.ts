/** The text of a table cell without a number. */
export const NOTHING = '\u2013';

/** Returns the text with a capital letter at its start. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a number of rows with thousands separated: `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** Returns a share as a percentage with one decimal: `12.3%`. */
export function formatShare(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** Returns a p-value with its relation sign: `= 0.012`, or `< 0.001`. */
export function pValuePhrase(p: number): string {
  return p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`;
}

/** Returns a p-value for a table: `0.012`, or `< 0.001`; a dash if there is none. */
export function pValueText(p: number | null): string {
  if (p === null) return NOTHING;
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** Returns a p-value for a sentence: `p = 0.012`, or `p < 0.001`. */
export function pValueWords(p: number): string {
  return `p ${pValuePhrase(p)}`;
}
