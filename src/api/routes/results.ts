import { open, readFile } from 'node:fs/promises';

import { validationFromJson, type ValidationJson } from '../../integration/validation-from-json.ts';
import { validationToMarkdown } from '../../integration/validation-report.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { MODEL_ARCHIVE, NAMES_FILE, type ReportNames, ROWS_NAMES } from '../jobs/job.ts';
import { ServiceProblem, unknownRun } from '../problem/service-problem.ts';
import { isOf, type RunRecord, type Runs } from '../runs/runs.ts';
import { answerText, readQuery } from './answer-run.ts';

/** The formats in which a report is available for readers. */
const REPORT_FORMS = ['text/html', 'text/markdown'] as const;

/** One of {@link REPORT_FORMS}. */
type ReportForm = (typeof REPORT_FORMS)[number];

/** The maximum length of a result that is converted to Markdown in the main thread. */
const MAX_TEXT = 32_768;

/**
 * Returns the report of a run: the file that the run wrote or, for a validation, a report that is created from the
 * result.
 * @returns undefined if there is no report
 */
async function reportOf(
  { runId, endpoint, files, body }: RunRecord,
  form: ReportForm,
  runs: Runs,
): Promise<string | undefined> {
  const readOwn = async (name: string): Promise<string> => {
    const bytes = await readFile(await runs.fileOf(runId, name)).catch(() => {
      throw unknownRun(runId);
    });
    return decodeUtf8(bytes, name);
  };
  const file = form === 'text/html' ? 'report.html' : 'report.md';
  if (files.includes(file)) return readOwn(file);
  if (endpoint !== '/validate' || body === null) return undefined;
  const names = files.includes(NAMES_FILE) ? (JSON.parse(await readOwn(NAMES_FILE)) as ReportNames) : ROWS_NAMES;
  if (form === 'text/markdown' && body.length <= MAX_TEXT) {
    return validationToMarkdown(validationFromJson(JSON.parse(body) as ValidationJson, names.attribute), names.source);
  }
  // Drawing charts would block this event loop for too long.
  const kind = form === 'text/html' ? 'html' : 'markdown';
  const report = await runs.work({ kind: 'validation-report', form: kind, names, result: body });
  return JSON.parse(report.body) as string;
}

/** The formats of a run's data by media type. The first one is the default. */
const DATA_FORMS = [
  { type: 'text/csv', name: 'data.csv', format: 'csv' },
  { type: 'application/vnd.apache.parquet', name: 'data.parquet', format: 'parquet' },
] as const;

/** Handles GET /results/{run_id}: returns JSON, or the report for people. */
export function getResultRoute({ runs }: Service): Handler {
  return async (context) => {
    readQuery(context, []);
    const record = await findRun(context, runs);
    context.vary('Accept');
    const form = context.accepts('application/json', ...REPORT_FORMS);
    if (form === false) throw notAcceptable(['application/json', ...REPORT_FORMS], record.runId);
    if (form !== 'application/json' && record.body !== null) {
      await answerReport(context, runs, record, form as ReportForm);
      return;
    }
    if (form !== 'application/json' && context.accepts('application/json') === false) {
      throw new ServiceProblem(406, {
        detail: `The run has no report. Its status is ${record.status}.`,
        suggestion: 'Request application/json to get its status.',
        runId: record.runId,
      });
    }
    answerText(context, recordText(record));
  };
}

/** Formats the record as JSON. The body of the record is inserted as text, without parsing. */
function recordText({ runId, endpoint, status, createdAt, finishedAt, body, problem }: RunRecord): string {
  const text = (value: unknown): string => JSON.stringify(value);
  return `{"run_id":${text(runId)},"endpoint":${text(endpoint)},"status":${text(status)},"result":${body ?? 'null'},"problem":${text(problem)},"created_at":${text(createdAt)},"finished_at":${text(finishedAt)}}`;
}

/** Sets what a browser may do with a report, which is self-contained and loads no resources. */
export function setReportPolicy(context: ServiceContext): void {
  context.set(
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; sandbox allow-scripts allow-popups; frame-ancestors 'none'",
  );
}

async function answerReport(context: ServiceContext, runs: Runs, record: RunRecord, form: ReportForm): Promise<void> {
  const report = await reportOf(record, form, runs);
  if (report === undefined) throw notAcceptable(['application/json'], record.runId);
  setReportPolicy(context);
  context.type = `${form}; charset=utf-8`;
  context.body = report;
}

/** Handles GET /results/{run_id}/data: returns the transformed table. */
export function getResultDataRoute({ runs }: Service): Handler {
  return async (context) => {
    const { format } = readQuery(context, ['format']);
    const { runId, files, status, endpoint } = await findRun(context, runs);
    const there = DATA_FORMS.filter(({ name }) => files.includes(name));
    if (there.length === 0) {
      const [detail, suggestion] =
        status === 'succeeded'
          ? [
              `Runs of ${endpoint} have no data.`,
              'Only runs of /pipeline, /workflow, /predict and /calibrate have data.',
            ]
          : [
              `The run has no data. Its status is ${status}.`,
              'Try again after the run has succeeded; its events report that.',
            ];
      throw new ServiceProblem(404, { detail, suggestion, runId });
    }
    context.vary('Accept');
    const form = chosenData(context, there, format, runId);
    await answerFile(context, runs, runId, form);
  };
}

/** Handles GET /results/{run_id}/model: returns the archive of a model. */
export function getResultModelRoute({ runs }: Service): Handler {
  return async (context) => {
    readQuery(context, []);
    const record = await findRun(context, runs);
    if (!record.files.includes(MODEL_ARCHIVE)) throw noModel(record);
    await answerFile(context, runs, record.runId, { name: MODEL_ARCHIVE, format: 'zip', type: 'application/zip' });
  };
}

/** Returns the problem for a run without a model. */
export function noModel({ runId, status, endpoint }: RunRecord): ServiceProblem {
  const [detail, suggestion] =
    status === 'succeeded'
      ? [`Runs of ${endpoint} have no model.`, 'Only runs of /train and /calibrate have one.']
      : [`The run has no model. Its status is ${status}.`, 'Try again after the run has succeeded.'];
  return new ServiceProblem(404, { detail, suggestion, runId });
}

/** Answers with a file of a run. */
async function answerFile(
  context: ServiceContext,
  runs: Runs,
  runId: string,
  { name, format, type }: { readonly name: string; readonly format: string; readonly type: string },
): Promise<void> {
  // The file is opened before the response begins. If the run is deleted at this moment, the client receives an error
  // and not a truncated file.
  const file = await open(await runs.fileOf(runId, name)).catch(() => {
    throw unknownRun(runId);
  });
  context.attachment(`${runId}.${format}`);
  context.type = type;
  context.length = (await file.stat()).size;
  context.body = file.createReadStream();
}

type DataForm = (typeof DATA_FORMS)[number];

/**
 * Returns the format in which the data are sent.
 * @param format the format in the query, which takes precedence over the Accept header
 */
function chosenData(
  context: ServiceContext,
  there: readonly DataForm[],
  format: string | undefined,
  runId: string,
): DataForm {
  const types = there.map(({ type }) => type);
  const wanted = format === undefined ? context.accepts(...types) : undefined;
  const found = there.find((form) => form.format === format || form.type === wanted);
  if (found !== undefined) return found;
  if (format === undefined) throw notAcceptable(types, runId);
  const detail = `The parameter format must be ${there.map(({ format: name }) => name).join(' or ')}.`;
  throw new ServiceProblem(422, {
    detail,
    errors: [{ pointer: 'format', detail }],
    suggestion: 'Omit it to use the Accept header.',
    runId,
  });
}

/** Handles DELETE /results/{run_id}: cancels an active run, or deletes an ended run. */
export function deleteResultRoute({ runs }: Service): Handler {
  return async (context) => {
    const runId = runIdOf(context);
    await findRun(context, runs).catch((error: unknown) => {
      // A damaged run can be deleted. Its owner is not known, so a client with a key cannot.
      if (!(error instanceof ServiceProblem && error.status === 500 && context.state.tenant === '')) throw error;
    });
    const removal = await runs.remove(runId);
    if (removal === 'unknown') throw unknownRun(runId);
    if (removal === 'removed') {
      context.status = 204;
      return;
    }
    context.body = { run_id: runId, status: 'cancelled' };
  };
}

/**
 * Returns the record of the run whose ID is in the path.
 * @throws {ServiceProblem} 404 if there is no such run, or it belongs to another tenant
 */
export async function findRun(context: ServiceContext, runs: Runs): Promise<RunRecord> {
  const runId = runIdOf(context);
  const record = await runs.get(runId);
  if (record === undefined || !isOf(record, context.state.tenant)) throw unknownRun(runId);
  return record;
}

/** Returns the run ID in the path. */
function runIdOf(context: ServiceContext): string {
  return (context['params'] as Readonly<Record<string, string>>)['run_id'] ?? '';
}

function notAcceptable(types: readonly string[], runId: string): ServiceProblem {
  return new ServiceProblem(406, {
    detail: 'The result is not available in a format that the Accept header names.',
    suggestion: `Request ${types.join(' or ')}.`,
    runId,
  });
}
