import { type Html, markup } from '../../internal/html.ts';
import type { MeasureValues, MetricFrame } from '../../metrics/frame/index.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { own, tableCount, tableNumber, tableValue, unitOf } from './report-numbers.ts';
import { cell, headerCell, scrollingTable } from '../../document/report-table.ts';

/** The rates of every group inside the levels of a control feature, and what changes there, as a section of a page. */
export function controlSection(frame: MetricFrame, id: string): Html {
  return markup`<section aria-labelledby="${id}">
<h3 id="${id}">Inside the levels of the control feature</h3>
${
  frame.warnings.length > 0 &&
  markup`<div class="note"><ul>${frame.warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></div>`
}
${levelTable('All levels', frame)}
${Object.entries(frame.byLevel).map(([level, inside]) => markup`${levelTable(`Level: ${level}`, inside)}\n`)}
</section>
`;
}

function levelTable(caption: string, frame: MetricFrame): Html {
  const header = [
    headerCell('Group', 'col'),
    headerCell('n', 'col', 'number'),
    ...frame.measures.map((measure) => headerCell(inWords(measure), 'col', 'number')),
  ];
  const line = (label: string, n: string, shown: (measure: string) => string): Html[] => [
    headerCell(label, 'row'),
    cell(n, 'number'),
    ...frame.measures.map((measure) => cell(shown(measure), 'number')),
  ];
  const inUnits = (values: MeasureValues | undefined) => (measure: string) =>
    tableValue(own(values, measure), unitOf(measure));
  const [difference, ratio] = [frame.difference(), frame.ratio()];
  const total = Object.values(frame.nPerGroup).reduce((sum, n) => sum + n, 0);
  return scrollingTable(caption, header, [
    ...Object.entries(frame.byGroup).map(([label, values]) =>
      line(label, tableCount(own(frame.nPerGroup, label)), inUnits(values)),
    ),
    line('All rows', tableCount(total), inUnits(frame.overall)),
    line('Difference', '', (measure) => tableNumber(own(difference, measure))),
    line('Ratio', '', (measure) => tableNumber(own(ratio, measure))),
  ]);
}
