import { escapeMarkdown, markdownTable } from '../metrics/metric-markdown.ts';
import { provenanceLines } from './provenance.ts';
import {
  type MarkedText,
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportPair,
  type ReportSide,
  type ReportTable,
  shownPieces,
} from './report-document.ts';
import { cutAnswer, plainText, shownText } from './report-text.ts';

/** Renders a report as Markdown. Charts are omitted, because the tables contain the same numbers. */
export function documentToMarkdown(report: ReportDocument): string {
  const { title, subject, verdict, sections } = report;
  const opening = [
    ...(subject === '' ? [] : [text(subject)]),
    ...(verdict === undefined ? [] : [`**${text(verdict.title)}**`, list(verdict.sentences)]),
  ];
  const parts = sections
    .filter(({ blocks }) => blocks.length > 0)
    .flatMap((section) => [`## ${text(section.title)}`, ...section.blocks.flatMap(blockToMarkdown)]);
  return `${[`# ${text(title)}`, ...opening, ...parts, ...ending(report)].join('\n\n')}\n`;
}

function ending({ made, provenance }: ReportDocument): string[] {
  const lines = [...(provenance === undefined ? [] : provenanceLines(provenance)), ...made];
  return [
    ...(lines.length === 0 ? [] : ['## How this was made', list(lines.map(([name, value]) => `${name}: ${value}`))]),
    ...(provenance === undefined ? [] : ['This command makes the report again:', fenced('sh', [provenance.command])]),
  ];
}

function blockToMarkdown(block: ReportBlock): string[] {
  switch (block.kind) {
    case 'heading':
      return [`### ${text(block.text)}`];
    case 'paragraph':
      return [text(block.text)];
    case 'list':
      return [list(block.items)];
    case 'code':
      return [fenced('text', shownText(block.text).split('\n'))];
    case 'note':
      return [`**${text(block.title)}**`, list(block.items)];
    case 'facts':
      return [block.facts.map(fact).join('\n')];
    case 'table':
      return table(block);
    case 'pairs':
      return block.pairs.flatMap(pairToMarkdown);
    case 'picture':
      return [];
  }
}

function fact({ name, value, remark }: ReportFact): string {
  return `- ${text(name)}: **${text(value)}**${remark === undefined ? '' : ` (${text(remark)})`}`;
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${text(item)}`).join('\n');
}

function table({ caption, columns, rows }: ReportTable): string[] {
  const header = columns.map(({ name }) => text(name));
  const cells = rows.map((row) => row.map(text));
  return [`${text(caption)}:`, markdownTable(header, cells)];
}

/** Escapes plain text for Markdown, including characters that have a meaning only at the start of a line. */
function text(plain: string): string {
  return escapeMarkdown(plainText(plain))
    .replaceAll(/[~&]/g, '\\$&')
    .replace(/^(?:#{1,6}(?=\s|$)|[+=-](?=[\s+=-]|$))/, '\\$&')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2');
}

/** The maximum length of a line in a code fence. Lines in a code fence do not wrap. */
const LINE_LETTERS = 100;

/**
 * Renders a pair as Markdown. The answers are in code fences. There, Markdown does not interpret the text, and
 * addresses do not become links.
 */
function pairToMarkdown({ title, sides }: ReportPair): string[] {
  return [`**${text(title)}**`, ...sides.flatMap(sideToMarkdown)];
}

function sideToMarkdown({ name, asked, said }: ReportSide): string[] {
  const question = shownPieces(asked).map(pieceToMarkdown).join('');
  return [
    `Prompt (${text(name)}):`,
    `> ${question.trim()}`,
    `Answer (${text(name)}):`,
    fenced('text', cutAnswer(said).split('\n').flatMap(wrapped)),
  ];
}

function pieceToMarkdown({ text: shown, isMarked }: MarkedText): string {
  const [, before = '', inner = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(shown) ?? [];
  const escaped = unlinked(text(inner));
  return `${space(before)}${isMarked && inner !== '' ? `**${escaped}**` : escaped}${space(after)}`;
}

/** Returns the space that must be moved out of emphasized text, which must not begin or end with a space. */
function space(between: string): string {
  return between === '' ? '' : ' ';
}

/** Escapes plain URLs, because Markdown renderers would turn them into links. */
function unlinked(markdown: string): string {
  return markdown.replaceAll('://', '\\://').replaceAll(/\b(www)\./gi, '$1\\.');
}

/** Encloses lines in a code fence. Its markers are longer than any fence marker within the lines. */
function fenced(language: 'text' | 'sh', lines: readonly string[]): string {
  const longest = Math.max(2, ...(lines.join('\n').match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...lines, fence].join('\n');
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
