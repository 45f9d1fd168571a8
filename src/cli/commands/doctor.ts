import { Command } from 'commander';

import { type OutputOptions, jsonText, prepareLogs, print, textTable, withOutputOptions } from '../output.ts';

/** `evenhand doctor` */
export function doctorCommand(): Command {
  return withOutputOptions(
    new Command('doctor')
      .description('Tell which tensor backends work here, which one would be used, and why not the others.')
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand doctor
  $ evenhand doctor --json | jq .chosen`,
      ),
  ).action(async (options: OutputOptions) => {
    await prepareLogs(options);
    const { examine } = await import('../../integration/doctor.ts');
    const report = await examine();
    if (options.json === true) {
      process.stdout.write(jsonText(report));
      return;
    }
    print(`evenhand ${report.version} on Node ${report.node}`);
    print(`tensor backend: ${report.chosen}${report.adapter === null ? '' : ` (${report.adapter})`}`);
    print(`512 x 512 matrix product: ${report.matmul_ms.toFixed(1)} ms\n`);
    print(
      textTable(
        ['backend', 'available', 'reason'],
        report.backends.map(({ name, available, reason }) => [name, available ? 'yes' : 'no', reason ?? '']),
      ),
    );
    if (report.advice !== null) print(`\n${report.advice}`);
  });
}
