import { capital, rangeText, tableCount, tableValue } from '../../internal/format.ts';
import { blocksToHtml, tableToHtml } from '../../document/document-to-html.ts';
import { cell, headerCell, scrollingTable } from '../../document/report-table.ts';
import { type Html, markup } from '../../internal/html.ts';
import type { MetricFrame } from '../../metrics/frame/index.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { own } from '../../internal/values.ts';
import { boundsOfGroup, intervalName, knownFacts, measuresOf } from '../metric-facts.ts';
import { boundsOfExcluded, type LevelContents, levelGaps, measureTable } from '../validation-document.ts';

/**
 * Renders a metric as a section of a page: the main numbers, the charts, then the tables.
 * @param id the id of the element, for links to the section
 * @param pictures the rendered charts
 */
export function metricSection(result: MetricResult, id: string, pictures: readonly Html[]): Html {
  return markup`<section class="metric" aria-labelledby="${id}">
<h3 id="${id}">${inWords(result.metric)}</h3>
${facts(result)}
${result.undefinedReason !== null && markup`<p class="note"><strong>Undefined:</strong> ${result.undefinedReason}.</p>`}
${pictures.map(
  (picture) => markup`<div class="picture" role="group" aria-label="Chart" tabindex="0">${picture}</div>\n`,
)}
${groupTable(result)}
${excludedTable(result)}
${notes(result)}
</section>
`;
}

function facts(result: MetricResult): Html {
  return markup`<dl class="facts">
${knownFacts(result).map(
  ({ name, value, remark }) =>
    markup`<div><dt>${name}</dt><dd>${value}${remark !== undefined && markup` <small>${remark}</small>`}</dd></div>\n`,
)}</dl>`;
}

function groupTable(result: MetricResult): Html | false {
  const labels = Object.keys(result.perGroup);
  if (labels.length === 0) return false;
  const measures = measuresOf(result);
  const hasIntervals = result.perGroupCi !== null;
  const columns = measures.flatMap((measure) => [
    headerCell(inWords(measure), 'col', 'number'),
    ...(hasIntervals ? [headerCell(capital(intervalName(result.ciLevel)), 'col', 'number')] : []),
  ]);
  const rows = labels.map((label) => [
    headerCell(label, 'row'),
    cell(tableCount(own(result.nPerGroup, label) ?? 0), 'number'),
    ...measures.flatMap((measure) => {
      const unit = unitOf(measure);
      const ci = own(own(result.perGroupCi, label), measure) ?? null;
      const bounds = boundsOfGroup(result, label, measure);
      const value =
        bounds === undefined
          ? tableValue(own(own(result.perGroup, label), measure), unit)
          : rangeText(bounds, (end) => tableValue(end, unit));
      return [
        cell(value, 'number'),
        ...(hasIntervals ? [cell(ci === null ? 'none' : rangeText(ci, (end) => tableValue(end, unit)), 'number')] : []),
      ];
    }),
  ]);
  return scrollingTable(
    'Groups compared',
    [headerCell('Group', 'col'), headerCell('n', 'col', 'number'), ...columns],
    rows,
  );
}

function excludedTable({ excluded }: MetricResult): Html | false {
  const rows = Object.entries(excluded).map(([label, { n, numerator, denominator, reason }]) => [
    headerCell(label, 'row'),
    cell(tableCount(n), 'number'),
    cell(tableCount(numerator), 'number'),
    cell(tableCount(denominator), 'number'),
    cell(reason),
  ]);
  if (rows.length === 0) return false;
  const numbers = ['n', 'Numerator', 'Denominator'].map((name) => headerCell(name, 'col', 'number'));
  return scrollingTable(
    'Excluded groups, or single rates of groups',
    [headerCell('Group', 'col'), ...numbers, headerCell('Reason', 'col')],
    rows,
  );
}

function notes(result: MetricResult): Html {
  const { excluded, nDropped, warnings } = result;
  const dropped =
    nDropped === 0
      ? 'No rows were excluded because of missing values.'
      : `${tableCount(nDropped)} ${nDropped === 1 ? 'row was' : 'rows were'} excluded because of missing values.`;
  const none = Object.keys(excluded).length === 0 && 'No group was excluded. ';
  const words = boundsOfExcluded(result);
  const bounds = words !== '' && ` ${capital(words)}.`;
  return markup`<p>${none}${dropped}${bounds}</p>
${
  warnings.length > 0 &&
  markup`<div class="note"><p><strong>Before you quote this value:</strong></p>
<ul>${warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></div>`
}`;
}

/**
 * Renders the differences and the rates of every group within the levels of a control feature, with a warning for each
 * gap whose sign differs between levels.
 */
export function controlSection(frame: MetricFrame, id: string, options: LevelContents): Html {
  return markup`<section aria-labelledby="${id}">
<h3 id="${id}">Within each level of the control feature</h3>
${
  frame.warnings.length > 0 &&
  markup`<div class="note"><ul>${frame.warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></div>`
}
${blocksToHtml(levelGaps(frame, { ...options, by: '', isFull: true }))}
${tableToHtml(measureTable('All levels', frame))}
${Object.entries(frame.byLevel).map(([level, inside]) => markup`${tableToHtml(measureTable(`Level: ${level}`, inside))}\n`)}
</section>
`;
}
