import { Argument, type Command } from 'commander';

import { briefReport } from '../../document/report-document.ts';
import { formatCount } from '../../internal/format.ts';
import { defineCommand } from '../define-command.ts';
import { type OutputOptions, printResult } from '../output.ts';

interface SampleDataOptions extends OutputOptions {
  readonly out?: string;
}

/** The command that is suggested next for each sample. */
const NEXT: Readonly<Record<string, (quotedPath: string) => string>> = {
  'cps-wages': (path) =>
    `npx evenhand train-regularized --csv ${path} --target wage_above_median --sensitive gender --features education,experience,union --folds 5`,
  berkeley: (path) => `npx evenhand validate --csv ${path} --y-pred admitted --sensitive gender`,
};

/** Returns the command `evenhand sample-data NAME`. */
export function sampleDataCommand(): Command {
  const sample = new Argument('<name>', '534 people (1985), or 4,526 applicants (1973)');
  // The names are only for help and completion, because the command's own error suggests the nearest name.
  sample.argChoices = Object.keys(NEXT);
  return defineCommand<SampleDataOptions>({
    name: 'sample-data',
    options: `
--out <path>  CSV file to write (default: NAME.csv in this folder)`,
    help: `
Examples:
  $ evenhand sample-data cps-wages
  $ evenhand sample-data berkeley --out data/berkeley.csv`,
    async run(options, _request, [name = '']) {
      const [{ sampleData, writeCsv }, { quoteArgument }] = await Promise.all([
        import('../../io/index.ts'),
        import('../../document/provenance.ts'),
      ]);
      const table = sampleData(name as Parameters<typeof sampleData>[0]);
      const path = options.out ?? `${name}.csv`;
      await writeCsv(path, table);
      const next = options.quiet === true ? undefined : NEXT[name]?.(quoteArgument(path));
      await printResult(options, {
        json: () => ({ name, path, rows: table.rowCount, columns: table.columnNames }),
        text: () =>
          briefReport({
            subject: `Wrote ${path}: ${formatCount(table.rowCount)} rows, columns ${table.columnNames.join(', ')}.`,
            blocks:
              next === undefined
                ? []
                : [
                    { kind: 'paragraph', text: 'Next:' },
                    { kind: 'code', text: next },
                  ],
          }),
      });
    },
  }).addArgument(sample);
}
