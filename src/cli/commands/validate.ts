import { Command } from 'commander';

import { CHECK_FAILED } from '../exit-codes.ts';
import {
  flagName,
  NA_VALUES_HELP,
  parseNames,
  parseNumber,
  parseTexts,
  repeatable,
  requireOptions,
} from '../option-parsers.ts';
import { reportWriter, terminalText } from '../output-places.ts';
import { jsonText, type OutputOptions, prepareLogs, print, remark, withOutputOptions } from '../output.ts';

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
      .option('--y-pred <column>', 'decisions, 0 or 1 (numbers for mae_parity_difference and its like)')
      .option(
        '--score <column>',
        'scores instead of decisions; decided at --score-threshold, needed for roc_auc_difference',
      )
      .option(
        '--score-threshold <number>',
        'a score of at least this is a positive decision (default: 0.5)',
        parseNumber,
      )
      .option('--y-true <column>', 'true labels, 0 or 1; adds equalized odds')
      .option(
        '--sensitive <columns>',
        'a sensitive column; a comma list is one intersection (a comma in a name is \\,); repeat to analyse each apart',
        repeatable(parseNames),
      )
      .option('--sample-weight <column>', 'weights of rows')
      .option(
        '--positive-label <label>',
        'the label that counts as 1 in --y-pred and --y-true, where labels are not 0/1',
      )
      .option(
        '--y-true-positive-label <label>',
        'the label that counts as 1 in --y-true, where truth and predictions are labelled differently',
      )
      .option('--na-values <texts>', NA_VALUES_HELP, parseTexts)
      .option(
        '--control <columns>',
        'compare groups inside the levels of this column too; warns where a gap changes its sign there',
        parseNames,
      )
      .option('--min-group-size <n>', 'smaller groups are excluded and named (default: 30)', parseNumber)
      .option('--nan-policy <policy>', 'rows without a group: exclude, or include as "(missing)" (default: exclude)')
      .option('--with-ci', 'add intervals')
      .option('--ci-level <level>', 'their confidence level (default: 0.95)', parseNumber)
      .option('--ci-method <name>', 'simultaneous, percentile or bca (default: simultaneous)')
      .option('--ci-samples <n>', 'replicates of intervals and p-values (default: 1000)', parseNumber)
      .option('--with-effects', 'add effect sizes')
      .option(
        '--with-p-value',
        'add p-values: by permuting the labels of groups, or approximate with weights and means',
      )
      .option('--seed <n>', 'seed of intervals and p-values (default: 42)', parseNumber)
      .option('--method <name>', 'between_groups, to_overall or to_reference (default: between_groups)')
      .option(
        '--reference-group <label>',
        'for to_reference: the group that others are compared with (default: the largest)',
      )
      .option('--agg <name>', 'equalized odds: worst_case or mean of both gaps (default: worst_case)')
      .option('--compat <library>', 'follow the conventions of fairlearn, aif360 or aequitas')
      .option(
        '--backend <name>',
        'what counts the rows: duckdb, native or danfo (default: duckdb, which never loads them)',
      )
      .option(
        '--metric <name>',
        'a metric to add and to judge: demographic_parity_ratio, equal_opportunity_difference, roc_auc_difference, mae_parity_difference, or a measure with _difference or _ratio after it, such as precision_ratio; with its gate NAME<=VALUE (also <, >=, >); repeat for several, all gates must pass',
        repeatable((text: string) => text),
      )
      .option(
        '--threshold <number>',
        'the gate of each --metric without one of its own: exit 1 where the metric is on its wrong side',
        parseNumber,
      )
      .option(
        '--comparator <op>',
        "the gate's comparison: <=, <, >= or > (default: <= by the size of the value; >= for a ratio)",
      )
      .option(
        '--strict-missing',
        'fail the gate where missing values are more common in some groups than in others (default: a warning)',
      )
      .option('--out <path>', 'write a report: .html (with pictures), .md or .json')
      .addHelpText(
        'after',
        `
Examples:
  Selection rates and their largest difference, by sex and by race:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --sensitive race

  A gate for continuous integration, with a report:
  $ evenhand validate --csv decisions.csv --y-true repaid --y-pred approved --sensitive sex \\
      --metric equalized_odds_difference --threshold 0.1 --out report.html

  The four-fifths rule:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex \\
      --metric demographic_parity_ratio --threshold 0.8

  Several gates at once; all must pass:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --strict-missing \\
      --metric 'demographic_parity_difference<=0.1' --metric 'demographic_parity_ratio>=0.8'

  Whether a gap is there, or turns around, inside each department:
  $ evenhand validate --csv decisions.csv --y-pred admitted --sensitive sex --control department

Groups that are too small are left out and named, never silently. An undefined metric fails the gate.`,
      ),
  ).action(async (options: ValidateOptions) => {
    requireOptions(options, ['csv', 'sensitive']);
    await prepareLogs(options);
    const [{ validateFile }, { validationToJson, validationToMarkdown }, { parseBy }, { validateSchema }] =
      await Promise.all([
        import('../../integration/validate-file.ts'),
        import('../../integration/validation-report.ts'),
        import('../../schemas/parse.ts'),
        import('../../schemas/validate-values.ts'),
      ]);
    const { csv, sensitive, ...given } = options;
    const request = parseBy(validateSchema, { ...given, attributes: sensitive }, 'validate', flagName);
    const writeReport = await reportWriter(options.out);
    const validation = await validateFile(csv, request);
    const body = JSON.stringify(validationToJson(validation), undefined, 2);
    const report = validationToMarkdown(validation, csv);
    await writeReport?.({
      json: () => `${body}\n`,
      md: () => report,
      html: async () =>
        (await import('../../integration/validation-html.ts')).validationToHtml(validation, csv, {
          settings: settingsOf(options),
        }),
    });
    if (options.json === true) process.stdout.write(jsonText(validationToJson(validation)));
    else print(terminalText(report));
    if (options.out !== undefined) remark(`Wrote ${options.out}`, options);
    if (validation.passed === false) process.exitCode = CHECK_FAILED;
  });
}

/** The options that were given, as they were named, for the report to be made again. */
function settingsOf({
  json: _,
  quiet: __,
  verbose: ___,
  out: ____,
  ...given
}: ValidateOptions): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [flagName(name), (value as unknown) === true ? 'yes' : String(value)]),
  );
}
