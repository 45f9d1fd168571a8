import {
  formatNumber,
  capital,
  tableCount,
  formatLevel,
  pValueText,
  rangeText,
  tableNumber,
  tableValue,
} from '../../internal/format.ts';
import type { Chart } from '../../charts/chart.ts';
import { cell, headerCell, scrollingTable } from '../../document/report-table.ts';
import { DependencyError } from '../../exceptions/index.ts';
import { type Html, markup, trusted } from '../../internal/html.ts';
import { VERSION } from '../../internal/version.ts';
import type { MeasureValues, MetricFrame } from '../../metrics/frame/index.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import type { FileValidation } from '../validate-file.ts';
import { own } from '../../internal/values.ts';
import { intervalName, measuresOf, metricCharts } from './metric-charts.ts';

/** Descriptions of interval methods by their names in results. */
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
 * Renders a metric as a section of a page: the main numbers, the charts, then the tables.
 * @param id the element id that links to the section use
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

/** A named value with a remark. */
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
function gapGroups({ first, second }: MetricResult): Fact[] {
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

const VERDICTS = {
  pass: { sign: '\u2713', word: 'PASS' },
  fail: { sign: '\u2717', word: 'FAIL' },
  none: { sign: '\u2013', word: 'No threshold, no verdict' },
} as const;

/** Renders the verdict with the message of the gate on each attribute. */
export function verdictBox({ passed, threshold, gates }: ReportedValidation): Html {
  const kind = passed === null ? 'none' : passed ? 'pass' : 'fail';
  const { sign, word } = VERDICTS[kind];
  const sentences = gates.map(
    ({ attribute, message }) => markup`<li><strong><bdi>${attribute}</bdi></strong>: ${message}</li>`,
  );
  return markup`<section class="verdict ${kind}" aria-labelledby="verdict">
<h2 id="verdict"><span aria-hidden="true">${sign}</span> ${word}${threshold !== null && markup` <small>at threshold ${threshold}</small>`}</h2>
${passed === null ? markup`<p>This report measures and does not judge.</p>` : markup`<ul>${sentences}</ul>`}
</section>`;
}

/** Renders a table of all values, if there are at least two metrics. */
export function overview(entries: readonly ReportEntry[]): Html | false {
  if (entries.length < 2) return false;
  const levels = new Set(entries.flatMap(({ result: { ciLevel } }) => ciLevel ?? []));
  const rows = entries.map(({ attribute, result: { metric, value, ci, excluded }, id }) => [
    headerCell(attribute, 'row'),
    cell(markup`<a href="#${id}">${inWords(metric)}</a>`),
    cell(tableNumber(value), 'number'),
    cell(ci === null ? 'none' : rangeText(ci), 'number'),
    cell(tableCount(Object.keys(excluded).length), 'number'),
  ]);
  const interval = capital(intervalName(levels.size === 1 ? ([...levels][0] ?? null) : null));
  const header = [
    headerCell('Attribute', 'col'),
    headerCell('Metric', 'col'),
    ...['Value', interval, 'Groups excluded'].map((name) => headerCell(name, 'col', 'number')),
  ];
  return markup`<section aria-label="All metrics">${scrollingTable('All metrics', header, rows)}</section>`;
}

/** Options by name, as given by the caller. */
export type ReportSettings = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>
>;

/** Explanations for readers without a background in statistics. */
export const HOW_TO_READ = markup`<section aria-labelledby="reading">
<h2 id="reading">How to read this</h2>
<ul>
<li>A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing about excluded groups or about why rates differ. A gap is a reason to investigate; it does not by itself prove unfair treatment, and the absence of a gap does not prove fair treatment.</li>
<li>An interval contains the values that are compatible with the data at its level. If it is wide, the data cannot distinguish a small gap from a large one. The interval of a metric is computed for the gap itself. The lines in the charts are intervals of the individual groups (Wilson for rates, normal for means); even if two of them overlap, the groups can differ.</li>
<li>Small groups have wide intervals, and their rates are more often extreme by chance alone. Among many groups some rates differ widely even if all groups are treated alike: the largest gap grows with the number of groups. The minimum detectable difference (80% power) is the smallest difference that data of this size detect with probability 0.8.</li>
<li>Groups with too few rows are excluded and listed with their counts. An undefined metric does not pass.</li>
</ul>
</section>`;

/** Renders what is needed to reproduce the numbers. It contains no time, so that two runs give the same bytes. */
export function reproducibility(results: readonly MetricResult[], source: string, settings: ReportSettings): Html {
  const listed = <T>(pick: (result: MetricResult) => T | null, shown: (value: T) => string = String): string =>
    [...new Set(results.map(pick).filter((value) => value !== null))].map(shown).join(', ') || 'none';
  const given = Object.entries(settings).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, Array.isArray(value) ? value.join(', ') : String(value)]],
  );
  const lines: [string, string][] = [
    ['evenhand', VERSION],
    ['Source', source],
    ['Metrics', listed(({ metric }) => metric)],
    ['Interval level', listed(({ ciLevel }) => ciLevel, formatLevel)],
    ['Interval method', listed(({ ciMethod }) => ciMethod)],
    ['p-value method', listed(({ pValueMethod }) => pValueMethod)],
    ['Seed', listed(({ seed }) => seed)],
    ...given,
  ];
  return markup`<h2 id="made">How this was made</h2>
<dl class="made">
${lines.map(([name, value]) => markup`<dt>${name}</dt><dd><bdi>${value}</bdi></dd>\n`)}</dl>
<p>The same data, version and options reproduce this page byte for byte.</p>`;
}

/** The validation to report; `frames` only if groups were compared within the levels of a control feature. */
export type ReportedValidation = Omit<FileValidation, 'frames' | 'labels'> &
  Partial<Pick<FileValidation, 'frames' | 'labels'>>;

/** A metric with its attribute, its element id and its charts. */
export interface ReportEntry {
  readonly attribute: string;
  readonly result: MetricResult;
  readonly id: string;
  readonly charts: readonly Chart[];
}

/** Lists every metric of every attribute, in order. */
export function entriesOf({ attributes }: ReportedValidation): ReportEntry[] {
  return Object.entries(attributes).flatMap(([attribute, metrics], position) =>
    Object.values(metrics).map((result, index) => ({
      attribute,
      result,
      id: `metric-${String(position + 1)}-${String(index + 1)}`,
      charts: metricCharts(result, attribute),
    })),
  );
}

/** Rendered charts by metric, or the reason why there are none. */
export interface Drawn {
  readonly pictures: ReadonlyMap<ReportEntry, readonly Html[]>;
  readonly problem: string | undefined;
}

/** Draws every chart. If the charting package is not installed, it draws none and returns the problem. */
export async function drawAll(
  entries: readonly ReportEntry[],
  draw: (chart: Chart) => Promise<string>,
): Promise<Drawn> {
  const pictures = new Map<ReportEntry, Html[]>();
  try {
    for (const entry of entries) {
      const own: Html[] = [];
      for (const chart of entry.charts) own.push(trusted(await draw(chart)));
      pictures.set(entry, own);
    }
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    const next = error.suggestion === undefined ? '' : ` ${error.suggestion}`;
    return { pictures: new Map(), problem: `This report has tables but no charts: ${error.message}${next}` };
  }
  return { pictures, problem: undefined };
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
