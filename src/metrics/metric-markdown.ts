import { capital, type Unit } from '../internal/format.ts';
import { isDecisionRate } from './measures/index.ts';

/** Control characters that change the direction of the text that follows. */
const TURNING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes text from data so that Markdown shows it unchanged, on one line. A `<` before a space begins no HTML. */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/\s*[\r\n]+\s*/g, ' ')
    .replaceAll(TURNING, '\ufffd')
    .replaceAll(/([\\`*_|>[\]]|<(?! ))/g, '\\$1');
}

/**
 * Renders a Markdown table of Markdown cells. Columns are padded with spaces, so that the Markdown source is also
 * readable.
 */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...all.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Converts a snake_case name to words, with a capital first letter and abbreviations in capitals. */
export function inWords(name: string): string {
  const words = name.replaceAll('_', ' ').replaceAll(/\b(roc auc|mae|rmse|f1|r2)\b/g, (short) => short.toUpperCase());
  return capital(words);
}

/** Returns the unit of a measure, given its name. For a multiclass outcome, the name may end with a class. */
export function unitOf(measure: string): Unit {
  return isDecisionRate(measure.replace(/ of '.*'$/s, '')) ? 'share' : 'number';
}
