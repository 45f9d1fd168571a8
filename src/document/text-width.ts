import { eastAsianWidth } from 'get-east-asian-width';

import { charactersOf } from '../internal/format.ts';

/** Matches characters that occupy no terminal column. */
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Surrogate}]*$/u;

// A regular expression literal with the flag v requires a newer compiler target.
const EMOJI = new RegExp('^\\p{RGI_Emoji}$', 'v');

/**
 * Returns the number of terminal columns that a text takes. Wide characters and emoji take two columns, and combining
 * marks take no column.
 */
export function displayWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : charactersOf(text).reduce((sum, each) => sum + characterWidth(each), 0);
}

function characterWidth(character: string): number {
  if (INVISIBLE.test(character)) return 0;
  if (EMOJI.test(character)) return 2;
  // Spacing marks, for example in Devanagari, take one column each.
  return eastAsianWidth(character.codePointAt(0) ?? 0) + (character.match(/\p{Mc}/gu)?.length ?? 0);
}

/** Pads a text with spaces to a number of columns. */
export function padText(text: string, width: number, side: 'start' | 'end'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'start' ? space + text : text + space;
}

/** Shortens a text to a number of columns. A shortened text ends with an ellipsis. */
export function cutText(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${(chunks(text, width - 1)[0] ?? '').trimEnd()}…`;
}

/**
 * Splits a text into lines of at most `width` columns, at spaces.
 * @param breaksWords whether words that are longer than a line are broken; if false, such a word is on a longer line
 */
export function wrapText(text: string, width: number, breaksWords = false): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ +/)) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last) + 1 + displayWidth(word) <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else if (breaksWords && displayWidth(word) > width) lines.push(...chunks(word, width));
    else lines.push(word);
  }
  return lines;
}

/** Splits a text into parts of at most `width` columns, between characters. */
function chunks(text: string, width: number): string[] {
  const parts: { text: string; width: number }[] = [];
  for (const character of charactersOf(text)) {
    const added = characterWidth(character);
    const last = parts.at(-1);
    if (last === undefined || last.width + added > width) parts.push({ text: character, width: added });
    else {
      last.text += character;
      last.width += added;
    }
  }
  return parts.map((part) => part.text);
}
