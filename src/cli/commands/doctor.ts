import { Command } from 'commander';

import type { DoctorReport } from '../../integration/doctor.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { backendsText, mendsText, numericsText } from '../doctor-text.ts';
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

/** `evenhand doctor` */
export function doctorCommand(): Command {
  return withOutputOptions(
    new Command('doctor')
      .description('Tell which tensor backends work here, which one would be used, and what the others miss.')
      .option('--backend <name>', 'examine this one: node-gpu, webgpu, node, wasm or cpu (default: what would be used)')
      .option('--numerics', 'ask every tensor operation what is known in float64, and compare')
      .option('--all', 'tell what every backend misses, also where there is no GPU')
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
    const wanted = options.backend === undefined ? undefined : parseBackendChoice(options.backend);
    const report = await examine({ backend: wanted, numerics: options.numerics });
    const named = wanted ?? (process.env['EVENHAND_TF_BACKEND'] as BackendChoice | undefined) ?? 'auto';
    const failed = named !== 'auto' && named !== report.chosen ? named : null;
    if (options.json === true) process.stdout.write(jsonText(report));
    else printReport(report, failed, options);
    if (wanted !== undefined && failed !== null) process.exitCode = CANNOT_START;
    else if (report.numerics?.some(({ passes }) => !passes) === true) process.exitCode = CHECK_FAILED;
  });
}

function printReport(report: DoctorReport, failed: BackendChoice | null, { all }: DoctorOptions): void {
  print(backendsText(report));
  if (report.advice !== null) print(`\n${report.advice}`);
  const told = report.backends.filter(
    ({ name }) => all === true || name === failed || (isGpu(name) && report.advice !== null && failed === null),
  );
  const mends = mendsText(told, Math.min(MAX_WIDTH, process.stdout.columns || MAX_WIDTH));
  if (mends !== '')
    print(`\n${told.some(({ name }) => isGpu(name)) ? 'To use the GPU' : 'To use it'}, mend from the top:\n\n${mends}`);
  if (report.numerics !== null) print(`\n${numericsText(report.numerics)}`);
}

function isGpu(name: string): boolean {
  return name === 'node-gpu' || name === 'webgpu';
}
