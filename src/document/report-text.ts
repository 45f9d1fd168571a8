import { shortenLabel } from '../charts/chart.ts';

/** The maximum number of characters of an untrusted text in a report. */
export const SHOWN_LETTERS = 600;

/** The maximum number of characters of a prompt between two marked words. */
const SHOWN_BETWEEN = 240;

/**
 * Matches control characters, characters that change the text direction, and invisible characters. Joiners are not
 * matched, because writing systems and emoji need them. Line breaks and tabs are not matched either.
 */
const STEERING = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\uFFFE\uFFFF]/gu;

/**
 * If a letter has more combining marks than any writing system needs, matches the additional marks. Without this limit,
 * the marks could cover the neighbouring lines.
 */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** Cleans an untrusted text of several lines: each control or invisible character becomes \uFFFD. */
export function shownText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(STEERING, '\uFFFD').replaceAll(PILED_MARKS, '$1\uFFFD');
}

/**
 * Cleans an untrusted text with {@link shownText}. A text longer than {@link SHOWN_LETTERS} is cut and ends with an
 * ellipsis.
 */
export function cutAnswer(text: string): string {
  const shown = shownText(text.slice(0, 2 * SHOWN_LETTERS)).trim();
  if (shown === '') return '(no text)';
  return text.length <= SHOWN_LETTERS ? shown : `${complete(shown.slice(0, SHOWN_LETTERS)).trimEnd()} \u2026`;
}

/** Shortens a long text next to marked words by removing the part that is farthest from the marked words. */
export function shortenBetween(text: string, index: 'first' | 'between' | 'last' | 'only'): string {
  const shown = shownText(text);
  if (shown.length <= SHOWN_BETWEEN) return shown;
  if (index === 'first') return `\u2026 ${endOf(shown, SHOWN_BETWEEN)}`;
  if (index === 'between') return `${startOf(shown, SHOWN_BETWEEN / 2)} \u2026 ${endOf(shown, SHOWN_BETWEEN / 2)}`;
  return `${startOf(shown, SHOWN_BETWEEN)} \u2026`;
}

function startOf(text: string, letters: number): string {
  return complete(text.slice(0, letters)).trimEnd();
}

function endOf(text: string, letters: number): string {
  return text
    .slice(-letters)
    .replace(/^[\uDC00-\uDFFF]/, '')
    .trimStart();
}

/** Removes an incomplete surrogate pair at the end of a text. */
function complete(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

/** The maximum length of a text in a report. Only texts from the data can exceed this length. */
const TEXT_WIDTH = 2000;

/** The maximum length of a label in a report. */
const REPORT_LABEL_WIDTH = 100;

/** Returns a text on one line, without invisible characters and characters that change the text direction. */
export function plainText(text: string): string {
  return text.trim() === '' ? '' : shortenLabel(text, TEXT_WIDTH);
}

/** Returns the name of a group, a column or a step for a report. A very long name is cut, and its length is shown. */
export function labelText(label: string): string {
  const short = shortenLabel(label, REPORT_LABEL_WIDTH);
  return short.endsWith('\u2026') && !label.trim().endsWith('\u2026')
    ? `${short} (${String(label.length)} characters)`
    : short;
}

/**
 * Returns a function that shows each of the labels as {@link labelText}. Labels that would look the same, for example
 * because of a space at the end, are in quotes.
 */
export function labelTextAmong(labels: readonly string[]): (label: string) => string {
  const counts = new Map<string, number>();
  for (const text of labels.map(labelText)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return (label) => {
    const text = labelText(label);
    const isAmbiguous = (counts.get(text) ?? 0) > 1 && label.length <= REPORT_LABEL_WIDTH;
    return isAmbiguous ? `'${shownText(label).replaceAll(/[\n\t]/g, '\uFFFD')}'` : text;
  };
}

/**
 * Joins names as in "a, b and c". If there are more than `most` names, the result lists the first names and the number
 * of the remaining names.
 */
export function listed(names: readonly string[], most = 12): string {
  const shown = names.slice(0, most).map(labelText);
  if (names.length > most) return `${shown.join(', ')} and ${(names.length - most).toLocaleString('en-US')} more`;
  return shown.length < 2 ? (shown[0] ?? 'none') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1) ?? ''}`;
}

/** Returns a sentence that points from a pass to its notes; none without notes. */
export function beforeRelying(notes: number): string[] {
  if (notes === 0) return [];
  return [
    `Before you rely on this verdict, read the ${notes === 1 ? 'note' : `${notes.toLocaleString('en-US')} notes`} below.`,
  ];
}

/**
 * Returns the items of a list. If there are more than `most` items, returns the first items and a last item with the
 * number of the remaining items.
 */
export function cutItems(items: readonly string[], most = 20): string[] {
  if (items.length <= most) return [...items];
  return [...items.slice(0, most), `\u2026 and ${(items.length - most).toLocaleString('en-US')} more like these.`];
}
