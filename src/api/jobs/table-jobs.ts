import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { documentToHtml } from '../../document/document-to-html.ts';
import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import {
  calibrateFile,
  calibrationNotes,
  heldOutNotes,
  loadTrainingSource,
  planABTest,
} from '../../integration/file-jobs.ts';
import {
  predictionsDocument,
  predictionsToJson,
  predictWithSavedModel,
  withNumbers,
} from '../../integration/predict-file.ts';
import {
  generateTrainingFairnessReport,
  type ReportedTraining,
} from '../../integration/training-report/generate-training-fairness-report.ts';
import { camelFields, splitNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { assertFewGroups } from '../../io/assert-few-groups.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { writeTableAs } from '../../io/write-table.ts';
import { abTestSchema } from '../../schemas/ab-test.ts';
import {
  linesOfRows,
  namesIn,
  parseTableJob,
  PART_OF_ROWS,
  type TableJobKind,
  TRAIN_METHODS,
  valuesOfForm,
} from '../../schemas/table-jobs.ts';
import { tableCalibrationToJson } from '../../training/postprocessing/calibrator/table-calibration.ts';
import { lagrangianJobToJson, trainLagrangian } from '../../training/jobs/train-lagrangian.ts';
import { reductionsJobToJson, trainReductions } from '../../training/jobs/train-reductions.ts';
import { paretoToJson } from '../../training/pareto/pareto-sweep.ts';
import { sweepPareto } from '../../training/pareto/sweep-pareto.ts';
import { fieldProblem } from '../problem/service-problem.ts';
import { MAX_GROUPS } from './job-bounds.ts';
import { assertLoadable } from './job-config.ts';
import { type JobContext, type JobOutcome, MODEL_ARCHIVE, type TableJob } from './job.ts';
import { readArchive, writeArchive } from './model-archive.ts';
import { readTablesBody } from './rows-body.ts';
import { writeData, writeReports } from './run-files.ts';

/** A request whose rows are files. */
interface Received {
  readonly kind: TableJobKind;
  /** The fields without the data, as JSON values. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The paths of tables by the names of the form parts: `file`, `test_file`. */
  readonly tables: Readonly<Record<string, string>>;
  /** The archive of the model, if there is one. */
  readonly archive: string | undefined;
  /** Whether the rows came in a JSON body. */
  readonly isJson: boolean;
}

/** Runs `POST /predict`, `/calibrate`, `/ab-test` or `/train`. */
export async function runTableJob(job: TableJob, context: JobContext): Promise<JobOutcome> {
  const received = await receive(job);
  for (const table of Object.values(received.tables)) await assertLoadable(table);
  context.signal.throwIfAborted();
  switch (job.kind) {
    case 'predict':
      return runPredict(received, context);
    case 'calibrate':
      return runCalibrate(received, context);
    case 'ab-test':
      return runABTest(received, context);
    case 'train':
      return runTrain(received, context);
  }
}

/**
 * Reads a request. The rows of a JSON body are written to files, so that they are read exactly like an upload.
 * @throws {ServiceProblem} 400 if the body is not JSON, 413 if it has too many rows
 * @throws {ConfigValidationError} if rows are not valid
 */
async function receive({ kind, files, fields, maxItems }: TableJob): Promise<Received> {
  const { body, model: archive, ...tables } = files;
  if (body === undefined) return { kind, fields: valuesOfForm(kind, fields ?? {}), tables, archive, isJson: false };
  const { options, tables: sent } = readTablesBody(kind, await readFile(body), maxItems);
  const written: Record<string, string> = {};
  for (const [name, rows] of Object.entries(sent)) {
    const file = path.join(path.dirname(body), `${name}.ndjson`);
    await writeFile(file, linesOfRows(rows));
    written[PART_OF_ROWS[name] ?? name] = file;
  }
  return { kind, fields: options, tables: written, archive, isJson: true };
}

/** Returns the name of the field or the part of a table. */
function nameOfTable(part: string, { isJson }: Received): string {
  return (isJson ? Object.keys(PART_OF_ROWS).find((name) => PART_OF_ROWS[name] === part) : undefined) ?? part;
}

/**
 * Returns the path of a table.
 * @throws {ServiceProblem} 422 if it was not sent
 */
function tableOf(received: Received, part: string): string {
  const found = received.tables[part];
  if (found !== undefined) return found;
  const name = nameOfTable(part, received);
  const detail = `${name} is missing.`;
  throw fieldProblem(422, `/${name}`, detail, `Send the rows as the ${received.isJson ? 'field' : 'file'} ${name}.`);
}

async function runPredict(received: Received, { folder }: JobContext): Promise<JobOutcome> {
  const options = parseTableJob('predict', received.fields);
  const table = tableOf(received, 'file');
  if (received.archive === undefined) {
    const suggestion = 'Send the run_id of a training as model, or the ZIP archive of a model as a file.';
    throw fieldProblem(422, '/model', 'model is missing.', suggestion);
  }
  const model = path.join(folder, 'model');
  try {
    await readArchive(received.archive, model);
    const { na_values: naValues, ...how } = options;
    const predictions = await predictWithSavedModel(model, table, { ...how, naValues: namesIn(naValues) });
    const { predicted } = predictions;
    await writeTableAs(path.join(folder, 'data.csv'), predicted.table, 'csv');
    await writeTableAs(path.join(folder, 'data.parquet'), await withNumbers(predicted.table, table), 'parquet');
    const report = { ...predictionsDocument(predictions), title: 'Predictions' };
    const reports = await writeReports(folder, documentToMarkdown(report), await documentToHtml(report));
    const valuesOf = (name: string): number[] => [...predicted.table.numeric(name).values];
    const inline = received.isJson
      ? { scores: valuesOf(predicted.scoreColumn), predictions: valuesOf(predicted.predictionColumn) }
      : {};
    const body = JSON.stringify({ ...predictionsToJson(predictions), ...inline });
    return { body, files: [...reports, 'data.parquet', 'data.csv'] };
  } finally {
    await rm(model, { recursive: true, force: true });
  }
}

async function runCalibrate(received: Received, context: JobContext): Promise<JobOutcome> {
  const { folder } = context;
  const options = parseTableJob('calibrate', received.fields);
  const csv = tableOf(received, 'file');
  const { score, y_true: target, sensitive, positive_label: positiveLabel, na_values, ...how } = options;
  const group = namesIn(sensitive);
  await assertFewGroups({ paths: csv }, [group ?? ['g']], MAX_GROUPS);
  const calibrated = await calibrateFile(
    { csv, score, target, group, positiveLabel, naValues: namesIn(na_values) },
    { ...camelFields(how), onProgress: stoppable(context) },
  );
  const notes = await calibrationNotes(calibrated, how.folds === 1 ? undefined : csv);
  const calibration = { ...calibrated, warnings: [...calibrated.warnings, ...notes] };
  const model = path.join(folder, 'model');
  await mkdir(model);
  await writeFileAtomic(
    path.join(model, 'calibrator.json'),
    `${JSON.stringify(calibration.calibrator, undefined, 2)}\n`,
  );
  const archive = await archiveOf(model, folder);
  const data = await writeData(folder, calibration.table, null);
  const reports = await trainingReports(folder, calibration);
  return { body: JSON.stringify(tableCalibrationToJson(calibration)), files: [...reports, ...data, archive] };
}

async function runABTest(received: Received, context: JobContext): Promise<JobOutcome> {
  const options = parseTableJob('ab-test', received.fields);
  const { sensitive, na_values, metric, business, ...others } = options;
  const attributes = [sensitive].flat().map(splitNames);
  const arms = armsOf(received, options.arm);
  const request = abTestSchema.parse({
    ...camelFields(others),
    ...arms,
    attributes,
    naValues: namesIn(na_values),
    metric: namesIn(metric),
    business: namesIn(business),
  });
  const planned = planABTest(request);
  for (const csv of Object.values(arms)) await assertFewGroups({ paths: csv }, attributes, MAX_GROUPS);
  const { result } = await planned.run({ onProgress: stoppable(context) });
  const reports = await writeReports(context.folder, result.toMarkdown(), await result.toHtml());
  return { body: JSON.stringify(result), files: reports };
}

/** Returns the files of the arms: one with both, or one for each. */
function armsOf(received: Received, arm: string | undefined): Readonly<Record<string, string>> {
  const { file } = received.tables;
  const nameOf = (part: string): string => nameOfTable(part, received);
  if (arm === undefined && file !== undefined) {
    const detail = `${nameOf('file')} holds both arms, but arm is missing.`;
    throw fieldProblem(422, '/arm', detail, 'Name the column of the arms as arm, or send one table for each arm.');
  }
  if (arm !== undefined) {
    const extra = ['control_file', 'treatment_file'].find((part) => received.tables[part] !== undefined);
    if (extra === undefined) return { csv: tableOf(received, 'file') };
    const detail = `${nameOf(extra)} cannot be combined with arm, which names a column of a table with both arms.`;
    throw fieldProblem(
      422,
      `/${nameOf(extra)}`,
      detail,
      `Send either ${nameOf('file')} with arm, or one table for each arm.`,
    );
  }
  return { controlCsv: tableOf(received, 'control_file'), treatmentCsv: tableOf(received, 'treatment_file') };
}

async function runTrain(received: Received, context: JobContext): Promise<JobOutcome> {
  const { folder, signal } = context;
  const options = parseTableJob('train', received.fields);
  const { method, y_true: target, sensitive, features, positive_label: positiveLabel, na_values, ...others } = options;
  const csv = tableOf(received, 'file');
  const groups = namesIn(sensitive);
  await assertFewGroups({ paths: csv }, [groups ?? ['s']], MAX_GROUPS);
  const source = await loadTrainingSource({
    csv,
    testCsv: received.tables['test_file'],
    target,
    sensitive: groups,
    features: namesIn(features),
    positiveLabel,
    naValues: namesIn(na_values),
  });
  signal.throwIfAborted();
  const start = performance.now();
  const modelPath = path.join(folder, 'model');
  const shared = { modelPath, signal, onProgress: stoppable(context) };
  const how = camelFields(others);
  const [trained, body] = await train(method, source, how, shared);
  const notes =
    received.tables['test_file'] === undefined
      ? await heldOutNotes(
          csv,
          [target, groups, source.features].flat().filter((name) => name !== undefined),
        )
      : [];
  const warnings = [...trained.warnings, ...notes];
  // A sweep is an array with properties.
  const result = 'length' in trained ? Object.assign([...trained], trained, { warnings }) : { ...trained, warnings };
  const seconds = (performance.now() - start) / 1000;
  const archive = await archiveOf(modelPath, folder);
  const reports = await trainingReports(folder, result);
  return { body: JSON.stringify({ ...body, warnings, seconds }), files: [...reports, archive] };
}

type Shared = Pick<JobContext, 'signal' | 'onProgress'> & { readonly modelPath: string };

async function train(
  method: keyof typeof TRAIN_METHODS,
  source: Awaited<ReturnType<typeof loadTrainingSource>>,
  how: object,
  shared: Shared,
): Promise<[ReportedTraining, Record<string, unknown>]> {
  switch (method) {
    case 'regularized': {
      // A job has one thread. The number of threads does not change the result.
      const sweep = await sweepPareto(source, { ...TRAIN_METHODS.regularized.parse(how), ...shared, threads: 1 });
      return [sweep, paretoToJson(sweep)];
    }
    case 'lagrangian': {
      const trained = await trainLagrangian(source, { ...TRAIN_METHODS.lagrangian.parse(how), ...shared });
      return [trained, lagrangianJobToJson(trained)];
    }
    case 'reductions': {
      const trained = await trainReductions(source, { ...TRAIN_METHODS.reductions.parse(how), ...shared });
      return [trained, reductionsJobToJson(trained)];
    }
  }
}

/** Packs the model of a run, and removes its folder. */
async function archiveOf(model: string, folder: string): Promise<string> {
  await writeArchive(model, path.join(folder, MODEL_ARCHIVE));
  await rm(model, { recursive: true, force: true });
  return MODEL_ARCHIVE;
}

async function trainingReports(folder: string, result: ReportedTraining): Promise<string[]> {
  const markdown = await generateTrainingFairnessReport(result, { format: 'markdown' });
  return writeReports(folder, markdown, await generateTrainingFairnessReport(result, { format: 'html' }));
}

/** Returns a listener of progress that ends the work when the run was cancelled. */
function stoppable({ signal, onProgress }: JobContext): OnProgress {
  return (event) => {
    onProgress(event);
    signal.throwIfAborted();
  };
}
