import { styleText } from 'node:util';

import {
  type MarkedText,
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportPair,
  type ReportSide,
  type ReportTable,
  type ReportVerdict,
  shownPieces,
} from './report-document.ts';
import { cutAnswer, plainText } from './report-text.ts';
import { tableToText } from './table-to-text.ts';
import { displayWidth, padText, wrapText } from './text-width.ts';

/** The layout of a report as text. */
export interface TextLayout {
  /**
   * The maximum width of tables, in terminal columns; Infinity if nothing is cut. Prose is wrapped at this width or at
   * 100 columns, whichever is smaller.
   */
  readonly width: number;
  readonly colours: boolean;
}

/** The maximum width of prose, in terminal columns. Longer lines are hard to read. */
const PROSE_WIDTH = 100;

/** The maximum width of the column with the names of facts. */
const FACT_WIDTH = 40;

type Style = Parameters<typeof styleText>[0];

const VERDICT_STYLES: Readonly<Record<ReportVerdict['kind'], Style>> = {
  pass: ['bold', 'green'],
  fail: ['bold', 'red'],
  undefined: ['bold', 'yellow'],
  none: 'dim',
};

/**
 * Renders a report as plain text for a terminal or a pipe. The verdict comes first. Tables are fitted to the width.
 * Charts and empty sections are omitted.
 */
export function documentToText(report: ReportDocument, layout: TextLayout): string {
  const { title, subject, verdict, sections, made } = report;
  const blocks = sections
    .filter((section) => section.blocks.length > 0)
    .flatMap((section) => [
      styled(prose(section.title, layout).join('\n'), 'bold', layout),
      ...section.blocks.flatMap((block) => blockToText(block, layout)),
    ]);
  const head = [styled(prose(title, layout).join('\n'), 'bold', layout), ...prose(subject, layout)].filter(
    (line) => line !== '',
  );
  const ending = made.map(([name, value]) => ({ name, value }));
  const parts = [
    verdict === undefined ? '' : verdictToText(verdict, layout),
    head.join('\n'),
    ...blocks,
    ...(made.length === 0 ? [] : [styled('How this was made', 'bold', layout), factsToText(ending, layout)]),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** Styles a text of one or more lines. Each line is styled separately, so that a pager shows every line correctly. */
function styled(text: string, style: Style, { colours }: TextLayout): string {
  if (!colours || text === '') return text;
  // The layout decides whether colours are used. By default, styleText would decide based on stdout.
  return text.split('\n').map((line) => styleText(style, line, { validateStream: false })).join('\n'); // prettier-ignore
}

function verdictToText({ kind, title, sentences }: ReportVerdict, layout: TextLayout): string {
  const headline = styled(prose(title, layout).join('\n'), VERDICT_STYLES[kind], layout);
  return [headline, ...sentences.map((sentence) => hanging('  ', sentence, layout))].join('\n');
}

function blockToText(block: ReportBlock, layout: TextLayout): string[] {
  switch (block.kind) {
    case 'heading':
      return [styled(prose(block.text, layout).join('\n'), 'underline', layout)];
    case 'paragraph':
      return [prose(block.text, layout).join('\n')];
    case 'list':
      return [listToText(block.items, layout)];
    case 'note':
      return [
        [styled(prose(block.title, layout).join('\n'), 'yellow', layout), listToText(block.items, layout)].join('\n'),
      ];
    case 'code':
      return [block.text.split('\n').map((line) => `  ${plainText(line)}`).join('\n')]; // prettier-ignore
    case 'facts':
      return [factsToText(block.facts, layout)];
    case 'table':
      return [captionedTable(block, layout)];
    case 'pairs':
      return block.pairs.flatMap((pair) => pairToText(pair, layout));
    case 'picture':
      return [];
  }
}

/** Wraps a text to the width of prose. */
function prose(text: string, { width }: TextLayout): string[] {
  const plain = plainText(text);
  return plain === '' ? [] : wrapText(plain, Math.min(width, PROSE_WIDTH));
}

/** Wraps a text that follows a mark. The second and later lines are indented by the width of the mark. */
function hanging(mark: string, text: string, layout: TextLayout): string {
  const indent = ' '.repeat(displayWidth(mark));
  const room = Math.min(layout.width, PROSE_WIDTH) - indent.length;
  return prose(text, { ...layout, width: room }).map((line, index) => `${index === 0 ? mark : indent}${line}`).join('\n'); // prettier-ignore
}

function listToText(items: readonly string[], layout: TextLayout): string {
  return items.map((item) => hanging('- ', item, layout)).join('\n');
}

function factsToText(facts: readonly ReportFact[], layout: TextLayout): string {
  const widest = Math.max(...facts.map(({ name }) => displayWidth(plainText(name))));
  const width = Math.min(widest, FACT_WIDTH, Math.floor(layout.width / 2));
  return facts
    .map(({ name, value, remark }) => {
      const text = remark === undefined || remark === '' ? value : `${value} (${remark})`;
      return hanging(`${padText(plainText(name), width, 'end')}  `, text, layout);
    })
    .join('\n');
}

function captionedTable({ caption, ...table }: ReportTable, layout: TextLayout): string {
  const { header, rule, rows, leftOut } = tableToText(table, layout.width);
  const note =
    leftOut.length === 0
      ? []
      : prose(`Columns left out at this width: ${[...new Set(leftOut)].join(', ')}; --json shows all.`, layout).map(
          (line) => styled(line, 'dim', layout),
        );
  const above = plainText(caption) === '' ? [] : prose(`${caption}:`, layout);
  return [
    ...above,
    ...header.map((line) => styled(line, 'bold', layout)),
    styled(rule, 'dim', layout),
    ...rows,
    ...note,
  ].join('\n');
}

/** Renders both sides of a pair, one after the other. Words that differ are between asterisks. */
function pairToText({ title, sides }: ReportPair, layout: TextLayout): string[] {
  return [styled(prose(title, layout).join('\n'), 'bold', layout), ...sides.map((side) => sideToText(side, layout))];
}

function sideToText({ name, asked, said }: ReportSide, layout: TextLayout): string {
  const question = hanging('', `Prompt (${name}): ${shownPieces(asked).map(markedText).join('')}`, layout);
  const answer = cutAnswer(said).split('\n').map((line) => hanging('  ', line, layout)); // prettier-ignore
  return [question, ...answer].join('\n');
}

function markedText({ text, isMarked }: MarkedText): string {
  return isMarked && text.trim() !== '' ? `*${text}*` : text;
}
