import { Command } from 'commander';

import type { DoctorReport } from '../../integration/doctor.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { isGpuRoute } from '../../tensor/diagnosis/backend-report.ts';
import { adviceText, backendsText, mendsText, numericsText } from '../doctor-text.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { type OutputOptions, jsonText, prepareLogs, print, withOutputOptions } from '../output.ts';

interface DoctorOptions extends OutputOptions {
  readonly all?: boolean;
  readonly backend?: string;
  readonly numerics?: boolean;
}

/** The code of a named backend that cannot start, as of every missing dependency. */
const CANNOT_START = 2;

/** Wider text is hard to read. */
const MAX_WIDTH = 100;

/** What is piped may be read on any terminal. */
const PIPED_WIDTH = 80;

/** `evenhand doctor` */
export function doctorCommand(): Command {
  return withOutputOptions(
    new Command('doctor')
      .description('Tell which tensor backends work here, which one would be used, and what the others miss.')
      .option(
        '--backend <name>',
        'examine this one: node-gpu, webgpu, node, wasm or cpu (default: EVENHAND_TF_BACKEND, else what would be used)',
      )
      .option('--numerics', 'ask every tensor operation what is known in float64, and compare')
      .option('--all', 'tell what every backend misses, also where there is no GPU, and every answer of --numerics')
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand doctor
  $ evenhand doctor --all

  Whether this machine's GPU computes what it should, before training on it (exit 1 where it does not):
  $ evenhand doctor --backend webgpu --numerics

  In a script: the backend that would be used, and the first thing to mend for another:
  $ evenhand doctor --json | jq -r .chosen
  $ evenhand doctor --json | jq -r '.backends[] | select(.name == "node-gpu") | .missing[0].mend'

auto takes the first backend that works, in the order of the table, and never a software GPU.`,
      ),
  ).action(async (options: DoctorOptions) => {
    await prepareLogs(options);
    const { examine } = await import('../../integration/doctor.ts');
    const { parseBackendChoice } = await import('../../tensor/index.ts');
    const wanted = parseBackendChoice(options.backend ?? process.env['EVENHAND_TF_BACKEND'] ?? '');
    const report = await examine({ backend: wanted, numerics: options.numerics });
    const failed = wanted !== 'auto' && wanted !== report.chosen ? wanted : null;
    if (options.json === true) process.stdout.write(jsonText(report));
    else printReport(report, failed, options);
    if (failed !== null) process.exitCode = CANNOT_START;
    else if (report.numerics?.some(({ passes }) => !passes) === true) process.exitCode = CHECK_FAILED;
  });
}

function printReport(report: DoctorReport, failed: BackendChoice | null, { all = false }: DoctorOptions): void {
  const width = process.stdout.isTTY ? Math.min(MAX_WIDTH, process.stdout.columns || PIPED_WIDTH) : PIPED_WIDTH;
  print(backendsText(report, width));
  if (report.advice !== null) print(`\n${adviceText(report.advice, width)}`);
  const told = report.backends.filter(
    ({ name }) => all || name === failed || (isGpuRoute(name) && report.advice !== null && failed === null),
  );
  const mends = mendsText(told, width);
  if (mends !== '') print(`\n${mends}`);
  if (report.numerics !== null) print(`\n${numericsText(report.numerics, { width, all })}`);
}
