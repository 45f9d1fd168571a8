import {
  formatNumber,
  capital,
  tableCount,
  pValueText,
  rangeText,
  tableNumber,
  tableValue,
} from '../../internal/format.ts';
import type { ReportFact } from '../../document/report-document.ts';
import { cell, headerCell, scrollingTable } from '../../document/report-table.ts';
import { type Html, markup } from '../../internal/html.ts';
import type { MeasureValues, MetricFrame } from '../../metrics/frame/index.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { own } from '../../internal/values.ts';
import { intervalName, measuresOf } from './metric-charts.ts';

/** Descriptions of interval methods by their names in results. */
const CI_METHODS: Readonly<Record<string, string>> = {
  simultaneous: 'simultaneous: holds for all pairs of groups at the same time',
  'bonferroni-agresti-caffo': 'Agresti and Caffo, Bonferroni over all pairs of groups',
  percentile: 'bootstrap percentile',
  bca: 'bootstrap, bias-corrected and accelerated',
};

const P_VALUE_METHODS: Readonly<Record<string, string>> = {
  permutation: 'permutation of group labels',
  'max-t': 'max-t, approximate',
};

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
${factsOf(result).map(
  ({ name, value, remark }) =>
    markup`<div><dt>${name}</dt><dd>${value}${remark !== undefined && markup` <small>${remark}</small>`}</dd></div>\n`,
)}</dl>`;
}

function factsOf(result: MetricResult): ReportFact[] {
  const {
    value,
    ci,
    ciMethod,
    effectSize,
    effectSizeName,
    pValue,
    pValueMethod,
    minimumDetectableGap: detectable,
  } = result;
  const isGapOfShares = result.metric.endsWith('_difference') && comparesShares(result);
  const points = (gap: number | null): string | undefined =>
    isGapOfShares && gap !== null && Number.isFinite(gap) ? `${(100 * gap).toFixed(2)} percentage points` : undefined;
  const sizes = Object.values(result.nPerGroup);
  return [
    { name: 'Value', value: tableNumber(value), remark: points(value) },
    ...gapGroups(result),
    {
      name: ci === null ? 'Interval' : capital(intervalName(result.ciLevel)),
      value: ci === null ? 'none' : rangeText(ci),
      remark: ciMethod === null ? undefined : (own(CI_METHODS, ciMethod) ?? ciMethod),
    },
    {
      name: 'Effect size',
      value: effectSize === null ? 'none' : formatNumber(effectSize, 2),
      remark:
        effectSizeName === null
          ? undefined
          : effectSizeName === 'risk_ratio'
            ? 'risk ratio, largest to smallest'
            : "Cohen's d",
    },
    {
      name: 'p-value',
      value: pValue === null ? 'none' : pValueText(pValue),
      remark: pValueMethod === null ? undefined : (own(P_VALUE_METHODS, pValueMethod) ?? pValueMethod),
    },
    {
      name: 'Minimum detectable difference',
      value: detectable === null ? 'unknown' : tableNumber(detectable),
      remark: detectable === null ? undefined : '80% power',
    },
    {
      name: 'Groups compared',
      value: tableCount(sizes.length),
      remark: `${tableCount(sizes.reduce((sum, n) => sum + n, 0))} rows`,
    },
  ];
}

/** Returns the two groups that the value compares. */
function gapGroups({ first, second }: MetricResult): ReportFact[] {
  return first === null ? [] : [{ name: 'Gap between', value: `${first} and ${second ?? 'all rows'}` }];
}

/** Returns whether the compared measures are shares of rows. */
function comparesShares(result: MetricResult): boolean {
  return measuresOf(result).some((measure) => unitOf(measure) === 'share');
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
      return [
        cell(tableValue(own(own(result.perGroup, label), measure), unit), 'number'),
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

function notes({ excluded, nDropped, missing, warnings }: MetricResult): Html {
  const worstCase = missing === null || missing.n === 0 ? null : missing.worstCase;
  const dropped =
    nDropped === 0
      ? 'No rows were excluded because of missing values.'
      : `${tableCount(nDropped)} ${nDropped === 1 ? 'row was' : 'rows were'} excluded because of missing values.`;
  const none = Object.keys(excluded).length === 0 && 'No group was excluded. ';
  const bounds =
    worstCase !== null && ` With the missing values of these groups, the value could be ${rangeText(worstCase)}.`;
  return markup`<p>${none}${dropped}${bounds}</p>
${
  warnings.length > 0 &&
  markup`<div class="note"><p><strong>Before you quote this value:</strong></p>
<ul>${warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></div>`
}`;
}

/** Renders the rates of every group within the levels of a control feature, with warnings about changes. */
export function controlSection(frame: MetricFrame, id: string): Html {
  return markup`<section aria-labelledby="${id}">
<h3 id="${id}">Within each level of the control feature</h3>
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
