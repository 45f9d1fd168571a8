import { Command } from 'commander';

import { CHECK_FAILED } from '../exit-codes.ts';
import { flagName, parseNames, parseNumber, requireOptions } from '../option-parsers.ts';
import { type OutputOptions, prepareLogs, print, remark, withOutputOptions } from '../output.ts';

interface ValidateOptions extends OutputOptions {
  readonly csv: string;
  readonly sensitive: readonly (readonly string[])[];
  readonly out?: string;
  readonly threshold?: number;
}

/** `evenhand validate` */
export function validateCommand(): Command {
  return withOutputOptions(
    new Command('validate')
      .description(
        'Measure the group fairness of decisions in a CSV or Parquet file, and judge it against a threshold.',
      )
      .option('--csv <path>', 'the file: CSV, TSV (also .gz) or Parquet')
      .option('--y-pred <column>', 'decisions, 0 or 1 (numbers for mae_parity_difference)')
      .option('--score <column>', 'scores instead of decisions; decided at --score-threshold')
      .option(
        '--score-threshold <number>',
        'a score of at least this is a positive decision (default: 0.5)',
        parseNumber,
      )
      .option('--y-true <column>', 'true labels, 0 or 1; adds equalized odds')
      .option(
        '--sensitive <columns>',
        'a sensitive column; a comma list is one intersection (a comma in a name is \\,); repeat to analyse each apart',
        (text: string, earlier: readonly string[][] | undefined) => [...(earlier ?? []), parseNames(text)],
      )
      .option('--sample-weight <column>', 'weights of rows')
      .option(
        '--positive-label <label>',
        'the label that counts as 1 in --y-pred and --y-true, where labels are not 0/1',
      )
      .option('--min-group-size <n>', 'smaller groups are excluded and named (default: 30)', parseNumber)
      .option('--nan-policy <policy>', 'rows without a group: exclude, or include as "(missing)" (default: exclude)')
      .option('--with-ci', 'add intervals')
      .option('--ci-level <level>', 'their confidence level (default: 0.95)', parseNumber)
      .option('--with-effects', 'add effect sizes')
      .option('--seed <n>', 'seed of the intervals (default: 42)', parseNumber)
      .option('--metric <name>', 'demographic_parity_difference, equalized_odds_difference or mae_parity_difference')
      .option(
        '--threshold <number>',
        'the gate: exit 1 where the metric is on its wrong side (needs --metric)',
        parseNumber,
      )
      .option('--comparator <op>', "the gate's comparison: <=, <, >= or > (default: <=, by the size of the value)")
      .option('--out <path>', 'write a report: .md or .json')
      .addHelpText(
        'after',
        `
Examples:
  Selection rates and their largest difference, by sex and by race:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --sensitive race

  A gate for continuous integration, with a report:
  $ evenhand validate --csv decisions.csv --y-true repaid --y-pred approved --sensitive sex \\
      --metric equalized_odds_difference --threshold 0.1 --out report.md

Groups that are too small are left out and named, never silently. An undefined metric fails the gate.`,
      ),
  ).action(async (options: ValidateOptions) => {
    requireOptions(options, ['csv', 'sensitive']);
    await prepareLogs(options);
    const [{ validateFile, validationToJson, validationToMarkdown }, { parseBy }, { validateSchema }] =
      await Promise.all([
        import('../../integration/index.ts'),
        import('../../schemas/parse.ts'),
        import('../../schemas/validate.ts'),
      ]);
    const { csv, sensitive, ...given } = options;
    const request = parseBy(validateSchema, { ...given, attributes: sensitive }, 'validate', flagName);
    const writeReport = await reportWriter(options.out);
    const validation = await validateFile(csv, request);
    const body = JSON.stringify(validationToJson(validation), undefined, 2);
    const report = validationToMarkdown(validation, csv);
    await writeReport?.(/\.json$/i.test(options.out ?? '') ? `${body}\n` : report);
    print(options.json === true ? body : terminalText(report));
    if (options.out !== undefined) remark(`Wrote ${options.out}`, options);
    if (validation.passed === false) process.exitCode = CHECK_FAILED;
  });
}

/** Checked before the work, so that a long count is not lost to a bad path. */
async function reportWriter(out: string | undefined): Promise<((content: string) => Promise<void>) | undefined> {
  if (out === undefined) return undefined;
  const [{ assertFileWritable, writeFileAtomic }, { DataValidationError }] = await Promise.all([
    import('../../io/atomic-write.ts'),
    import('../../exceptions/index.ts'),
  ]);
  if (!/\.(md|json)$/i.test(out)) {
    throw new DataValidationError(`A report cannot be written as '${out}'.`, {
      context: { path: out },
      suggestion: 'End the name in .md or .json.',
    });
  }
  await assertFileWritable(out);
  return (content) => writeFileAtomic(out, content);
}

/** Markdown reads well on a terminal but for its bold marks and escapes. */
function terminalText(markdown: string): string {
  return markdown
    .replaceAll(/(?<!\\)\*\*/g, '')
    .replaceAll(/\\([\\`*_|<>[\]])/g, '$1')
    .trimEnd();
}
