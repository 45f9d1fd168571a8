import type { Command } from 'commander';

import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportSection,
  type ReportTable,
  type ReportVerdict,
} from '../../document/report-document.ts';
import type { DoctorReport } from '../../integration/doctor.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { capital, counted, formatNumber } from '../../internal/format.ts';
import { isGpuRoute, routesToGpu } from '../../tensor/diagnosis/backend-report.ts';
import { isSaid } from '../../tensor/diagnosis/host.ts';
import { defineCommand } from '../define-command.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { type OutputOptions, printResult } from '../output.ts';

interface DoctorOptions extends OutputOptions {
  readonly all?: boolean;
  readonly backend?: string;
  readonly numerics?: boolean;
}

/** The exit code if a named backend cannot start. Other missing dependencies have the same exit code. */
const CANNOT_START = 2;

/** Returns the command `evenhand doctor`. */
export function doctorCommand(): Command {
  return defineCommand<DoctorOptions>({
    name: 'doctor',
    options: `
--backend <name>  backend to examine: node-gpu, webgpu, node, wasm or cpu (default: EVENHAND_TF_BACKEND, else the default backend)
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
      await printResult(options, {
        json: () => report,
        text: () => doctorDocument(report, { failed, all: options.all }),
      });
      if (failed !== null) process.exitCode = CANNOT_START;
      else if (report.numerics?.some(({ passes }) => !passes) === true) process.exitCode = CHECK_FAILED;
    },
  });
}

type Findings = NonNullable<DoctorReport['numerics']>;
type Report = DoctorReport['backends'][number];

/**
 * Returns the available backends, the missing requirements of all other backends, and the results of the numerical
 * checks.
 */
export function doctorDocument(
  report: DoctorReport,
  { failed = null, all = false }: { readonly failed?: BackendChoice | null; readonly all?: boolean | undefined } = {},
): ReportDocument {
  const { advice, adapter, numerics } = report;
  const explained = report.backends.filter(
    ({ name }) => all || name === failed || (isGpuRoute(name) && advice !== null && failed === null),
  );
  return {
    title: `evenhand ${report.version} on Node ${report.node}`,
    subject: `Tensor backend: ${report.chosen}${adapter === null ? '' : ` (${adapter})`}. A 512 x 512 matrix product takes ${formatNumber(report.matmul_ms, 1)} ms.`,
    verdict: verdictOf(report, failed),
    sections: [
      {
        title: '',
        blocks: [
          backendsTable(report),
          ...(advice === null || failed !== null ? [] : [{ kind: 'paragraph' as const, text: advice }]),
        ],
      },
      ...fixes(explained),
      { title: 'Every result', blocks: numerics === null || !all ? [] : [answersTable(numerics)] },
    ],
    made: [],
  };
}

/**
 * Returns the reason why the named backend cannot start or, if it can start, whether its numerical results are correct.
 */
function verdictOf({ advice, numerics }: DoctorReport, failed: BackendChoice | null): ReportVerdict | undefined {
  if (failed !== null)
    return { kind: 'fail', title: `No backend ${failed}`, sentences: advice === null ? [] : [advice] };
  if (numerics === null) return undefined;
  const wrong = numerics.filter(({ passes }) => !passes);
  const ops = new Set(numerics.map(({ op }) => op)).size;
  const counts = `${String(numerics.length - wrong.length)} of ${String(numerics.length)} results of ${counted(ops, 'tensor operation')} are correct`;
  return {
    kind: wrong.length === 0 ? 'pass' : 'fail',
    title: `${wrong.length === 0 ? 'PASS' : 'FAIL'}: ${counts}`,
    sentences: wrong.map(({ op, name, reason }) => `${op}: ${name}: ${reason ?? ''}`),
  };
}

function backendsTable({ backends }: DoctorReport): ReportTable {
  return {
    kind: 'table',
    caption: '',
    columns: [{ name: 'Backend' }, { name: 'Available' }, { name: 'Reason', wraps: true, isEssential: true }],
    rows: backends.map(({ name, available, reason }) => [name, available ? 'yes' : 'no', reason ?? '']),
  };
}

/**
 * Lists the requirements that the backends lack, with install instructions. There are alternative ways to use the GPU;
 * the one with the fewest missing parts comes first. TensorFlow's native library without a GPU is listed separately.
 */
function fixes(backends: readonly Report[]): ReportSection[] {
  const routes = routesToGpu(backends);
  const others = backends.filter(({ name, missing }) => !isGpuRoute(name) && missing.length > 0);
  const title =
    routes.length > 1
      ? 'To use the GPU, follow one of these routes; the one with the fewest steps is first'
      : 'To use the GPU, follow these steps in order';
  return [
    { title, blocks: routes.flatMap(steps) },
    { title: "To use TensorFlow's native library on the CPU, without a GPU", blocks: others.flatMap(steps) },
  ];
}

function steps({ name, missing }: Report): ReportBlock[] {
  return [{ kind: 'heading', text: name }, ...missing.flatMap(step)];
}

function step({ what, mend: fix }: Report['missing'][number], index: number): ReportBlock[] {
  const [said = '', ...lines] = fix.split('\n');
  const opening = `${String(index + 1)}. ${capital(what)}. ${said}`;
  // Commands are not wrapped, so that users can copy them.
  return [
    { kind: 'paragraph', text: opening },
    ...lines.map((text): ReportBlock => ({ kind: isSaid(text) ? 'paragraph' : 'code', text })),
  ];
}

function answersTable(findings: Findings): ReportTable {
  const numbers = ['Error', 'Tolerance', 'Reads'].map(numberColumn);
  return {
    kind: 'table',
    caption: '',
    columns: [
      { name: 'Operation' },
      { name: 'Check', wraps: true, isEssential: true },
      ...numbers,
      { name: 'Correct', isEssential: true },
    ],
    rows: findings.map(({ op, name, error, tolerance, reads, passes }) => [
      op,
      name,
      error === null ? '' : asError(error),
      asError(tolerance),
      String(reads),
      passes ? 'yes' : 'no',
    ]),
  };
}

function asError(error: number): string {
  return error === 0 ? '0' : error.toExponential(1);
}
