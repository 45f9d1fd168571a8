import { positionOf } from './pair-to-html.ts';
import type { MarkedText, ReportPair, ReportSide } from './report-document.ts';
import { cutAnswer, shortenBetween } from './report-text.ts';

/** The maximum length of a line, since fenced text does not wrap. */
const LINE_LETTERS = 100;

/**
 * Renders a pair as Markdown. The answers are in code fences, where nothing is markup and addresses do not become
 * links.
 * @param escape escapes plain text for Markdown
 */
export function pairToMarkdown({ title, sides }: ReportPair, escape: (plain: string) => string): string[] {
  return [`**${escape(title)}**`, ...sides.flatMap((side) => sideToMarkdown(side, escape))];
}

function sideToMarkdown({ name, asked, said }: ReportSide, escape: (plain: string) => string): string[] {
  const question = asked.map((piece, index) => pieceToMarkdown(piece, index, asked.length, escape)).join('');
  return [`Prompt (${escape(name)}):`, `> ${question.trim()}`, `Answer (${escape(name)}):`, fenced(cutAnswer(said))];
}

function pieceToMarkdown(
  { text, isMarked }: MarkedText,
  index: number,
  count: number,
  escape: (plain: string) => string,
): string {
  const shown = shortenBetween(text, isMarked ? 'only' : positionOf(index, count));
  const [, before = '', inner = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(shown) ?? [];
  const escaped = unlinked(escape(inner));
  return `${space(before)}${isMarked && inner !== '' ? `**${escaped}**` : escaped}${space(after)}`;
}

/** Returns a space outside the emphasis, which must not begin or end with a space. */
function space(text: string): string {
  return text === '' ? '' : ' ';
}

/** Escapes bare addresses, which renderers would turn into links. */
function unlinked(markdown: string): string {
  return markdown.replaceAll('://', '\\://').replaceAll(/\b(www)\./gi, '$1\\.');
}

/** Wraps text in a code fence longer than any in the text. */
function fenced(text: string): string {
  const lines = text.split('\n').flatMap(wrapped);
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}text`, ...lines, fence].join('\n');
}

/** Splits a line into lines of at most {@link LINE_LETTERS} characters, at spaces if possible. */
function wrapped(line: string): string[] {
  if (line.length <= LINE_LETTERS) return [line];
  const space = line.lastIndexOf(' ', LINE_LETTERS);
  const end = space > LINE_LETTERS / 2 ? space : surrogateSafe(line, LINE_LETTERS);
  return [line.slice(0, end), ...wrapped(line.slice(end).trimStart())];
}

function surrogateSafe(line: string, end: number): number {
  return /[\uD800-\uDBFF]/.test(line.charAt(end - 1)) ? end - 1 : end;
}
