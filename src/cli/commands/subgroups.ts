import type { Command } from 'commander';

import type { FindSubgroupsOptions, SubgroupMetric } from '../../metrics/subgroups/options.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import type { SubgroupsRequest } from '../../schemas/subgroups.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { repeatable } from '../option-parsers.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';
import { assertOutputs, reportForms, reportWriter } from '../output-places.ts';
import { startProvenance } from '../provenance.ts';

interface SubgroupsOptions extends OutputOptions {
  readonly csv: FoundFiles;
  readonly out?: readonly string[];
}

/** Returns the command `evenhand subgroups`. */
export function subgroupsCommand(): Command {
  return defineCommand<SubgroupsOptions, SubgroupsRequest>({
    name: 'subgroups',
    options: `
${OPTION.csv}
--columns <columns>  columns whose values describe subgroups, comma-separated; numbers are divided into bins
--y-pred <column>  column of decisions, 0 or 1
--score <column>  column of scores, instead of --y-pred
--y-true <column>  column of true labels, 0 or 1
--metric <rate>  what is compared: selection_rate, or with --y-true another rate of decisions, such as false_positive_rate (default: selection_rate; mean_score with --score)
--positive-label <label>  label that counts as 1, if the labels are not 0 and 1
${OPTION.yTruePositiveLabel}
${OPTION.naValues}
--nan-policy <policy>  rows without a value in a column: exclude them from the conditions on it, or include "(missing)" as a value (default: exclude)
--cluster <column>  person or other unit to which a row belongs, if a unit has several rows
--max-depth <n>  maximum number of conditions of a subgroup, up to 5 (default: 3)
--bins <n>  bins of a column of numbers (default: 5)
--max-values <n>  maximum number of values of another column, up to 250 (default: 50)
--min-group-size <n>  minimum rows of a subgroup (default: 100)
--method <name>  split searches one half of the rows and tests on the other; max-t tests all subgroups on all rows, in memory (default: split)
--candidates <n>  maximum number of tested subgroups (default: 20)
--alpha <level>  probability that any reported subgroup does not differ (default: 0.05)
--samples <n>  replicates of max-t (default: 1000)
--seed <n>  seed of the halves and the replicates (default: 42)
${OPTION.report}`,
    // A rate is a name here, not a number.
    parsers: { metric: (text) => text, out: repeatable((path) => path) },
    required: ['csv', 'columns', 'yPred|score'],
    schema: async () => (await import('../../schemas/subgroups.ts')).subgroupsSchema,
    help: `
Examples:
  Which subgroups are hired more or less often than everyone else?
  $ evenhand subgroups --csv decisions.csv --columns sex,race,age,site --y-pred hired

  Which loans that were repaid would a model refuse, with several loans per person?
  $ evenhand subgroups --csv loans.parquet --columns sex,region,age,income --y-pred predicted --y-true repaid \\
      --metric false_negative_rate --cluster person --out subgroups.html

A difference is not a cause. A subgroup that is not reported may differ too.`,
    async run(options, { score, metric, ...request }, _, call) {
      const { csv, out } = options;
      const [{ findSubgroups }, { subgroupsToJson }, { subgroupsDocument, subgroupsSummary }, { withManifest }] =
        await Promise.all([
          import('../../metrics/subgroups/find-subgroups.ts'),
          import('../../metrics/subgroups/subgroups-json.ts'),
          import('../../integration/subgroups-document.ts'),
          import('../../document/provenance.ts'),
        ]);
      const writeReports = await reportWriter(out);
      await assertOutputs(out ?? [], [csv]);
      const isShown = options.json === true || out !== undefined;
      const findProvenance = startProvenance(isShown, { call, options, inputs: [csv] });
      // The library checks the name of the metric, and its error lists the known names.
      const columns = { ...request, yScore: score, metric: metric as SubgroupMetric | undefined };
      const found = await findSubgroups(csv, columns);
      const search = { ...found, warnings: [...found.warnings, ...(await unitNotes(csv, columns))] };
      const provenance = await findProvenance(search.n + search.nDropped);
      const body = withManifest(subgroupsToJson(search), provenance);
      await writeReports?.(reportForms(subgroupsDocument(search), body, provenance));
      await printResult(options, { json: () => body, text: () => subgroupsSummary(search) });
      remarkWritten(out ?? [], options);
    },
  });
}

/** Notes columns that look like people or things with several rows, if no column is named as the cluster. */
async function unitNotes(csv: FoundFiles, options: FindSubgroupsOptions): Promise<string[]> {
  const { columns, yPred, yScore, yTrue, cluster } = options;
  if (cluster !== undefined) return [];
  const [{ readFirstRows }, { clusterNotes }] = await Promise.all([
    import('../../io/first-rows.ts'),
    import('../../integration/column-notes.ts'),
  ]);
  const rows = await readFirstRows(csv);
  const used = [...columns, yPred, yScore, yTrue].filter((name) => name !== undefined);
  return rows === undefined ? [] : clusterNotes(rows, new Set(used));
}
