import { type Html, markup } from '../../internal/html.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { capital, intervalName, measuresOf } from './metric-charts.ts';
import { own, tableCount, tableNumber, tablePValue, tableValue, unitOf } from './report-numbers.ts';
import { cell, headerCell, scrollingTable } from '../../document/report-table.ts';

/** What intervals of the metric are called in results, in words. */
const CI_METHODS: Readonly<Record<string, string>> = {
  simultaneous: 'simultaneous: holds for all pairs of groups together',
  'bonferroni-agresti-caffo': 'Agresti and Caffo, Bonferroni over all pairs of groups',
  percentile: 'bootstrap percentile',
  bca: 'bootstrap, bias-corrected and accelerated',
};

const P_VALUE_METHODS: Readonly<Record<string, string>> = {
  permutation: 'permutation of group labels',
  'max-t': 'max-t, approximate',
};

/**
 * A metric as a section of a page: the facts, pictures, then a table for every number.
 * @param id what links to the section name
 * @param pictures drawn already
 */
export function metricSection(result: MetricResult, id: string, pictures: readonly Html[]): Html {
  return markup`<section class="metric" aria-labelledby="${id}">
<h3 id="${id}">${inWords(result.metric)}</h3>
${facts(result)}
${result.undefinedReason !== null && markup`<p class="note"><strong>Undefined:</strong> ${result.undefinedReason}.</p>`}
${pictures.map(
  (picture) => markup`<div class="picture" role="group" aria-label="Picture" tabindex="0">${picture}</div>\n`,
)}
${groupTable(result)}
${excludedTable(result)}
${notes(result)}
</section>
`;
}

/** One fact with its name and what to know of it. */
interface Fact {
  readonly name: string;
  readonly value: string;
  readonly remark?: string | undefined;
}

function facts(result: MetricResult): Html {
  return markup`<dl class="facts">
${factsOf(result).map(
  ({ name, value, remark }) =>
    markup`<div><dt>${name}</dt><dd>${value}${remark !== undefined && markup` <small>${remark}</small>`}</dd></div>\n`,
)}</dl>`;
}

function factsOf(result: MetricResult): Fact[] {
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
      value: ci === null ? 'none' : rangeOf(ci, tableNumber),
      remark: ciMethod === null ? undefined : (own(CI_METHODS, ciMethod) ?? ciMethod),
    },
    {
      name: 'Effect size',
      value: effectSize === null ? 'none' : effectSize.toFixed(2),
      remark:
        effectSizeName === null
          ? undefined
          : effectSizeName === 'risk_ratio'
            ? 'risk ratio, largest to smallest'
            : "Cohen's d",
    },
    {
      name: 'p-value',
      value: pValue === null ? 'none' : tablePValue(pValue),
      remark: pValueMethod === null ? undefined : (own(P_VALUE_METHODS, pValueMethod) ?? pValueMethod),
    },
    {
      name: 'Minimum detectable gap',
      value: detectable === null ? 'unknown' : tableNumber(detectable),
      remark: detectable === null ? undefined : 'would have shown with probability 0.8',
    },
    {
      name: 'Groups compared',
      value: tableCount(sizes.length),
      remark: `${tableCount(sizes.reduce((sum, n) => sum + n, 0))} rows`,
    },
  ];
}

/** The groups that the value is of. */
function gapGroups({ first, second }: MetricResult): Fact[] {
  return first === null ? [] : [{ name: 'Gap between', value: `${first} and ${second ?? 'all rows'}` }];
}

/** Whether the measures compared are shares of rows. */
function comparesShares(result: MetricResult): boolean {
  return measuresOf(result).some((measure) => unitOf(measure) === 'share');
}

function rangeOf([low, high]: readonly [number, number], format: (end: number) => string): string {
  return `${format(low)} to ${format(high)}`;
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
        ...(hasIntervals ? [cell(ci === null ? 'none' : rangeOf(ci, (end) => tableValue(end, unit)), 'number')] : []),
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
    'Excluded: groups, or single rates of groups, that took no part',
    [headerCell('Group', 'col'), ...numbers, headerCell('Reason', 'col')],
    rows,
  );
}

function notes({ excluded, nDropped, missing, warnings }: MetricResult): Html {
  const worstCase = missing === null || missing.n === 0 ? null : missing.worstCase;
  const dropped =
    nDropped === 0
      ? 'No row was dropped for missing values.'
      : `${tableCount(nDropped)} ${nDropped === 1 ? 'row was' : 'rows were'} dropped for missing values.`;
  const none = Object.keys(excluded).length === 0 && 'No group was excluded. ';
  const bounds =
    worstCase !== null && ` With values for the rows of these groups it could be ${rangeOf(worstCase, tableNumber)}.`;
  return markup`<p>${none}${dropped}${bounds}</p>
${
  warnings.length > 0 &&
  markup`<div class="note"><p><strong>Before you quote this value:</strong></p>
<ul>${warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></div>`
}`;
}
