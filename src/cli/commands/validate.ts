import { Command } from 'commander';

import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
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

/** Returns the command `evenhand validate`. */
export function validateCommand(): Command {
  return withOutputOptions(
    new Command('validate')
      .description(
        'Measure the group fairness of decisions in a CSV or Parquet file, and optionally test it against a threshold.',
      )
      .option('--csv <path>', 'file with the rows: CSV, TSV (also .gz) or Parquet')
      .option(
        '--y-pred <column>',
        'column of decisions, 0 or 1 (numbers for regression metrics such as mae_parity_difference)',
      )
      .option(
        '--score <column>',
        'column of scores, instead of decisions; --score-threshold turns them into decisions; needed for roc_auc_difference',
      )
      .option(
        '--score-threshold <number>',
        'decision threshold: a score of at least this is a positive decision (default: 0.5)',
        parseNumber,
      )
      .option('--y-true <column>', 'column of true labels, 0 or 1; adds equalized odds')
      .option(
        '--sensitive <columns>',
        'sensitive column; repeat to analyse several columns separately; a comma-separated list is one intersection (write a comma in a name as \\,)',
        repeatable(parseNames),
      )
      .option('--sample-weight <column>', 'column of row weights')
      .option(
        '--positive-label <label>',
        'label that counts as 1 in --y-pred and --y-true, if the labels are not 0 and 1',
      )
      .option(
        '--y-true-positive-label <label>',
        'label that counts as 1 in --y-true, if it differs from the one in --y-pred',
      )
      .option('--na-values <texts>', NA_VALUES_HELP, parseTexts)
      .option(
        '--control <columns>',
        'control features: also compare groups within each level of these columns; warns if a gap changes its sign',
        parseNames,
      )
      .option(
        '--min-group-size <n>',
        `minimum rows of a group; smaller groups are excluded and listed (default: ${String(DEFAULT_MIN_GROUP_SIZE)})`,
        parseNumber,
      )
      .option(
        '--nan-policy <policy>',
        'rows without a group: exclude, or include as group "(missing)" (default: exclude)',
      )
      .option('--with-ci', 'add confidence intervals')
      .option('--ci-level <level>', 'confidence level of intervals (default: 0.95)', parseNumber)
      .option('--ci-method <name>', 'interval method: simultaneous, percentile or bca (default: simultaneous)')
      .option('--ci-samples <n>', 'number of replicates for intervals and p-values (default: 1000)', parseNumber)
      .option('--with-effects', 'add effect sizes')
      .option('--with-p-value', 'add p-values from permutations of group labels; approximate with weights or means')
      .option('--seed <n>', 'seed of intervals and p-values (default: 42)', parseNumber)
      .option(
        '--method <name>',
        'comparison of groups: between_groups, to_overall or to_reference (default: between_groups)',
      )
      .option('--reference-group <label>', 'group to compare the others with, for to_reference (default: the largest)')
      .option('--agg <name>', 'aggregation of the two gaps of equalized odds: worst_case or mean (default: worst_case)')
      .option('--compat <library>', 'use the conventions of fairlearn, aif360 or aequitas')
      .option(
        '--backend <name>',
        'engine that counts the rows: duckdb, native or danfo (default: duckdb, which does not load all rows into memory)',
      )
      .option(
        '--metric <name>',
        'metric to add: demographic_parity_ratio, equal_opportunity_difference, roc_auc_difference, mae_parity_difference, or a measure followed by _difference or _ratio, such as precision_ratio. NAME<=VALUE (also <, >=, >) adds a gate for it. Repeat for several; all gates must pass',
        repeatable((text: string) => text),
      )
      .option(
        '--threshold <number>',
        'threshold of the gate, for each --metric that does not include one: exit with 1 if the metric does not satisfy it',
        parseNumber,
      )
      .option(
        '--comparator <op>',
        'comparison of the gate: <=, <, >= or > (default: <= of the absolute value; >= for a ratio)',
      )
      .option(
        '--strict-missing',
        'fail the gate if missing values are more common in some groups than in others (default: warn only)',
      )
      .option('--out <path>', 'write a report: .html (with charts), .md or .json')
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

  Compare groups within each department, to find gaps that the overall rates hide or reverse:
  $ evenhand validate --csv decisions.csv --y-pred admitted --sensitive sex --control department

Groups that are too small are excluded and listed. An undefined metric fails the gate.
Exit codes: 0 passed or no threshold, 1 a gate failed, 2 invalid options or data.`,
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

/** Returns the options that were given, by name, so that the report shows how to reproduce it. */
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
