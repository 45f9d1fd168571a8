import { escapeMarkdown, markdownTable } from '../metrics/metric-markdown.ts';
import { pairToMarkdown } from './pair-to-markdown.ts';
import type { ReportBlock, ReportDocument, ReportFact, ReportTable } from './report-document.ts';
import { plainText } from './report-text.ts';

/** Renders a report as Markdown. Charts are omitted; the tables have their numbers. */
export function documentToMarkdown({ title, subject, verdict, sections, made }: ReportDocument): string {
  const opening = verdict === undefined ? [] : [`**${text(verdict.title)}**`, list(verdict.sentences)];
  const parts = sections
    .filter(({ blocks }) => blocks.length > 0)
    .flatMap((section) => [`## ${text(section.title)}`, ...section.blocks.flatMap(blockToMarkdown)]);
  const ending =
    made.length === 0 ? [] : ['## How this was made', list(made.map(([name, value]) => `${name}: ${value}`))];
  return `${[`# ${text(title)}`, text(subject), ...opening, ...parts, ...ending].join('\n\n')}\n`;
}

function blockToMarkdown(block: ReportBlock): string[] {
  switch (block.kind) {
    case 'heading':
      return [`### ${text(block.text)}`];
    case 'paragraph':
      return [text(block.text)];
    case 'list':
      return [list(block.items)];
    case 'note':
      return [`**${text(block.title)}**`, list(block.items)];
    case 'facts':
      return [block.facts.map(fact).join('\n')];
    case 'table':
      return table(block);
    case 'pairs':
      return block.pairs.flatMap((pair) => pairToMarkdown(pair, text));
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

/** Escapes plain text for Markdown, also at the start of a line. */
function text(plain: string): string {
  return escapeMarkdown(plainText(plain))
    .replaceAll(/[~&]/g, '\\$&')
    .replace(/^(?:#{1,6}(?=\s|$)|[+=-](?=[\s+=-]|$))/, '\\$&')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2');
}
