import type { Command } from 'commander';

import type { DoctorReport } from '../../integration/doctor.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { isGpuRoute } from '../../tensor/diagnosis/backend-report.ts';
import { defineCommand } from '../define-command.ts';
import { adviceText, backendsText, fixesText, numericsText } from '../doctor-text.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { type OutputOptions, jsonText, print } from '../output.ts';

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
