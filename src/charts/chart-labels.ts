/** Lower-case letters that a label may take in a picture. */
const LABEL_WIDTH = 28;

/** Widths of characters beside a lower-case letter: the first pattern that fits counts. */
const WIDTHS: readonly (readonly [pattern: RegExp, width: number])[] = [
  [/^[ .,:;'|!ijlIftr()[\]]$/, 0.55],
  [/^[MWmw@%]$/, 1.6],
  [/^\p{Lu}$/u, 1.25],
  // Emoji, and what East Asian scripts are written in.
  [/\p{Extended_Pictographic}|\p{Regional_Indicator}/u, 2],
  [/^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u, 1.9],
];

/** Control characters, halves of surrogate pairs, and marks that turn the direction of what follows them. */
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFFE\uFFFF]+/gu;

/** A label on one line, with an ellipsis where it is too long for a picture; whole characters are kept. */
export function shortenLabel(label: string, width: number = LABEL_WIDTH): string {
  const text = label.replaceAll(UNPRINTABLE, ' ').replaceAll(/\s+/g, ' ').trim();
  if (text === '') return '(blank)';
  const characters = charactersOf(text.slice(0, 40 * width));
  if (widthOf(characters) <= width) return text;
  let taken = 0;
  const cut = characters.findIndex((character) => (taken += widthOf([character])) > width - 1);
  return `${characters.slice(0, cut).join('').trimEnd()}\u2026`;
}

/** About how wide a text is drawn, in lower-case letters. */
export function labelWidth(text: string): number {
  return widthOf(charactersOf(text));
}

function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment);
}

function widthOf(characters: readonly string[]): number {
  return characters.reduce(
    (width, character) => width + (WIDTHS.find(([pattern]) => pattern.test(character))?.[1] ?? 1),
    0,
  );
}

/** Rows in a picture. */
export function countLabel(n: number): string {
  const isLong = n >= 1e7;
  return `n = ${n.toLocaleString('en-US', isLong ? { notation: 'compact', maximumSignificantDigits: 4 } : {})}`;
}

/** A number in as many digits as a picture needs: three, or all before the point. */
export function compactNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return size >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}

/** A value as it stands beside its row: shares in per cent, zeros at the end kept. */
export function axisLabel(value: number, unit: 'share' | 'number'): string {
  if (unit === 'share') return `${(100 * value).toFixed(1)}%`;
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1000
    ? value.toFixed(2 - Math.min(2, Math.floor(Math.log10(size))))
    : compactNumber(value);
}
