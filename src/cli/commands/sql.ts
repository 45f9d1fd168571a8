import type { Command } from 'commander';

import { SQL_DIALECTS } from '../../schemas/counting.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { parseNames, repeatable } from '../option-parsers.ts';
import { printResult } from '../output.ts';

/** Returns the command `evenhand sql`. */
export function sqlCommand(): Command {
  return defineCommand({
    name: 'sql',
    options: `
--dialect <name>  SQL dialect of the engine
--table <table>  table with the rows, for example schema.table
--query <sql>  SELECT statement that returns the rows, instead of --table
--y-pred <column>  column of decisions (of predicted numbers with --regression)
--score <column>  column of scores, instead of decisions
${OPTION.scoreThreshold}
--exact-scores  count each distinct score, instead of scores in bins of width 2^-14
--decisions-only  count only the decisions at the threshold, not the scores; a small result, without ROC AUC
--y-true <column>  column of true labels (of true numbers with --regression)
--regression  --y-pred and --y-true hold numbers, for metrics such as mae_parity_difference
${OPTION.sensitive}
--control <columns>  control features
--sample-weight <column>  column of row weights
--min-cell <n>  leave out counts below this number, so that they do not leave the engine; metrics then have bounds instead of values. One --sensitive, without --control and --sample-weight
--positive-label <label>  with --min-cell: label that counts as 1 in --y-pred and --y-true, if the labels are not 0 and 1
${OPTION.yTruePositiveLabel}
${OPTION.naValues}`,
    parsers: { dialect: [...SQL_DIALECTS], sensitive: repeatable(parseNames) },
    required: ['dialect', 'sensitive'],
    schema: async () => (await import('../../schemas/counting.ts')).countingSchema,
    help: `
Examples:
  Count in PostgreSQL, and measure the counts. No row leaves the database:
  $ psql --csv -c "$(evenhand sql --dialect postgres --table loans --y-pred predicted \\
      --y-true repaid --sensitive sex --sensitive race)" > counts.csv
  $ evenhand validate --counts counts.csv --sensitive sex --sensitive race

  Count rows that a query selects, on BigQuery:
  $ evenhand sql --dialect bigquery --query "SELECT * FROM shop.loans WHERE year = 2025" \\
      --y-pred approved --sensitive sex

  Leave out counts below 10. Each attribute needs a statement of its own:
  $ evenhand sql --dialect postgres --table loans --y-pred approved --sensitive sex --min-cell 10

Labels stay as they are: name the positive label for 'evenhand validate'. The file must contain the result
with its column names, as CSV, TSV, Parquet or one JSON object per line.`,
    async run(options, request) {
      const { countingStatement } = await import('../../io/counting-sql.ts');
      const statement = countingStatement(request);
      await printResult(options, {
        json: () => ({ dialect: request.dialect, statement }),
        text: () => statement,
      });
    },
  });
}
