import type { Command } from 'commander';

import type { GateCase, GateReport } from '../../document/gate-report.ts';
import type { ReportManifest } from '../../document/provenance.ts';
import type { ReportDocument } from '../../document/report-document.ts';
import { ConfigValidationError } from '../../exceptions/index.ts';
import type { FileValidation } from '../../integration/validate-file.ts';
import type { ValidationChanges } from '../../integration/validation-changes.ts';
import type { ValidationJson } from '../../integration/validation-from-json.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import type { Gate } from '../../schemas/gates.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { ValidateRequest } from '../../schemas/validate-values.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { settingsOf, writeGateReports } from '../gate-reports.ts';
import { parseNames, repeatable } from '../option-parsers.ts';
import { assertOutputs, reportWriter } from '../output-places.ts';
import { type OutputOptions, printResult, remarkWritten, warn } from '../output.ts';
import { reportSigner, signatureOf } from '../report-signer.ts';
import { startProvenance } from '../provenance.ts';
import { assertOneSource, onDatabase, openSql, SQL_OPTIONS, type SqlOptions } from '../sql-rows.ts';

interface ValidateOptions extends OutputOptions, SqlOptions {
  readonly csv?: FoundFiles;
  readonly counts?: FoundFiles;
  readonly sensitive: readonly (readonly string[])[];
  readonly out?: readonly string[];
  readonly outPlot?: string;
  readonly rawCsv?: boolean;
  readonly compare?: string;
  readonly backend?: string;
  readonly gate?: string;
  readonly junit?: string;
  readonly sign?: string;
}

/** Returns the command `evenhand validate`. */
export function validateCommand(): Command {
  return defineCommand({
    name: 'validate',
    options: `
${OPTION.csv}
--counts <data>  counts instead of rows: the result of the statement that 'evenhand sql' prints, as CSV, TSV, Parquet or JSON lines; repeat to add the counts of several files
${SQL_OPTIONS}
--y-pred <column>  column of decisions, 0 or 1 (numbers for regression metrics such as mae_parity_difference)
--score <column>  column of scores, instead of decisions; --score-threshold turns scores into decisions; needed for roc_auc_difference
${OPTION.scoreThreshold}
--y-true <column>  column of true labels, 0 or 1; adds equalized odds
${OPTION.sensitive}
--sample-weight <column>  column of row weights
--cluster <column>  column that says which rows belong together, such as the person or the school; intervals, p-values and minimum detectable differences then count clusters instead of rows
--strata <column>  column of the strata of a survey, in each of which clusters (or rows) were drawn separately
--positive-label <label>  label that counts as 1 in --y-pred and --y-true, if the labels are not 0 and 1
${OPTION.yTruePositiveLabel}
${OPTION.naValues}
--control <columns>  control features: also compare groups within each level of these columns; warns if the mean gap within the levels has the opposite sign
--min-group-size <n>  minimum rows of a group; smaller groups are excluded and listed (default: ${String(DEFAULT_MIN_GROUP_SIZE)})
--min-cell <n>  leave out counts below this number: no report shows them, and metrics have bounds instead of values and intervals; with --sql, they do not leave the database
--nan-policy <policy>  rows without a group: exclude, or include as group "(missing)" (default: exclude)
--with-ci  add confidence intervals (default: yes)
--no-with-ci  omit confidence intervals
--ci-level <level>  confidence level of intervals (default: 0.95)
--ci-method <name>  interval method: simultaneous, percentile or bca (default: simultaneous)
--ci-samples <n>  number of replicates for intervals and p-values (default: 1000)
--with-effects  add effect sizes
--with-p-value  add p-values from permutations of group labels; approximate with weights or means
--seed <n>  seed of intervals and p-values (default: 42)
--method <name>  comparison of groups: between_groups, to_overall or to_reference (default: between_groups)
--reference-group <label>  group with which all other groups are compared, for to_reference (default: the largest group)
--agg <name>  aggregation of the two gaps of equalized odds: worst_case or mean (default: worst_case)
--average <name>  for decisions with more than two classes: macro computes each metric for each class against the rest, and averages over classes (default: decisions are binary)
--compat <library>  use the conventions of fairlearn, aif360 or aequitas
--backend <name>  engine that counts the rows: duckdb, native or danfo (default: duckdb, which does not load all rows into memory)
--metric <name>  metric to add: demographic_parity_ratio, equal_opportunity_difference, roc_auc_difference, mae_parity_difference, or a measure followed by _difference or _ratio, such as precision_ratio. 'NAME<=VALUE' (in quotes; also <, >=, >) adds a gate for it. Repeat for several; all gates must pass
--threshold <number>  threshold of the gate, for each --metric that does not include one: exit with 1 if the metric does not satisfy it
--comparator <op>  comparison of the gate: <=, <, >= or > (default: <= of the absolute value; >= for a ratio)
--gate <path>  file of gates: a YAML or JSON list of { metric, threshold, comparator?, attributes? }. Each gate applies to its attributes, or to all attributes if it names none. All gates must pass
--strict-missing  fail the gate if the share of missing values differs significantly between groups (default: warn only)
--measures <names>  comma-separated list of measures to report for every group, such as selection_rate,precision,count
--out <reports>  write a report: .html (with charts), .md or .json; or a table with a row for each attribute, metric and group: .csv, .tsv or .parquet. Repeat for several formats
--out-plot <path>  draw the groups of each measure with their intervals: .svg, .png or .html
${OPTION.junit}
${OPTION.rawCsv}
--sign <path>  secret key of 'evenhand keygen': sign each report of --out; the signature is the report with .dsse.json appended
--compare <path>  earlier result of this command (.json); the report shows what changed since then`,
    parsers: {
      sensitive: repeatable(parseNames),
      metric: repeatable((text) => text),
      out: repeatable((text) => text),
    },
    required: ['csv|counts|sql', 'sensitive'],
    schema: async () => (await import('../../schemas/validate-values.ts')).validateSchema,
    help: `
Examples:
  Selection rates and their largest difference, by sex and by race:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --sensitive race

  A gate for continuous integration, with a report:
  $ evenhand validate --csv test.csv --y-true repaid --y-pred predicted --sensitive sex \\
      --metric equalized_odds_difference --threshold 0.1 --out report.html

  The four-fifths rule:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex \\
      --metric demographic_parity_ratio --threshold 0.8 --min-group-size 1

  Several gates at once; all must pass:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --strict-missing \\
      --metric 'demographic_parity_difference<=0.1' --metric 'demographic_parity_ratio>=0.8'

  The gates of a file, with a test report for continuous integration:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --sensitive race \\
      --gate gates.yml --junit gates.xml

  Several rows for each person: intervals that do not take them for different people:
  $ evenhand validate --csv decisions.csv --y-pred approved --sensitive sex --cluster person

  Compare groups within each department, to find gaps that the overall rates hide or reverse:
  $ evenhand validate --csv decisions.csv --y-pred admitted --sensitive sex --control department

  Counts from a database, instead of rows:
  $ evenhand sql --dialect postgres --table loans --y-pred approved --sensitive sex
  $ evenhand validate --counts counts.csv --sensitive sex

  Rows in a database, which counts them itself:
  $ EVENHAND_SQL_PASSWORD=… evenhand validate --sql postgres://ana@db.example/shop --table loans \\
      --y-pred approved --sensitive sex

  Several reports, and what changed since the last one:
  $ evenhand validate --csv june.csv --y-pred approved --sensitive sex --measures selection_rate,count \\
      --out june.html --out june.json --out june.csv --out-plot june.svg --compare may.json

Groups that are too small are excluded and listed. An undefined metric fails the gate. True and false positive rates
need true labels of all rows: if only approved people can repay, compare the selection rates of all applicants.
Exit codes: 0 passed or no threshold, 1 a gate failed, 2 invalid options or data, 3 an internal error, 130
interrupted.`,
    run,
  });
}

async function run(
  options: ValidateOptions,
  request: ValidateRequest,
  _: readonly string[],
  call: readonly string[],
): Promise<void> {
  const { out, outPlot, compare, gate, junit, rawCsv: raw, sign } = options;
  const { title, files, request: own, measure } = await openData(options, request);
  const writeReports = await reportWriter(out, { takesTables: true, raw });
  const signReports = await reportSigner(sign, out, 'Add --out report.json or --out report.html.');
  const signatures = sign === undefined ? [] : (out ?? []).map(signatureOf);
  await assertOutputs([...(out ?? []), ...signatures, outPlot, junit], [files, compare, gate, sign]);
  const drawPlot = await plotWriter(outPlot);
  const earlier = await readEarlier(compare);
  const gates = await readGateFile(own, options);
  const isShown = options.json === true || out !== undefined || earlier !== undefined;
  const findProvenance = startProvenance(isShown, { call, options, inputs: [files, gate] });
  const [{ manifestOf }, { createManifest }, { validationToJson, validationToMarkdown }] = await Promise.all([
    import('../../document/provenance.ts'),
    import('../../integration/report-evidence.ts'),
    import('../../integration/validation-report.ts'),
  ]);
  const validation = await measure(gates === undefined ? request : { ...request, gates });
  const source = `${title}${own.sampleWeight === undefined ? '' : `; rates weighted by '${own.sampleWeight}', n without weights`}`;
  const provenance = await findProvenance(validation.rows);
  const changes = earlier && provenance && (await changesSince(earlier, validation, manifestOf(provenance), compare));
  const results = validationToJson(validation, { changes });
  const body: Record<string, unknown> =
    provenance === undefined ? results : { ...results, manifest: createManifest(validation, results, provenance) };
  await writeReports?.({
    json: () => `${JSON.stringify(body, undefined, 2)}\n`,
    md: () => validationToMarkdown(validation, source, { changes, provenance }),
    html: async () =>
      (await import('../../integration/validation-html.ts')).validationToHtml(validation, source, {
        changes,
        provenance,
        report: body,
      }),
    table: async () => (await import('../../integration/validation-table.ts')).validationTable(validation),
  });
  await signReports?.();
  const isDrawn = await drawPlot?.(validation);
  await printResult(options, {
    json: () => body,
    text: async () => summaryOf(validation, `${source}${await decisionsOf(own)}`, changes),
  });
  await writeGateReports(
    () => gateReportOf(validation, settingsOf(options)),
    junit,
    async () => (await import('../../integration/html/metric-charts.ts')).validationMeasures(validation),
  );
  remarkWritten([...(out ?? []), ...signatures, isDrawn === true ? outPlot : undefined, junit], options);
  if (validation.passed === false) process.exitCode = CHECK_FAILED;
}

/** Says which decisions are positive; an empty text for 0 and 1. */
async function decisionsOf({ score, scoreThreshold, positiveLabel }: ValidateRequest): Promise<string> {
  if (score === undefined) return positiveLabel === undefined ? '' : `; decisions: '${positiveLabel}' is positive`;
  const { SCORE_THRESHOLD } = await import('../../schemas/validate-values.ts');
  return scoreThreshold === undefined
    ? `; decisions: score at least ${String(SCORE_THRESHOLD)} (default; --score-threshold changes it)`
    : `; decisions: score at least ${String(scoreThreshold)}`;
}

/** Returns the short report for a terminal. */
async function summaryOf(
  validation: FileValidation,
  source: string,
  changes: ValidationChanges | undefined,
): Promise<ReportDocument> {
  const { validationDocument } = await import('../../integration/validation-document.ts');
  return validationDocument(validation, { source, changes, detail: 'summary' });
}

/**
 * Checks the format of the plot, and returns a function that draws and writes it. The returned function reports whether
 * there was a metric to draw.
 */
async function plotWriter(
  outPlot: string | undefined,
): Promise<((validation: FileValidation) => Promise<boolean>) | undefined> {
  if (outPlot === undefined) return undefined;
  const [{ chartFormat, renderCharts }, { validationCharts }, { writeFileAtomic }] = await Promise.all([
    import('../../charts/render-chart.ts'),
    import('../../integration/html/metric-charts.ts'),
    import('../../io/atomic-write.ts'),
  ]);
  const format = chartFormat(outPlot);
  return async (validation) => {
    const charts = validationCharts(validation);
    if (charts.length === 0) warn(`No plot was written to ${outPlot}: no measure has a value for two groups.`);
    else await writeFileAtomic(outPlot, await renderCharts(charts, format));
    return charts.length > 0;
  };
}

/** Reads the earlier result to compare with, before the work starts. */
async function readEarlier(compare: string | undefined): Promise<ValidationJson | undefined> {
  if (compare === undefined) return undefined;
  const [{ parseValidationJson }, { readResultText }] = await Promise.all([
    import('../../integration/validation-from-json.ts'),
    import('../../io/read-text-file.ts'),
  ]);
  return parseValidationJson(await readResultText(compare, '--compare'), compare);
}

/** Compares with the earlier result, and warns if it was changed after it was written. */
async function changesSince(
  earlier: ValidationJson,
  validation: FileValidation,
  manifest: ReportManifest,
  path = '',
): Promise<ValidationChanges> {
  const [{ validationChanges }, { changedReportNotes }] = await Promise.all([
    import('../../integration/validation-changes.ts'),
    import('../../integration/verify-report.ts'),
  ]);
  return validationChanges(validation, earlier, manifest, changedReportNotes(earlier, path));
}

/** The data of a call. */
interface OpenedData {
  /** The name of the data in reports. */
  readonly title: string;
  /** The files with rows or counts. */
  readonly files?: FoundFiles;
  /** The request with the columns of the data. */
  readonly request: ValidateRequest;
  readonly measure: (request: ValidateRequest) => Promise<FileValidation>;
}

async function openData(options: ValidateOptions, request: ValidateRequest): Promise<OpenedData> {
  const { csv, counts: countFiles, sql } = options;
  assertOneSource(options, ['csv', 'counts', 'sql']);
  if (sql !== undefined && options.backend !== undefined) {
    throw new ConfigValidationError('--backend is for files. With --sql, the database counts the rows.', {
      context: { parameter: 'backend' },
      suggestion: 'Remove --backend.',
    });
  }
  const { requestOfCounts, validateCounts, validateFile, validateSql } =
    await import('../../integration/validate-file.ts');
  if (sql !== undefined) {
    const [source, { titleOf }] = await Promise.all([
      openSql(sql, options),
      import('../../io/engines/count-on-engine.ts'),
    ]);
    const measure: OpenedData['measure'] = (own) =>
      onDatabase(source, (rows, signal) => validateSql(rows, own, { signal }));
    return { title: titleOf(source), request, measure };
  }
  if (countFiles === undefined) {
    const files = csv as FoundFiles;
    return { title: files.title, files, request, measure: (own) => validateFile(files, own) };
  }
  const counts = await (await import('../../io/counted-rows.ts')).readCounts(countFiles);
  const own = requestOfCounts(request, counts);
  return {
    title: countFiles.title,
    files: countFiles,
    request: own,
    measure: (given) => validateCounts(counts, given),
  };
}

/**
 * Reads the gates of --gate.
 * @returns undefined without --gate
 * @throws {ConfigValidationError} if the file is invalid, or a report of gates is requested and there is no gate
 */
async function readGateFile(request: ValidateRequest, { gate, junit }: ValidateOptions): Promise<Gate[] | undefined> {
  if (gate === undefined && junit === undefined) return undefined;
  const [{ gatesOf }, { gateRequestOf }] = await Promise.all([
    import('../../integration/gates.ts'),
    import('../../integration/validate-file.ts'),
  ]);
  const gateRequest = gateRequestOf(request);
  const gates = gate === undefined ? [] : await (await import('../../integration/read-gates.ts')).readGates(gate, gateRequest); // prettier-ignore
  if (gates.length > 0) return [...gates];
  if (gatesOf(gateRequest).length > 0) return undefined;
  throw new ConfigValidationError('--junit writes the verdicts of gates, but there is no gate.', {
    context: { parameter: 'junit' },
    suggestion: "Add a gate: --metric 'demographic_parity_difference<=0.1', --threshold or --gate.",
  });
}

/** Returns the gates of a validation for the reports of continuous integration. An attribute without a gate is listed. */
async function gateReportOf(
  validation: FileValidation,
  settings: Readonly<Record<string, string>>,
): Promise<GateReport> {
  const { passed, gates, attributes } = validation;
  const { validationWarnings } = await import('../../integration/validation-document.ts');
  const cases = Object.keys(attributes).flatMap((attribute): GateCase[] => {
    const own = gates.filter((gate) => gate.attribute === attribute);
    if (own.length === 0) {
      return [{ attribute, name: 'no gate', status: null, message: 'No gate applies to this attribute.' }];
    }
    return own.map(({ metric, comparator, threshold, status, message }) => ({
      attribute,
      name: `${metric} ${comparator ?? ''} ${String(threshold)}`,
      status,
      message,
    }));
  });
  return { command: 'evenhand validate', passed, cases, settings, warnings: validationWarnings(validation) };
}
