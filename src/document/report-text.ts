import { shortenLabel } from '../charts/chart.ts';

/** Letters of a stranger's text that a report shows. */
export const SHOWN_LETTERS = 600;

/** Letters of a question that a report shows between two marked words. */
const SHOWN_BETWEEN = 240;

/**
 * What steers a terminal or a page, turns the direction of what follows, or is not seen at all; joiners are kept, since
 * scripts and emoji need them, and so are line breaks and tabs.
 */
const STEERING = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\uFFFE\uFFFF]/gu;

/** More marks on one letter than any script needs: they would run over the lines around. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** A stranger's text over several lines; each character that is not to be seen or heeded is shown as \uFFFD. */
export function shownText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(STEERING, '\uFFFD').replaceAll(PILED_MARKS, '$1\uFFFD');
}

/** A stranger's text as {@link shownText} gives it, cut at {@link SHOWN_LETTERS} with an ellipsis. */
export function cutAnswer(text: string): string {
  const shown = shownText(text.slice(0, 2 * SHOWN_LETTERS)).trim();
  if (shown === '') return '(no text)';
  return text.length <= SHOWN_LETTERS ? shown : `${whole(shown.slice(0, SHOWN_LETTERS)).trimEnd()} \u2026`;
}

/** A long stretch between marked words, shortened where it is farthest from them. */
export function shortenBetween(text: string, place: 'first' | 'between' | 'last' | 'only'): string {
  const shown = shownText(text);
  if (shown.length <= SHOWN_BETWEEN) return shown;
  if (place === 'first') return `\u2026 ${endOf(shown, SHOWN_BETWEEN)}`;
  if (place === 'between') return `${startOf(shown, SHOWN_BETWEEN / 2)} \u2026 ${endOf(shown, SHOWN_BETWEEN / 2)}`;
  return `${startOf(shown, SHOWN_BETWEEN)} \u2026`;
}

function startOf(text: string, letters: number): string {
  return whole(text.slice(0, letters)).trimEnd();
}

function endOf(text: string, letters: number): string {
  return text
    .slice(-letters)
    .replace(/^[\uDC00-\uDFFF]/, '')
    .trimStart();
}

/** Without half a character at its end. */
function whole(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

/** Letters that a text of a report may take; only data make longer ones. */
const TEXT_WIDTH = 2000;

/** Letters that a label may take in a report. */
const REPORT_LABEL_WIDTH = 100;

/** A text on one line, without characters that do not print or that turn what follows them. */
export function plainText(text: string): string {
  return text.trim() === '' ? '' : shortenLabel(text, TEXT_WIDTH);
}

/** The name of a group, a column or a step; a very long one is cut, and says how long it was. */
export function labelText(label: string): string {
  const short = shortenLabel(label, REPORT_LABEL_WIDTH);
  return short.endsWith('\u2026') && !label.trim().endsWith('\u2026')
    ? `${short} (${String(label.length)} characters)`
    : short;
}

/** "a, b and c"; of more than `most` only the first are named. */
export function listed(names: readonly string[], most = 12): string {
  const shown = names.slice(0, most).map(labelText);
  if (names.length > most) return `${shown.join(', ')} and ${(names.length - most).toLocaleString('en-US')} more`;
  return shown.length < 2 ? (shown[0] ?? 'none') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1) ?? ''}`;
}

/** Items of a list; of more than `most` the first, and how many more there are. */
export function cutItems(items: readonly string[], most = 20): string[] {
  if (items.length <= most) return [...items];
  return [...items.slice(0, most), `\u2026 and ${(items.length - most).toLocaleString('en-US')} more like these.`];
}
