import type { ChartedMeasure } from '../charts/group-values-chart.ts';
import { formatCount } from '../internal/format.ts';
import { type Html, markup, trusted } from '../internal/html.ts';
import { VERSION } from '../internal/version.ts';
import { escapeMarkdown, markdownTable } from '../metrics/metric-markdown.ts';
import { groupPlotText } from './group-plot.ts';
import { labelText, plainText } from './report-text.ts';

/** The result of one gate for one attribute, as shown in reports for continuous integration. */
export interface GateCase {
  /** The subject of the gate: an attribute, or a part of the run. */
  readonly attribute: string;
  /** The gate as text, for example `demographic_parity_difference <= 0.1`. */
  readonly name: string;
  /** The verdict; null if no gate was applied. Null never counts as a pass. */
  readonly status: 'pass' | 'fail' | 'undefined' | null;
  /** The verdict in one sentence. */
  readonly message: string;
  /**
   * The type of the error of a gate that could not be evaluated.
   * @defaultValue UndefinedMetric
   */
  readonly errorType?: string | undefined;
  /** A text with the measured values. */
  readonly output?: string | undefined;
}

/** The gates of one run of a command. */
export interface GateReport {
  /** The command, for example `evenhand validate`. The test suite has the same name. */
  readonly command: string;
  /** Whether the run passed; null if there is no gate. */
  readonly passed: boolean | null;
  readonly cases: readonly GateCase[];
  /** The options of the run, by name. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * What to check before you rely on the verdict, each as a sentence.
   * @defaultValue nothing
   */
  readonly warnings?: readonly string[] | undefined;
  /** The values by group that the summary draws. */
  readonly plots?: readonly ChartedMeasure[] | undefined;
  /** The duration of the run. */
  readonly seconds?: number | undefined;
}

/**
 * The XML element and type for each kind of test that did not pass. An undefined metric could not be measured, so its
 * test is an error in JUnit.
 */
const OUTCOMES = {
  fail: { element: 'failure', type: 'FairnessAssertionError' },
  undefined: { element: 'error', type: 'UndefinedMetric' },
} as const;

/**
 * Renders the gates of a run as JUnit XML, with one test suite and one test for each gate and attribute. A gate that
 * failed is a failure, a gate on an undefined metric is an error, and an attribute without a gate is skipped.
 *
 * The file follows junit-10.xsd of the xUnit plugin of Jenkins.
 */
export function gateReportToJunit({ command, cases, settings, warnings = [], seconds }: GateReport): string {
  const count = (status: GateCase['status']): number => cases.filter((one) => one.status === status).length;
  const counts = markup`tests="${cases.length}" failures="${count('fail')}" errors="${count('undefined')}"`;
  const time = seconds !== undefined && markup` time="${seconds.toFixed(3)}"`;
  const made = [
    ...warnings.map((warning) => `Warning: ${warning}`),
    `evenhand ${VERSION}`,
    ...Object.entries(settings).map(([name, value]) => `${name}: ${value}`),
  ];
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${command}" ${counts}${time}>
  <testsuite name="${command}" ${counts} skipped="${count(null)}"${time}>
${cases.map(caseXml)}    <system-out>${made.join('\n')}</system-out>
  </testsuite>
</testsuites>
`.text;
}

function caseXml({ attribute, name, status, message, output, errorType }: GateCase): Html {
  const shown = output ?? (status === 'pass' ? message : undefined);
  return markup`    <testcase classname="${attribute}" name="${name}">
${outcomeXml(status, message, errorType)}${shown !== undefined && markup`      <system-out>${shown}</system-out>\n`}    </testcase>
`;
}

function outcomeXml(status: GateCase['status'], message: string, errorType?: string): Html | false {
  if (status === 'pass') return false;
  if (status === null) return markup`      <skipped message="${message}"/>\n`;
  const type = errorType ?? OUTCOMES[status].type;
  const element = trusted(OUTCOMES[status].element);
  return markup`      <${element} message="${message}" type="${type}">${message}</${element}>\n`;
}

/** The maximum number of rows in a summary. GitHub discards a summary that is larger than 1 MiB. */
const MAX_ROWS = 100;

/** The maximum number of plots in a summary. */
const MAX_PLOTS = 12;

/** The words for a verdict, in the order of the rows. */
const WORDS = new Map<GateCase['status'], string>([
  ['fail', 'FAIL'],
  ['undefined', 'UNDEFINED'],
  ['pass', 'PASS'],
  [null, 'none'],
]);

/**
 * Renders the gates of a run as Markdown for the summary of a step in GitHub Actions. The Markdown contains no links.
 * GitHub removes inline SVG and images in data URLs, so that the values by group are drawn with characters.
 */
export function gateReportToSummary({ command, passed, cases, warnings = [], plots = [] }: GateReport): string {
  const ordered = [...WORDS.keys()].flatMap((status) => cases.filter((one) => one.status === status));
  const shown = ordered.slice(0, MAX_ROWS);
  const gates = cases.filter(({ status }) => status !== null);
  const nPassed = gates.filter(({ status }) => status === 'pass').length;
  const isUndefined = gates.some(({ status }) => status === 'undefined');
  const failed = isUndefined && gates.every(({ status }) => status !== 'fail') ? 'UNDEFINED' : 'FAIL';
  const rows = shown.map(({ attribute, name, status, message }) => [
    WORDS.get(status) ?? '',
    ...[labelText(attribute), labelText(name), plainText(message.replace(/^(?:PASS|FAIL|UNDEFINED): /, ''))].map(
      summaryText,
    ),
  ]);
  const more = ordered.length - shown.length;
  return [
    `### ${summaryText(command)}: ${passed === true ? 'PASS' : failed}`,
    '',
    `${formatCount(nPassed)} of ${formatCount(gates.length)} gates passed.`,
    '',
    markdownTable(['Verdict', 'Attribute', 'Gate', 'Result'], rows),
    ...(more === 0 ? [] : ['', `${formatCount(more)} more are not shown.`]),
    ...(warnings.length === 0
      ? []
      : ['', ...warnings.map((warning) => `- Warning: ${summaryText(plainText(warning))}`)]),
    ...plotLines(plots),
    '',
  ].join('\n');
}

/** Returns the plots in one block of code, whose fence is longer than any run of backticks in it. */
function plotLines(plots: readonly ChartedMeasure[]): string[] {
  const drawn = plots.map(groupPlotText).filter((lines) => lines.length > 0);
  if (drawn.length === 0) return [];
  const lines = drawn.slice(0, MAX_PLOTS).flatMap((plot, index) => (index === 0 ? plot : ['', '', ...plot]));
  const longest = Math.max(0, ...[...lines.join('\n').matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  const more = drawn.length - MAX_PLOTS;
  return [
    '',
    'Values by group (┼), with their confidence intervals (├─┤):',
    '',
    `${fence}text`,
    ...lines,
    fence,
    ...(more > 0 ? ['', `${formatCount(more)} more plots are not shown.`] : []),
  ];
}

/**
 * Escapes a text for a table cell. An empty comment prevents GitHub from turning addresses and mentions into links.
 * Backslashes would not prevent this.
 */
function summaryText(text: string): string {
  const escaped = escapeMarkdown(text.replaceAll('&', '&amp;'));
  return escaped.replaceAll(/:(?=\/\/)|(?<=www)\.|@/gi, '$&<!-- -->');
}
