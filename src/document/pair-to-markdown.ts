import { placeOf } from './pair-to-html.ts';
import type { MarkedText, ReportPair, ReportSide } from './report-document.ts';
import { cutAnswer, shortenBetween } from './report-text.ts';

/** Letters of a line: fenced text does not wrap by itself. */
const LINE_LETTERS = 100;

/**
 * A pair as Markdown. What was answered stands in a fence, where nothing is markup and addresses do not become links.
 * @param escape plain text as Markdown that shows it as it is
 */
export function pairToMarkdown({ title, sides }: ReportPair, escape: (plain: string) => string): string[] {
  return [`**${escape(title)}**`, ...sides.flatMap((side) => sideToMarkdown(side, escape))];
}

function sideToMarkdown({ name, asked, said }: ReportSide, escape: (plain: string) => string): string[] {
  const question = asked.map((piece, index) => pieceToMarkdown(piece, index, asked.length, escape)).join('');
  return [
    `${escape(name)} was asked:`,
    `> ${question.trim()}`,
    `${escape(name)} was answered:`,
    fenced(cutAnswer(said)),
  ];
}

function pieceToMarkdown(
  { text, isMarked }: MarkedText,
  index: number,
  count: number,
  escape: (plain: string) => string,
): string {
  const shown = shortenBetween(text, isMarked ? 'only' : placeOf(index, count));
  const [, before = '', inner = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(shown) ?? [];
  const escaped = unlinked(escape(inner));
  return `${space(before)}${isMarked && inner !== '' ? `**${escaped}**` : escaped}${space(after)}`;
}

/** Emphasis must not begin or end with a space, so that spaces stand beside it. */
function space(text: string): string {
  return text === '' ? '' : ' ';
}

/** Renderers make links of bare addresses; a backslash in them keeps them text. */
function unlinked(markdown: string): string {
  return markdown.replaceAll('://', '\\://').replaceAll(/\b(www)\./gi, '$1\\.');
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const lines = text.split('\n').flatMap(wrapped);
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}text`, ...lines, fence].join('\n');
}

/** A line as several of at most so many letters, broken at spaces where there are any. */
function wrapped(line: string): string[] {
  if (line.length <= LINE_LETTERS) return [line];
  const space = line.lastIndexOf(' ', LINE_LETTERS);
  const end = space > LINE_LETTERS / 2 ? space : surrogateSafe(line, LINE_LETTERS);
  return [line.slice(0, end), ...wrapped(line.slice(end).trimStart())];
}

function surrogateSafe(line: string, end: number): number {
  return /[\uD800-\uDBFF]/.test(line.charAt(end - 1)) ? end - 1 : end;
}
