import { shortenLabel } from '../charts/chart-labels.ts';

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
