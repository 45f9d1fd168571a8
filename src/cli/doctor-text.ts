import type { DoctorReport } from '../integration/doctor.ts';
import { formatNumber } from '../internal/format.ts';
import { isGpuRoute, routesToGpu } from '../tensor/diagnosis/backend-report.ts';
import { isSaid } from '../tensor/diagnosis/host.ts';
import { textTable } from './output.ts';

type Findings = NonNullable<DoctorReport['numerics']>;
type Report = DoctorReport['backends'][number];

/** The indentation of explanations. Commands are indented further. */
const INDENT = '     ';

/** The minimum width of a column of text. */
const NARROWEST = 20;

/** Returns the version, the selected backend and a table of all backends. */
export function backendsText(report: DoctorReport, width: number): string {
  const rows = report.backends.map(({ name, available, reason }) => [name, available ? 'yes' : 'no', reason ?? '']);
  return [
    `evenhand ${report.version} on Node ${report.node}`,
    ...wrapped(`tensor backend: ${report.chosen}${report.adapter === null ? '' : ` (${report.adapter})`}`, width),
    `512 x 512 matrix product: ${formatNumber(report.matmul_ms, 1)} ms`,
    '',
    wrappedTable(['backend', 'available', 'reason'], rows, { wrap: 2, width }),
  ].join('\n');
}

/** Returns the advice, wrapped to a width. */
export function adviceText(advice: string, width: number): string {
  return wrapped(advice, width).join('\n');
}

/**
 * Lists the requirements that the backends lack, with install instructions. Returns an empty string if nothing is known
 * to be missing. The ways to use the GPU are alternatives; the way with the fewest missing parts comes first.
 * TensorFlow's native library without a GPU is listed separately.
 */
export function fixesText(backends: readonly Report[], width: number): string {
  const routes = routesToGpu(backends);
  const others = backends.filter(({ name, missing }) => !isGpuRoute(name) && missing.length > 0);
  const heading =
    routes.length > 1
      ? 'To use the GPU, follow one of these routes; the one with the fewest steps is first:'
      : 'To use the GPU, follow these steps in order:';
  return [
    ...sectionText(heading, routes, width),
    ...sectionText("To use TensorFlow's native library on the CPU, without a GPU:", others, width),
  ].join('\n\n');
}

/** Returns the results of the numerical checks: all results if `all` is set, then the failed checks and a count. */
export function numericsText(findings: Findings, { width, all }: { width: number; all: boolean }): string {
  const failed = findings.filter(({ passes }) => !passes);
  const passed = findings.length - failed.length;
  const ops = new Set(findings.map(({ op }) => op)).size;
  return [
    ...(all ? [answersTable(findings, width), ''] : []),
    ...failed.flatMap(({ op, name, reason }) => [
      ...wrapped(`${op}: ${name}`, width),
      ...wrapped(reason ?? '', width - INDENT.length).map((line) => `${INDENT}${line}`),
    ]),
    ...(failed.length === 0 ? [] : ['']),
    `numerics: ${String(passed)} of ${String(findings.length)} results of ${String(ops)} tensor operations are correct.`,
  ].join('\n');
}

function answersTable(findings: Findings, width: number): string {
  const header = ['op', 'check', 'error', 'tolerance', 'reads', 'ok'];
  const rows = findings.map(({ op, name, error, tolerance, reads, passes }) => [
    op,
    name,
    error === null ? '' : asError(error),
    asError(tolerance),
    String(reads),
    passes ? 'yes' : 'no',
  ]);
  return wrappedTable(header, rows, { wrap: 1, width });
}

/** Returns a table of at most `width` characters. The text in column `wrap` is wrapped onto further lines. */
function wrappedTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { wrap, width }: { readonly wrap: number; readonly width: number },
): string {
  const widthOf = (column: number): number => Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length));
  const others = header.reduce((sum, _, column) => (column === wrap ? sum : sum + widthOf(column) + 2), 0);
  const room = Math.max(NARROWEST, width - others);
  const lines = rows.flatMap((row) => {
    const [first = '', ...below] = wrapped(row[wrap] ?? '', room);
    return [row.with(wrap, first), ...below.map((line) => header.map((_, column) => (column === wrap ? line : '')))];
  });
  return textTable(header, lines);
}

function asError(error: number): string {
  return error === 0 ? '0' : error.toExponential(1);
}

function sectionText(heading: string, backends: readonly Report[], width: number): readonly string[] {
  if (backends.length === 0) return [];
  return [
    wrapped(heading, width).join('\n'),
    ...backends.map(({ name, missing }) =>
      [name, ...missing.map((part, index) => stepText(part, index, width))].join('\n'),
    ),
  ];
}

function stepText({ what, mend: fix }: Report['missing'][number], index: number, width: number): string {
  const number = `${String(index + 1)}.`.padStart(4);
  const [said = '', ...lines] = fix.split('\n');
  return [
    ...wrapped(what, width - INDENT.length).map((line, position) => `${position === 0 ? `${number} ` : INDENT}${line}`),
    ...wrapped(said, width - INDENT.length).map((line) => `${INDENT}${line}`),
    // Commands are not wrapped, so that users can copy them.
    ...lines
      .flatMap((line) => (isSaid(line) ? wrapped(line, width - INDENT.length) : [`  ${line}`]))
      .map((line) => `${INDENT}${line}`),
  ].join('\n');
}

/** Splits a text into lines of at most `width` characters, at spaces. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
