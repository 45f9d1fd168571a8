import type { DoctorReport } from '../integration/doctor.ts';
import { textTable } from './output.ts';

type Findings = NonNullable<DoctorReport['numerics']>;
type Report = DoctorReport['backends'][number];

/** Commands are indented once more than what is said of them. */
const INDENT = '     ';

/** What can be used, and what would be. */
export function backendsText(report: DoctorReport): string {
  return [
    `evenhand ${report.version} on Node ${report.node}`,
    `tensor backend: ${report.chosen}${report.adapter === null ? '' : ` (${report.adapter})`}`,
    `512 x 512 matrix product: ${report.matmul_ms.toFixed(1)} ms`,
    '',
    textTable(
      ['backend', 'available', 'reason'],
      report.backends.map(({ name, available, reason }) => [name, available ? 'yes' : 'no', reason ?? '']),
    ),
  ].join('\n');
}

/** What is missing for backends, and how to mend it, from the route that misses least; empty where nothing is known. */
export function mendsText(backends: readonly Report[], width: number): string {
  return backends
    .filter(({ missing }) => missing.length > 0)
    .sort((a, b) => a.missing.length - b.missing.length)
    .map(({ name, missing }) => [name, ...missing.map((part, index) => stepText(part, index, width))].join('\n'))
    .join('\n\n');
}

/** How a backend answered, op by op. */
export function numericsText(findings: Findings): string {
  const table = textTable(
    ['op', 'question', 'error', 'tolerance', 'reads', 'ok'],
    findings.map(({ op, name, error, tolerance, reads, passes, reason }) => [
      op,
      name,
      error === null ? '' : asError(error),
      asError(tolerance),
      String(reads),
      passes ? 'yes' : `no: ${reason ?? ''}`,
    ]),
  );
  const passed = findings.filter(({ passes }) => passes).length;
  return `${table}\n\n${String(passed)} of ${String(findings.length)} answers are right.`;
}

function asError(error: number): string {
  return error === 0 ? '0' : error.toExponential(1);
}

function stepText({ what, mend }: Report['missing'][number], index: number, width: number): string {
  const [said = '', ...lines] = mend.split('\n');
  const number = `${String(index + 1)}.`.padStart(4);
  return [
    ...wrapped(what, width - INDENT.length).map((line, place) => `${place === 0 ? `${number} ` : INDENT}${line}`),
    ...wrapped(said, width - INDENT.length).map((line) => `${INDENT}${line}`),
    // A command is not broken, so that it can be copied.
    ...lines
      .flatMap((line) => (isSaid(line) ? wrapped(line, width - INDENT.length) : [`  ${line}`]))
      .map((line) => `${INDENT}${line}`),
  ].join('\n');
}

/** Sentences end, commands do not. */
function isSaid(line: string): boolean {
  return /[.:]$/.test(line);
}

/** A text in lines of at most so many characters, broken between words. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
