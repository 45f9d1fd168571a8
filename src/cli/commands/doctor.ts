import type { Command } from 'commander';

import type { DoctorReport } from '../../integration/doctor.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { formatNumber } from '../../internal/format.ts';
import { isGpuRoute, routesToGpu } from '../../tensor/diagnosis/backend-report.ts';
import { isSaid } from '../../tensor/diagnosis/host.ts';
import { defineCommand } from '../define-command.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { jsonText, type OutputOptions, print, textTable } from '../output.ts';

interface DoctorOptions extends OutputOptions {
  readonly all?: boolean;
  readonly backend?: string;
  readonly numerics?: boolean;
}

/** The exit code if a named backend cannot start; the same as for other missing dependencies. */
const CANNOT_START = 2;

/** The maximum width of text on a terminal. */
const MAX_WIDTH = 100;

/** The width of text if stdout is not a terminal. */
const PIPED_WIDTH = 80;

/** Returns the command `evenhand doctor`. */
export function doctorCommand(): Command {
  return defineCommand<DoctorOptions>({
    name: 'doctor',
    description:
      'Show which tensor backends work on this machine, which one is used by default, and what the others need.',
    options: `
--backend <name>  backend to examine: node-gpu, webgpu, node, wasm or cpu (default: EVENHAND_TF_BACKEND, else the one used by default)
--numerics  compare the results of every tensor operation with known float64 results
--all  show what every backend needs, even without a GPU, and every result of --numerics`,
    help: `
Examples:
  $ evenhand doctor
  $ evenhand doctor --all

  Check that this machine's GPU computes correctly before you train on it (exit code 1 if it does not):
  $ evenhand doctor --backend webgpu --numerics

  In a script: the backend used by default, and the first step to make another backend work:
  $ evenhand doctor --json | jq -r .chosen
  $ evenhand doctor --json | jq -r '.backends[] | select(.name == "node-gpu") | .missing[0].mend'

auto uses the first backend in the table that works. It never uses a software GPU.
Exit codes: 0 success, 1 wrong results of --numerics, 2 the named backend cannot start.`,
    async run(options) {
      const { examine } = await import('../../integration/doctor.ts');
      const { parseBackendChoice } = await import('../../tensor/index.ts');
      const wanted = parseBackendChoice(options.backend ?? process.env['EVENHAND_TF_BACKEND'] ?? '');
      const report = await examine({ backend: wanted, numerics: options.numerics });
      const failed = wanted !== 'auto' && wanted !== report.chosen ? wanted : null;
      if (options.json === true) process.stdout.write(jsonText(report));
      else printReport(report, failed, options);
      if (failed !== null) process.exitCode = CANNOT_START;
      else if (report.numerics?.some(({ passes }) => !passes) === true) process.exitCode = CHECK_FAILED;
    },
  });
}

function printReport(report: DoctorReport, failed: BackendChoice | null, { all = false }: DoctorOptions): void {
  const width = process.stdout.isTTY ? Math.min(MAX_WIDTH, process.stdout.columns || PIPED_WIDTH) : PIPED_WIDTH;
  print(backendsText(report, width));
  if (report.advice !== null) print(`\n${adviceText(report.advice, width)}`);
  const reported = report.backends.filter(
    ({ name }) => all || name === failed || (isGpuRoute(name) && report.advice !== null && failed === null),
  );
  const fixes = fixesText(reported, width);
  if (fixes !== '') print(`\n${fixes}`);
  if (report.numerics !== null) print(`\n${numericsText(report.numerics, { width, all })}`);
}

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
