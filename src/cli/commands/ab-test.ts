import type { Command } from 'commander';

import type { GateCase, GateReport } from '../../document/gate-report.ts';
import type { ReportDocument } from '../../document/report-document.ts';
import type { ABTestResult } from '../../monitoring/ab-test/index.ts';
import type { ABTestRequest } from '../../schemas/ab-test.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import { formatCount } from '../../internal/format.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { settingsOf, writeGateReports } from '../gate-reports.ts';
import { parseNames, repeatable } from '../option-parsers.ts';
import { assertOutputs, realPath, reportForms, reportWriter } from '../output-places.ts';
import { type OutputOptions, printResult, remarkWritten, warn } from '../output.ts';
import { progressBar } from '../progress-bar.ts';
import { startProvenance } from '../provenance.ts';

interface ABTestCommandOptions extends OutputOptions {
  readonly csv?: FoundFiles;
  readonly controlCsv?: FoundFiles;
  readonly treatmentCsv?: FoundFiles;
  readonly sensitive: readonly (readonly string[])[];
  readonly out?: readonly string[];
  readonly junit?: string;
}

/** Returns the command `evenhand ab-test`. */
export function abTestCommand(): Command {
  return defineCommand({
    name: 'ab-test',
    options: `
${OPTION.csv}
--arm <column>  column of --csv that names the arm of each row
--control <label>  label of the control arm (default: the label that is control, a, 0, false or baseline)
--treatment <label>  label of the treatment arm (default: the only other label)
--control-csv <data>  rows of the control arm, instead of --csv; the same forms as --csv
--treatment-csv <data>  rows of the treatment arm, instead of --csv; the same forms as --csv
--outcome <column>  column of decisions, 0 or 1, or of numbers for mean_prediction_difference and mae_parity_difference
${OPTION.sensitive}
--y-true <column>  column of true labels, for metrics that need them
--business <columns>  comma-separated list of columns of business metrics, whose effects are reported too
--sample-weight <column>  column of row weights
--cluster <column>  column of the units with several rows, such as the customer; intervals, p-values and checks then count units instead of rows
--id <column>  column with the id of the unit of each row; ids that are in both arms are reported
--positive-label <label>  label that counts as 1 in --outcome and --y-true
${OPTION.yTruePositiveLabel}
${OPTION.naValues}
--nan-policy <policy>  rows without a group: exclude, or include as "(missing)" (default: exclude)
--metric <names>  metrics, comma-separated or repeated: demographic_parity_difference, equal_opportunity_difference, equalized_odds_difference, false_positive_rate_difference, accuracy_parity_difference, mean_prediction_difference or mae_parity_difference (default: demographic_parity_difference)
--alpha <number>  accepted share of false findings (default: 0.05)
--minimum-effect <number>  size of change for which the power is reported (default: 0.05)
--sequential  use tests that remain valid if you check a running experiment repeatedly
--tau <number>  expected size of changes, for --sequential (default: 0.05)
--min-group-size <n>  minimum rows of a group in each arm; smaller groups are listed but not compared (default: ${String(DEFAULT_MIN_GROUP_SIZE)})
--treatment-share <share>  intended share of rows in the treatment arm (default: 0.5)
--seed <n>  seed of the interval for the largest gap of many groups (default: 42)
${OPTION.report}
${OPTION.junit}`,
    parsers: { sensitive: repeatable(parseNames), out: repeatable((path) => path) },
    required: ['outcome', 'sensitive'],
    schema: async () => (await import('../../schemas/ab-test.ts')).abTestSchema,
    help: `
Examples:
  One file with both arms, by sex, by race and by their intersection:
  $ evenhand ab-test --csv experiment.csv --arm arm --outcome approved \\
      --sensitive sex --sensitive race --sensitive sex,race --out report.html

  Two files; equalized odds as well as selection rates, and the effect on revenue:
  $ evenhand ab-test --control-csv a.csv --treatment-csv b.csv --outcome flagged --y-true fraud \\
      --sensitive sex --metric demographic_parity_difference,equalized_odds_difference --business revenue

  An experiment that is still running and is checked every day:
  $ evenhand ab-test --csv so-far.csv --arm arm --control old --outcome approved --sensitive sex --sequential

Exit codes: 0 if fairness did not get significantly worse (also if the result is inconclusive), 1 if it got
significantly worse at --alpha after adjustment, 2 for invalid options or data, 3 for an internal error.`,
    run: runABTestCommand,
  });
}

async function runABTestCommand(
  options: ABTestCommandOptions,
  request: ABTestRequest,
  _: readonly string[],
  call: readonly string[],
): Promise<void> {
  const [{ planABTest }, { abTestDocument }, { withManifest }] = await Promise.all([
    import('../../integration/file-jobs.ts'),
    import('../../monitoring/ab-test/ab-test-document.ts'),
    import('../../document/provenance.ts'),
  ]);
  await assertTwoFiles(options);
  const planned = planABTest(request);
  const { out, junit, csv, controlCsv, treatmentCsv } = options;
  const inputs = [csv, controlCsv, treatmentCsv];
  const writeReports = await reportWriter(out);
  await assertOutputs([...(out ?? []), junit], inputs);
  const findProvenance = startProvenance(options.json === true || out !== undefined, { call, options, inputs });
  const { result, n, nLeftOut, arms } = await planned.run({ onProgress: progressBar(options) });
  if (nLeftOut > 0) warn(`${formatCount(nLeftOut)} rows are in neither arm and were excluded.`);
  const provenance = await findProvenance(n + nLeftOut);
  const body = withManifest(result.toJSON(), provenance);
  const report = abTestDocument(result, arms);
  await writeReports?.(reportForms(report, body, provenance));
  await printResult(options, { json: () => body, text: () => brief(report) });
  await writeGateReports(() => gateReportOf(result, settingsOf(options)), junit);
  remarkWritten([...(out ?? []), junit], options);
  if (result.finding === 'worse') process.exitCode = CHECK_FAILED;
}

/**
 * Returns the comparisons of a test for the reports of continuous integration. A comparison fails only if the metric
 * became worse.
 */
function gateReportOf({ finding, rows }: ABTestResult, settings: Readonly<Record<string, string>>): GateReport {
  const cases = rows.map(({ attribute, metric, measure, group, reference, finding: found, verdict }): GateCase => ({
    attribute,
    name: `${metric}: ${measure} of ${group} and ${reference} did not get worse`,
    status: found === 'worse' ? 'fail' : found === 'cannot_tell' ? null : 'pass',
    message: verdict,
  }));
  const isJudged = cases.some(({ status }) => status !== null);
  return { command: 'evenhand ab-test', passed: isJudged ? finding !== 'worse' : null, cases, settings };
}

/** Returns a report without its explanations. */
function brief({ sections, ...report }: ReportDocument): ReportDocument {
  return { ...report, sections: sections.filter(({ title }) => title !== 'How to read this'), made: [] };
}

/** Throws if both arms contain the same file, because the comparison would then underestimate the change. */
async function assertTwoFiles({ controlCsv, treatmentCsv }: ABTestCommandOptions): Promise<void> {
  if (controlCsv === undefined || treatmentCsv === undefined) return;
  const treated = new Set(treatmentCsv.files.map(({ path }) => realPath(path)));
  const shared = controlCsv.files.find(({ path }) => treated.has(realPath(path)));
  if (shared === undefined) return;
  const { ConfigValidationError } = await import('../../exceptions/index.ts');
  throw new ConfigValidationError(
    `--control-csv '${controlCsv.title}' and --treatment-csv '${treatmentCsv.title}' both contain the file '${shared.name}'.`,
    {
      context: { path: shared.name },
      suggestion: 'Give one file per arm, or a single file with --csv and --arm.',
    },
  );
}
