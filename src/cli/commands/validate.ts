import type { Command } from 'commander';

import { defineCommand, OPTION } from '../define-command.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { flagName, parseNames, repeatable } from '../option-parsers.ts';
import { reportWriter, terminalText } from '../output-places.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';

interface ValidateOptions extends OutputOptions {
  readonly csv: string;
  readonly sensitive: readonly (readonly string[])[];
  readonly out?: string;
  readonly threshold?: number;
}

/** Returns the command `evenhand validate`. */
export function validateCommand(): Command {
  return defineCommand({
    name: 'validate',
    description:
      'Measure the group fairness of decisions in a CSV or Parquet file, and optionally test it against a threshold.',
    options: `
${OPTION.csv}
--y-pred <column>  column of decisions, 0 or 1 (numbers for regression metrics such as mae_parity_difference)
--score <column>  column of scores, instead of decisions; --score-threshold turns them into decisions; needed for roc_auc_difference
${OPTION.scoreThreshold}
--y-true <column>  column of true labels, 0 or 1; adds equalized odds
${OPTION.sensitive}
--sample-weight <column>  column of row weights
--positive-label <label>  label that counts as 1 in --y-pred and --y-true, if the labels are not 0 and 1
--y-true-positive-label <label>  label that counts as 1 in --y-true, if it differs from the one in --y-pred
${OPTION.naValues}
--control <columns>  control features: also compare groups within each level of these columns; warns if a gap changes its sign
--min-group-size <n>  minimum rows of a group; smaller groups are excluded and listed (default: ${String(DEFAULT_MIN_GROUP_SIZE)})
--nan-policy <policy>  rows without a group: exclude, or include as group "(missing)" (default: exclude)
--with-ci  add confidence intervals
--ci-level <level>  confidence level of intervals (default: 0.95)
--ci-method <name>  interval method: simultaneous, percentile or bca (default: simultaneous)
--ci-samples <n>  number of replicates for intervals and p-values (default: 1000)
--with-effects  add effect sizes
--with-p-value  add p-values from permutations of group labels; approximate with weights or means
--seed <n>  seed of intervals and p-values (default: 42)
--method <name>  comparison of groups: between_groups, to_overall or to_reference (default: between_groups)
--reference-group <label>  group to compare the others with, for to_reference (default: the largest)
--agg <name>  aggregation of the two gaps of equalized odds: worst_case or mean (default: worst_case)
--compat <library>  use the conventions of fairlearn, aif360 or aequitas
--backend <name>  engine that counts the rows: duckdb, native or danfo (default: duckdb, which does not load all rows into memory)
--metric <name>  metric to add: demographic_parity_ratio, equal_opportunity_difference, roc_auc_difference, mae_parity_difference, or a measure followed by _difference or _ratio, such as precision_ratio. NAME<=VALUE (also <, >=, >) adds a gate for it. Repeat for several; all gates must pass
--threshold <number>  threshold of the gate, for each --metric that does not include one: exit with 1 if the metric does not satisfy it
--comparator <op>  comparison of the gate: <=, <, >= or > (default: <= of the absolute value; >= for a ratio)
--measures <names>  comma-separated list of measures to report for every group, such as selection_rate,precision,count
--strict-missing  fail the gate if missing values are more common in some groups than in others (default: warn only)
${OPTION.report}`,
    parsers: { sensitive: repeatable(parseNames), metric: repeatable((text) => text) },
    required: ['csv', 'sensitive'],
    schema: async () => (await import('../../schemas/validate-values.ts')).validateSchema,
    help: `
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
    async run(options: ValidateOptions, request) {
      const [
        { validateFile },
        { validationDocument },
        { validationToJson, validationToMarkdown },
        { documentToMarkdown },
      ] = await Promise.all([
        import('../../integration/validate-file.ts'),
        import('../../integration/validation-document.ts'),
        import('../../integration/validation-report.ts'),
        import('../../document/document-to-markdown.ts'),
      ]);
      const { csv } = options;
      const writeReport = await reportWriter(options.out);
      const validation = await validateFile(csv, request);
      const body = validationToJson(validation);
      await writeReport?.({
        json: () => `${JSON.stringify(body, undefined, 2)}\n`,
        md: () => validationToMarkdown(validation, csv),
        html: async () =>
          (await import('../../integration/validation-html.ts')).validationToHtml(validation, csv, {
            settings: settingsOf(options),
          }),
      });
      await printResult(options, {
        json: () => body,
        text: () =>
          terminalText(documentToMarkdown(validationDocument(validation, { source: csv, detail: 'summary' }))),
      });
      remarkWritten([options.out], options);
      if (validation.passed === false) process.exitCode = CHECK_FAILED;
    },
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
