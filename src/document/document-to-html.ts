import type { Chart } from '../charts/chart.ts';
import { renderSvg, withOwnIds } from '../charts/render-svg.ts';
import { DependencyError } from '../exceptions/index.ts';
import { type Html, markup, trusted } from '../internal/html.ts';
import { provenanceLines, reproducibleSentence } from './provenance.ts';
import {
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportPair,
  type ReportSection,
  type ReportSide,
  type ReportTable,
  type ReportVerdict,
  shownPieces,
} from './report-document.ts';
import { reportPage } from './report-page.ts';
import { cell, headerCell, scrollingTable } from './report-table.ts';
import { cutAnswer, plainText, shownText } from './report-text.ts';

/** Draws a chart as SVG. */
export type DrawChart = (chart: Chart) => Promise<string>;

/** The rendered chart of each block, or the reason why no chart can be drawn. */
interface Drawn {
  readonly pictures: ReadonlyMap<ReportBlock, Html>;
  readonly problem: string | undefined;
}

/** The sign of each verdict. */
export const VERDICT_SIGNS: Readonly<Record<ReportVerdict['kind'], string>> = {
  pass: '\u2713',
  fail: '\u2717',
  undefined: '?',
  none: '\u2013',
};

/**
 * Renders a report as a self-contained HTML page with embedded charts. If the charting package is not installed, the
 * page contains only tables and a note about the missing package.
 * @param draw the function that draws a chart; by default, ECharts draws it on the host
 */
export async function documentToHtml(report: ReportDocument, draw: DrawChart = drawSvg): Promise<string> {
  const sections = report.sections.filter(({ blocks }) => blocks.length > 0);
  const drawn = await drawPictures(
    sections.flatMap(({ blocks }) => blocks),
    draw,
  );
  return reportPage({
    title: plainText(`${report.title}: ${report.subject}`),
    header: markup`<h1>${plainText(report.title)}</h1>
<p class="source"><bdi>${plainText(report.subject)}</bdi></p>`,
    main: markup`${report.verdict !== undefined && verdictBox(report.verdict)}
${drawn.problem !== undefined && markup`<p class="note">${drawn.problem}</p>`}
${sections.map((section, index) => sectionToHtml(section, index, drawn))}`,
    footer: madeSection(report),
  });
}

function sectionToHtml({ title, blocks, isFolded = false }: ReportSection, index: number, drawn: Drawn): Html {
  const heading = markup`<h2 id="part-${index + 1}"><bdi>${plainText(title)}</bdi></h2>`;
  const content = blocks.map((block) => markup`${blockToHtml(block, drawn)}\n`);
  return markup`<section aria-labelledby="part-${index + 1}">
${isFolded ? markup`<details><summary>${heading}</summary>\n${content}</details>` : markup`${heading}\n${content}`}</section>
`;
}

/** Renders the section on how a report was made: names and values, and the command that creates the report again. */
export function madeSection({ made, provenance }: Pick<ReportDocument, 'made' | 'provenance'>): Html {
  const lines = [...(provenance === undefined ? [] : provenanceLines(provenance)), ...made];
  return markup`<h2 id="made">How this was made</h2>
<dl class="made">
${lines.map(([name, value]) => markup`<dt>${plainText(name)}</dt><dd><bdi>${plainText(value)}</bdi></dd>\n`)}</dl>
${
  provenance !== undefined &&
  markup`<p>This command makes the report again:</p>
<pre class="command"><code>${provenance.command}</code></pre>
`
}<p>${reproducibleSentence(provenance)}</p>`;
}

async function drawPictures(blocks: readonly ReportBlock[], draw: DrawChart): Promise<Drawn> {
  const pictures = new Map<ReportBlock, Html>();
  try {
    for (const block of blocks) {
      if (block.kind !== 'picture') continue;
      const svg = await draw(await block.chart());
      pictures.set(block, trusted(withOwnIds(svg, pictures.size + 1)));
    }
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    const next = error.suggestion === undefined ? '' : ` ${error.suggestion}`;
    return { pictures: new Map(), problem: `This report has tables but no charts: ${error.message}${next}` };
  }
  return { pictures, problem: undefined };
}

function verdictBox({ kind, title, sentences }: ReportVerdict): Html {
  return markup`<section class="verdict ${kind}" aria-labelledby="verdict">
<h2 id="verdict"><span aria-hidden="true">${VERDICT_SIGNS[kind]}</span> ${plainText(title)}</h2>
${list(sentences)}
</section>`;
}

/** Renders blocks without charts. */
export function blocksToHtml(blocks: readonly ReportBlock[]): Html {
  return markup`${blocks.map((block) => markup`${blockToHtml(block, { pictures: new Map(), problem: undefined })}\n`)}`;
}

function blockToHtml(block: ReportBlock, { pictures }: Drawn): Html | undefined {
  switch (block.kind) {
    case 'heading':
      return markup`<h3><bdi>${plainText(block.text)}</bdi></h3>`;
    case 'paragraph':
      return markup`<p>${plainText(block.text)}</p>`;
    case 'list':
      return list(block.items);
    case 'code':
      return markup`<pre>${shownText(block.text)}</pre>`;
    case 'note':
      return markup`<div class="note"><p><strong>${plainText(block.title)}</strong></p>
${list(block.items)}</div>`;
    case 'facts':
      return markup`<dl class="facts">
${block.facts.map(factToHtml)}</dl>`;
    case 'table':
      return tableToHtml(block);
    case 'pairs':
      return markup`${block.pairs.map(pairToHtml)}`;
    case 'picture': {
      const picture = pictures.get(block);
      return picture === undefined
        ? undefined
        : markup`<div class="picture" role="group" aria-label="Chart" tabindex="0">${picture}</div>`;
    }
  }
}

function factToHtml({ name, value, remark }: ReportFact): Html {
  const small = remark !== undefined && markup` <small>${plainText(remark)}</small>`;
  return markup`<div><dt>${plainText(name)}</dt><dd>${plainText(value)}${small}</dd></div>\n`;
}

function list(items: readonly string[]): Html {
  return markup`<ul>${items.map((item) => markup`<li>${plainText(item)}</li>\n`)}</ul>`;
}

/** Renders a table of a report in a scrollable box. */
export function tableToHtml({ caption, columns, rows }: ReportTable): Html {
  const kinds = columns.map(({ isNumber }) => (isNumber === true ? 'number' : 'text'));
  return scrollingTable(
    plainText(caption),
    columns.map(({ name }, index) => headerCell(plainText(name), 'col', kinds[index])),
    rows.map((row) =>
      row.map((text, index) =>
        index === 0 ? headerCell(plainText(text), 'row') : cell(plainText(text), kinds[index]),
      ),
    ),
  );
}

/** Renders a pair as a box. The two sides are next to each other, or below each other on a narrow page. */
function pairToHtml({ title, sides }: ReportPair): Html {
  return markup`<div class="pair" role="group" aria-label="${plainText(title)}">
<p class="pair-title"><strong><bdi>${plainText(title)}</bdi></strong></p>
<div class="sides">
${sides.map(sideToHtml)}</div>
</div>
`;
}

function sideToHtml({ name, asked, said }: ReportSide): Html {
  return markup`<div>
<p class="side">Prompt (<bdi>${plainText(name)}</bdi>)</p>
<p class="asked" dir="auto">${shownPieces(asked).map(({ text, isMarked }) => (isMarked ? markup`<mark>${text}</mark>` : text))}</p>
<p class="side">Answer</p>
<blockquote class="said" dir="auto">${cutAnswer(said)}</blockquote>
</div>
`;
}

/**
 * Draws a static chart for a page. Attributes and styles that a static chart inside a page does not need are removed.
 */
export async function drawSvg(chart: Chart): Promise<string> {
  const svg = await renderSvg(chart);
  return svg
    .replace(/<style ?>.*?<\/style>\s*/gs, '')
    .replaceAll(/ (?:class="zr-\d+"|pointer-events="visible"|(?:ecmeta_\w+|xmlns(?::xlink)?)="[^"<]*")/g, '');
}
