import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { assertKnownOptions } from '../internal/arguments.ts';
import { counted } from '../internal/format.ts';
import { isMapping, parseObject, sumOf, valueAt } from '../internal/values.ts';
import { VERSION } from '../internal/version.ts';
import { hashInputFile } from '../io/checksum.ts';
import { loadData } from '../io/load-data.ts';
import { readResultText } from '../io/read-text-file.ts';
import { metricKind } from '../metrics/metric-definitions.ts';
import { sum } from '../metrics/statistics/group-stats.ts';
import { rowsPerGroup } from '../metrics/statistics/rows-per-group.ts';
import { parsePipelineConfig } from '../pipeline/index.ts';
import { labelColumns } from '../pipeline/run-pipeline.ts';
import type { PipelineConfig } from '../schemas/pipeline/pipeline-document.ts';
import type { DataPaths } from '../schemas/data-source.ts';
import { INTERSECTION_SEPARATOR, type Table } from '../table/index.ts';
import { knownMetric } from './gates.ts';
import type { KindStatistics } from './measure-attributes.ts';
import {
  contentHash,
  manifestChecksum,
  resultsChecksum,
  type StatisticsJson,
  statisticsFromJson,
} from './report-evidence.ts';
import { differencesOf, firstDifference, type ReportDifference, statisticsDifferences } from './report-differences.ts';
import {
  check,
  checkResultsWith,
  compareChecksums,
  outcomeOf,
  plain,
  type ReportVerification,
  VERIFY_REPORT_NAMES,
  type VerificationCheck,
  type VerifyReportOptions,
} from './verify-report.ts';
import { workflowPartsToJson } from './workflow-report/workflow-to-json.ts';
import { unfairness, type WorkflowFindings, type WorkflowMetrics } from './workflow-result.ts';
import { executeWorkflow, onSameGroups, validateWorkflow } from './workflow/execute-workflow.ts';
import { measuredNames, metricsOfStatistics } from './workflow/measure-predictions.ts';
import {
  fingerprintRows,
  hashFolder,
  type LeftOutJson,
  leftOutToJson,
  MANIFEST_FILE,
  ORDER_FILE,
  RESULTS_FILE,
  statisticsHash,
  verdictOf,
  type WorkflowEvidenceFile,
  type WorkflowManifest,
  type WorkflowStatistics,
} from './workflow/workflow-evidence.ts';
import { DEFAULT_METRIC, missingOf, readWorkflowRows } from './workflow/workflow-rows.ts';

/**
 * Checks the folder that a workflow wrote. All metrics, intervals and the verdict are computed again from the statistics in
 * its manifest. If the data are given, the workflow runs again on them: its models, its statistics, its results and its
 * reports must be the same. The order of rows and the format of the data do not matter.
 *
 * Files that were changed, added or removed are named, unless the author of the change also replaced their checksums; see
 * {@link verifyReport} for what each check can show.
 * @throws {DataValidationError} if the folder has no manifest of a workflow, or the data cannot be read
 * @throws {ValueError} if an option is unknown
 * @example
 * ```ts
 * import { executeWorkflow, sampleData } from 'evenhand';
 * import { verifyWorkflow } from 'evenhand/integration';
 *
 * const config = {
 *   sensitive: ['gender'],
 *   features: ['education', 'experience', 'union'],
 *   training: { method: 'reductions', targetColumn: 'wage_above_median' },
 * } as const;
 * await executeWorkflow(config, sampleData('cps-wages'), { outputDir: 'verified-workflow' });
 * const { passed, checks } = await verifyWorkflow('verified-workflow');
 * console.log(passed, checks.map(({ name }) => name));
 * // true [ 'files', 'checksums', 'results' ]
 * ```
 */
export async function verifyWorkflow(folder: string, options: VerifyReportOptions = {}): Promise<ReportVerification> {
  assertKnownOptions('verifyWorkflow', options, VERIFY_REPORT_NAMES);
  const { source, tolerance = 1e-9 } = options;
  const { manifest, ...verdict } = evidenceOf(parseObject(await readResultText(path.join(folder, MANIFEST_FILE), 'verify')), folder); // prettier-ignore
  const results = await readJson(path.join(folder, RESULTS_FILE));
  const checks = [await checkFiles(folder, manifest)];
  const { statistics, sha256, ...own } = manifest;
  const { manifest: _, ...body } = results ?? {};
  checks.push(
    compareChecksums(
      {
        results: resultsChecksum(body),
        statistics: statistics === null ? sha256.statistics : statisticsHash(statistics),
        manifest: manifestChecksum(own, { results: sha256.results, statistics: sha256.statistics }),
      },
      sha256,
      'The results, the statistics and the manifest are as they were written.',
    ),
  );
  const computed = recompute(manifest);
  const reported = plain({ ...verdict, ...(typeof computed === 'string' ? {} : sameParts(body, computed)) });
  checks.push(checkResultsWith(reported, computed, { isLeftOut: statistics === null, tolerance }));
  if (source !== undefined) checks.push(...(await checkData(folder, manifest, body, source, tolerance)));
  return outcomeOf(checks);
}

function evidenceOf(body: unknown, folder: string): WorkflowEvidenceFile {
  const manifest = valueAt(body, ['manifest']);
  const has = (name: string): boolean => isMapping(valueAt(manifest, [name]));
  if (['request', 'sha256', 'files', 'left_out', 'data'].every(has)) return body as WorkflowEvidenceFile;
  throw new DataValidationError(`'${folder}' is not the folder of a workflow: its ${MANIFEST_FILE} has no evidence.`, {
    code: 'unreadable-file',
    context: { path: folder },
    suggestion: "Give the folder that 'evenhand run-pipeline --output-dir' wrote.",
  });
}

async function readJson(file: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  return parseObject(await textOf(file));
}

/** Returns the text of a file; an empty text if it cannot be read, which its checksum reports. */
async function textOf(file: string): Promise<string> {
  return readResultText(file, 'verify').catch(() => '');
}

/** Names the files that were changed, added or removed. The manifest and its signature are not in its own list. */
async function checkFiles(folder: string, { files }: WorkflowManifest): Promise<VerificationCheck> {
  const found = await hashFolder(folder);
  const isOwn = (name: string): boolean => [MANIFEST_FILE, `${MANIFEST_FILE}.dsse.json`].includes(name);
  const names = [...new Set([...Object.keys(files), ...Object.keys(found)])].filter((name) => !isOwn(name));
  const differences = names
    .filter((name) => files[name] !== found[name])
    .map((name) => ({ where: name, reported: files[name], computed: found[name] }));
  const described = differences.map(({ where, reported, computed }) =>
    reported === undefined ? `${where} was added` : `${where} ${computed === undefined ? 'is missing' : 'was changed'}`,
  );
  return check(
    'files',
    differences.length === 0,
    differences.length === 0 ? 'All files are those that were written.' : `${described.join(', ')}.`,
    differences,
  );
}

/** What was computed again, in the form of the results. */
type Recomputed = Readonly<Record<string, unknown>>;

/** Computes everything that follows from a manifest; a text says why it cannot be computed. */
function recompute(manifest: WorkflowManifest): Recomputed | string {
  const { request, statistics, left_out: leftOut, data } = manifest;
  if (statistics === null) return 'the folder leaves out its statistics, which are too many; give the data';
  try {
    const config = parsePipelineConfig(request.config);
    const options = camelOptions(manifest);
    const metric = config.fairnessMetric ?? DEFAULT_METRIC;
    const measured = measureAgain(config, statisticsOf(statistics), options);
    const { baseline, final } = measured;
    const missing = missingOf(rowsLeftOut(leftOut));
    const { strictMissing } = config;
    const validation = validateWorkflow(metric, baseline, final, config.validationThreshold, {
      strictMissing,
      missing,
    });
    const kept = sumOf(Object.values(leftOut)[0]?.kept ?? []);
    const n = final.n;
    const point = (kind: 'baseline' | 'final', { accuracy, metrics }: WorkflowMetrics): object => ({
      label: kind,
      kind,
      accuracy,
      unfairness: unfairness(metric, metrics[metric]?.value ?? NaN),
    });
    const points = [point('baseline', baseline), point('final', final)];
    return plain({
      ...verdictOf({ validation }),
      ...workflowPartsToJson({ validation, baselineMetrics: baseline, finalMetrics: final }),
      config: request.config,
      seed: options.randomState,
      class_weight: options.classWeight,
      decision_threshold: options.decisionThreshold,
      min_group_size: options.minGroupSize,
      split: {
        ...{ n_train: kept - n, n_test: n, n_dropped: data.rows - kept },
        ...{ train_size: options.trainSize, seed: options.randomState },
      },
      trade_off: final.accuracy === null ? [] : points.filter((one) => Object.values(one).every((value) => !Number.isNaN(value))), // prettier-ignore
    });
  } catch (error) {
    if (FairnessToolkitError.isInstance(error)) return `the statistics or the request cannot be read: ${error.message}`;
    // The shape of a changed manifest may be anything.
    return `the statistics or the request have another shape: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The options of a workflow, as they were filled in. */
type RequestOptions = Readonly<
  Pick<WorkflowFindings, 'classWeight' | 'decisionThreshold' | 'minGroupSize'> & {
    randomState: number;
    trainSize: number;
    backend: string | null;
  }
>;

function camelOptions({ request }: WorkflowManifest): RequestOptions {
  return request.options as unknown as RequestOptions;
}

function statisticsOf({ baseline, final }: WorkflowStatistics<StatisticsJson>): WorkflowStatistics<KindStatistics[]> {
  return { baseline: statisticsFromJson(baseline), final: statisticsFromJson(final) };
}

function rowsLeftOut(leftOut: Readonly<Record<string, LeftOutJson>>): Parameters<typeof missingOf>[0] {
  return Object.fromEntries(
    Object.entries(leftOut).map(([name, { labels, dropped, kept }]) => [
      name,
      { labels, dropped: Float64Array.from(dropped), kept: Float64Array.from(kept) },
    ]),
  );
}

function measureAgain(
  config: PipelineConfig,
  { baseline, final }: WorkflowStatistics<readonly KindStatistics[]>,
  { minGroupSize, randomState: seed }: RequestOptions,
): WorkflowStatistics<WorkflowMetrics> {
  const metric = config.fairnessMetric ?? DEFAULT_METRIC;
  const task = metricKind(knownMetric(metric)) === 'regression' ? 'regression' : 'binary';
  const names = measuredNames(metric, task);
  const attributes = [...config.sensitive, ...config.intersections.map((own) => own.join(INTERSECTION_SEPARATOR))];
  const measure = (statistics: readonly KindStatistics[]): WorkflowMetrics => ({
    ...qualityOf(statistics),
    ...metricsOfStatistics(names, attributes, statistics, { minGroupSize, seed }),
  });
  const before = measure(baseline);
  return { baseline: before, final: onSameGroups(before, measure(final)) };
}

/** Returns the number of rows and the accuracy, or the mean absolute error, from the groups of the first attribute. */
function qualityOf(
  statistics: readonly KindStatistics[],
): Pick<WorkflowMetrics, 'n' | 'accuracy' | 'meanAbsoluteError'> {
  const all = statistics.map(([, [first]]) => first?.stats);
  for (const stats of all) {
    if (stats?.kind === 'classification') {
      // Cells 0 and 3 hold the rows whose decision is their true label.
      const correct = stats.counts.filter((_, cell) => cell % 6 === 0 || cell % 6 === 3);
      const n = sum(stats.counts);
      return { n, accuracy: sum(correct) / n, meanAbsoluteError: null };
    }
    if (stats?.kind === 'regression') {
      const rows = rowsPerGroup(stats, true);
      const n = sum(rows);
      const errors = stats.moments.absoluteError.mean.map((mean, group) => mean * (rows[group] as number));
      return { n, accuracy: null, meanAbsoluteError: sum(errors) / n };
    }
  }
  throw new DataValidationError('The statistics have no decisions and no numbers.', { code: 'invalid-data' });
}

/** Returns the parts of the results that were computed again. Predictors of a mixture need the data. */
function sameParts(results: Recomputed, computed: Recomputed): Recomputed {
  const { trade_off: points, ...others } = results;
  const same = Object.keys(computed).filter((name) => name in others);
  return {
    ...Object.fromEntries(same.map((name) => [name, others[name]])),
    trade_off: Array.isArray(points) ? points.filter((one: unknown) => valueAt(one, ['kind']) !== 'candidate') : points,
  };
}

/** Runs the workflow again on the data, and compares its statistics, its results and its files. */
async function checkData(
  folder: string,
  manifest: WorkflowManifest,
  results: Recomputed,
  source: DataPaths,
  tolerance: number,
): Promise<VerificationCheck[]> {
  const config = parsePipelineConfig(manifest.request.config);
  const decimal = manifest.options['decimal'] === ',' ? ',' : config.decimal;
  const table = await loadData(source, { labels: labelColumns(config), decimal });
  const rows = await rowsAgain(folder, manifest, config, table);
  if (!('table' in rows)) return [check('data', false, rows.message, rows.differences)];
  const again = await mkdtemp(path.join(tmpdir(), 'evenhand-verify-'));
  try {
    const { date, varies, command, options, inputs, rows: read } = manifest;
    const { backend, ...given } = camelOptions(manifest);
    await executeWorkflow(config, rows.table, {
      ...given,
      ...(backend === null ? {} : { backend: backend as 'auto' }),
      outputDir: again,
      ...(date === null ? {} : { provenance: { date: new Date(date), varies: varies ?? undefined, command, options, inputs, rows: read ?? undefined } }), // prettier-ignore
    });
    return [
      await compareRuns(again, manifest, results, tolerance),
      await compareModels(folder, again),
      await comparePages(folder, again, manifest),
    ];
  } finally {
    await rm(again, { recursive: true, force: true });
  }
}

/** Rows that are different, and where. */
interface OtherRows {
  readonly message: string;
  readonly differences: readonly ReportDifference[];
}

/** Returns the rows of the data in the order of the run, or what differs. */
async function rowsAgain(
  folder: string,
  manifest: WorkflowManifest,
  config: PipelineConfig,
  table: Table,
): Promise<{ readonly table: Table } | OtherRows> {
  const { data, left_out: leftOut } = manifest;
  const absent = data.columns.filter(({ name }) => !table.has(name));
  if (absent.length > 0) {
    const differences = absent.map(({ name }) => ({ where: `column '${name}'`, reported: 'a column', computed: undefined })); // prettier-ignore
    return { message: `The data lack ${counted(absent.length, 'column')} of the workflow.`, differences };
  }
  const names = data.columns.map(({ name }) => name);
  const { fingerprint, positions } = fingerprintRows(table, names);
  const differences = differencesOf(data.rows, fingerprint.rows, 0, ['rows of the data']);
  for (const [index, { name, sha256 }] of data.columns.entries())
    differences.push(...differencesOf(sha256, fingerprint.columns[index]?.sha256, 0, [`values of column '${name}'`]));
  if (differences.length === 0) differences.push(...differencesOf(data.sha256, fingerprint.sha256, 0, ['rows']));
  if (differences.length > 0) {
    const message = 'The rows are not those of the workflow, so that it cannot be run again.';
    return { message, differences: [...groupDifferences(config, table, leftOut), ...differences] };
  }
  const order = await loadData(path.join(folder, ORDER_FILE)).catch(() => undefined);
  const ranks = order?.has('position') === true ? order.numeric('position').values : new Float64Array(0);
  const rowAt = new Int32Array(positions.length);
  positions.forEach((position, row) => (rowAt[position] = row));
  const rows = Int32Array.from(ranks, (rank) => rowAt[rank] ?? -1);
  if (rows.length !== positions.length || rows.includes(-1) || new Set(rows).size !== rows.length) {
    const differences = [{ where: ORDER_FILE, reported: 'the order of the rows', computed: 'another content' }];
    return { message: `The data are the same, but ${ORDER_FILE} does not hold their order.`, differences };
  }
  return { table: table.select(names).take(rows) };
}

/** Lists the groups with another number of rows. */
function groupDifferences(
  config: PipelineConfig,
  table: Table,
  reported: WorkflowManifest['left_out'],
): ReportDifference[] {
  try {
    const computed = leftOutToJson(readWorkflowRows(config, table).leftOut);
    return Object.entries(computed).flatMap(([attribute, { labels, ...counts }]) => {
      const before = reported[attribute];
      const all = [...new Set([...(before?.labels ?? []), ...labels])];
      return all.flatMap((label) =>
        (['kept', 'dropped'] as const).flatMap((name) =>
          differencesOf(before?.[name][before.labels.indexOf(label)], counts[name][labels.indexOf(label)], 0, [
            `${name === 'kept' ? 'rows' : 'left-out rows'} of group '${label}' of '${attribute}'`,
          ]),
        ),
      );
    });
  } catch (error) {
    if (FairnessToolkitError.isInstance(error)) return [];
    throw error;
  }
}

/** Compares a second run with the statistics and the results. */
async function compareRuns(
  again: string,
  manifest: WorkflowManifest,
  results: Recomputed,
  tolerance: number,
): Promise<VerificationCheck> {
  const { manifest: found } = (await readJson(path.join(again, MANIFEST_FILE))) as unknown as WorkflowEvidenceFile;
  const { manifest: _, ...body } = (await readJson(path.join(again, RESULTS_FILE))) ?? {};
  const differences = (['baseline', 'final'] as const).flatMap((model) => {
    const [reported, computed] = [manifest.statistics?.[model], found.statistics?.[model]];
    if (reported === undefined || computed === undefined || contentHash(reported) === contentHash(computed)) return [];
    return statisticsDifferences(reported, computed, tolerance).map((one) => ({ ...one, where: `${model} model: ${one.where}` })); // prettier-ignore
  });
  differences.push(...differencesOf(results, body, tolerance));
  if (differences.length === 0)
    return check('data', true, 'The rows are those of the workflow, and it has the same models and results again.');
  const places = counted(differences.length, 'number', 'numbers');
  return check(
    'data',
    false,
    `The rows are those of the workflow, and ${places} differ if it runs again.`,
    differences,
  );
}

/** The largest relative difference of the weights of two models that were trained in the same way on other processors. */
const SAME_WEIGHT = 1e-5;

/** Compares the model, the pipeline and the transformed rows with those of a second run. */
async function compareModels(folder: string, again: string): Promise<VerificationCheck> {
  const [own, other] = [await hashFolder(folder), await hashFolder(again)];
  const names = Object.keys(other).filter((name) => /^model\/|^pipeline\.json$|\.parquet$/.test(name));
  const differences: ReportDifference[] = [];
  for (const name of names) {
    if (own[name] === other[name]) continue;
    const [first, second] = await Promise.all([numbersOf(path.join(folder, name)), numbersOf(path.join(again, name))]);
    differences.push(...differencesOf(first, second, SAME_WEIGHT, [name]).slice(0, 1));
  }
  return differences.length === 0
    ? check('model', true, 'The model, the pipeline and the transformed rows are those of the second run.')
    : check(
        'model',
        false,
        'The model, the pipeline or the transformed rows are not those of a second run.',
        differences,
      );
}

/** Returns the content of a file of numbers, without checksums; the checksum of a file of another kind. */
async function numbersOf(file: string): Promise<unknown> {
  try {
    if (file.endsWith('.parquet')) return (await loadData(file)).toColumns();
    if (file.endsWith('.bin')) return [...new Float32Array(Uint8Array.from(await readFile(file)).buffer)];
    const isChecksum = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
    return JSON.parse(await textOf(file), (_, value: unknown) => (isChecksum(value) ? undefined : value));
  } catch {
    return (await hashInputFile(file)).sha256;
  }
}

/** Compares the reports with those of a second run. */
async function comparePages(folder: string, again: string, manifest: WorkflowManifest): Promise<VerificationCheck> {
  if (manifest.evenhand !== VERSION) {
    return check('page', null, `The reports were made by version ${manifest.evenhand}, and this is version ${VERSION}: they are not compared.`); // prettier-ignore
  }
  const differences: ReportDifference[] = [];
  for (const name of ['report.md', 'report.html']) {
    const [text, own] = [await textOf(path.join(folder, name)), await textOf(path.join(again, name))]; // prettier-ignore
    if (text !== own) differences.push({ ...firstDifference(text, own), where: name });
  }
  return differences.length === 0
    ? check('page', true, 'The reports show these results.')
    : check('page', false, 'The text of a report is not what the results give.', differences);
}
