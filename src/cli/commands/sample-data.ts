import { Command } from 'commander';

import { type OutputOptions, jsonText, prepareLogs, print, withOutputOptions } from '../output.ts';

interface SampleDataOptions extends OutputOptions {
  readonly out?: string;
}

/** The command that is suggested next for each sample. */
const NEXT: Readonly<Record<string, (path: string) => string>> = {
  'cps-wages': (path) =>
    `npx evenhand train-regularized --csv ${path} --target wage_above_median --sensitive gender --features education,experience,union --folds 5`,
  berkeley: (path) => `npx evenhand validate --csv ${path} --y-pred admitted --sensitive gender`,
};

/** Returns the command `evenhand sample-data NAME`. */
export function sampleDataCommand(): Command {
  return withOutputOptions(
    new Command('sample-data')
      .description('Write a sample data set that is part of the package. Downloads nothing.')
      .argument('<name>', 'sample: cps-wages (534 people, 1985) or berkeley (4,526 applicants, 1973)')
      .option('--out <path>', 'CSV file to write (default: NAME.csv in this folder)')
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand sample-data cps-wages
  $ evenhand sample-data berkeley --out data/berkeley.csv`,
      ),
  ).action(async (name: string, options: SampleDataOptions) => {
    await prepareLogs(options);
    const { sampleData, writeCsv } = await import('../../io/index.ts');
    const table = sampleData(name as Parameters<typeof sampleData>[0]);
    const path = options.out ?? `${name}.csv`;
    await writeCsv(path, table);
    if (options.json === true) {
      process.stdout.write(jsonText({ name, path, rows: table.rowCount, columns: table.columnNames }));
      return;
    }
    print(`Wrote ${path}: ${table.rowCount.toLocaleString('en-US')} rows, columns ${table.columnNames.join(', ')}.`);
    if (options.quiet !== true) print(`Next: ${NEXT[name]?.(path) ?? ''}`);
  });
}
