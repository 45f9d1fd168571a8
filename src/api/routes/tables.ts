import { copyFile } from 'node:fs/promises';
import path from 'node:path';

import { TABLE_JOB_FIELDS, type TableJobKind } from '../../schemas/table-jobs.ts';
import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { requireMediaType } from '../intake/media-type.ts';
import { type ReceivedBody, receiveBody, writeBody } from '../intake/receive-body.ts';
import { receiveForm } from '../intake/receive-form.ts';
import type { SpoolFolder } from '../intake/spool-folder.ts';
import { MODEL_ARCHIVE, type TableJob } from '../jobs/job.ts';
import { namedModel } from '../jobs/rows-body.ts';
import { unknownRun } from '../problem/service-problem.ts';
import { isOf } from '../runs/runs.ts';
import { WEBHOOK_PARAMETER } from '../webhooks/webhooks.ts';
import { answerRun, readIdempotencyKey, readQuery } from './answer-run.ts';
import { noModel } from './results.ts';

/** The tables that a form may contain. */
const TABLES: Readonly<Record<TableJobKind, readonly string[]>> = {
  predict: ['file'],
  calibrate: ['file'],
  'ab-test': ['file', 'control_file', 'treatment_file'],
  train: ['file', 'test_file'],
};

/** The fields of a form that may be repeated: they are lists. */
const LISTS = ['na_values', 'sensitive', 'business', 'metric', 'features', 'etas', 'hidden'];

/** The file of a run that the answer names as `download`. */
const DOWNLOADS: Readonly<Partial<Record<TableJobKind, string>>> = {
  predict: 'data',
  calibrate: 'data',
  train: 'model',
};

/** A request on disk. */
interface ReceivedTables extends Pick<TableJob, 'files' | 'fields'> {
  readonly folder: SpoolFolder;
  readonly digest: string;
  /** The run whose model is used. */
  readonly modelRun: string | undefined;
}

/** Handles POST /predict, /calibrate, /ab-test and /train: rows as JSON, or files as a form. */
export function tableRoute(service: Service, kind: TableJobKind): Handler {
  return async (context) => {
    const type = requireMediaType(context.get('content-type'), ['application/json', 'multipart/form-data']);
    readQuery(context, [WEBHOOK_PARAMETER]);
    const idempotency = readIdempotencyKey(context);
    const received = await (type === 'application/json' ? receiveJson : receiveParts)(context, service, kind);
    const { folder, digest, fields, modelRun } = received;
    const model = modelRun === undefined ? {} : await modelOf(service, modelRun, context.state.tenant, folder);
    const download = DOWNLOADS[kind];
    await answerRun(context, service, {
      endpoint: `/${kind}`,
      job: { kind, files: { ...received.files, ...model }, fields, maxItems: service.limits.arrayItems },
      inputFolder: folder.path,
      idempotency: idempotency.claim(digest),
      ...(download === undefined ? {} : { download: `${service.basePath}/results/{run_id}/${download}` }),
    });
  };
}

async function receiveParts(context: ServiceContext, service: Service, kind: TableJobKind): Promise<ReceivedTables> {
  const fields = Object.keys(TABLE_JOB_FIELDS[kind]);
  const form = await receiveForm(context.req, service, {
    fields: kind === 'predict' ? [...fields, 'model'] : fields,
    tables: TABLES[kind],
    archives: kind === 'predict' ? ['model'] : [],
    lists: fields.filter((name) => LISTS.includes(name)),
  });
  const { folder, digest, files, repeated } = form;
  const { model, ...others } = form.fields;
  return { files, folder, digest, fields: { ...others, ...repeated }, modelRun: model };
}

async function receiveJson(context: ServiceContext, service: Service, kind: TableJobKind): Promise<ReceivedTables> {
  const { limits, spoolFolder: spoolRoot } = service;
  const { jsonBytes: maxBytes, inlineBytes, idleMillis } = limits;
  const options = { maxBytes, inlineBytes, idleMillis, spoolRoot, withDigest: true };
  const received = await receiveBody(context.req, options);
  const modelRun = kind === 'predict' ? await modelIn(service, received) : undefined;
  const { path: body, folder } = received.kind === 'file' ? received : await writeBody([received.bytes], spoolRoot);
  return { files: { body }, fields: null, folder, digest: received.digest ?? '', modelRun };
}

/** Returns the run that a body names as its model. A thread reads a large body. */
async function modelIn({ runs }: Service, received: ReceivedBody): Promise<string> {
  if (received.kind === 'memory') return namedModel(received.bytes);
  try {
    const { body } = await runs.work({ kind: 'named-model', path: received.path });
    return (JSON.parse(body) as { readonly model: string }).model;
  } catch (error) {
    await received.folder.remove();
    throw error;
  }
}

/**
 * Copies the model of a run into the folder of a request. The run can then be deleted at any time.
 * @throws {ServiceProblem} 404 if there is no such run, or it has no model
 */
async function modelOf(
  service: Service,
  runId: string,
  tenant: string,
  folder: SpoolFolder,
): Promise<{ readonly model: string }> {
  try {
    const { runs } = service;
    const run = await runs.get(runId);
    if (run === undefined || !isOf(run, tenant)) throw unknownRun(runId);
    if (run.endpoint !== '/train' || !run.files.includes(MODEL_ARCHIVE)) throw noModel(run);
    const model = path.join(folder.path, MODEL_ARCHIVE);
    await copyFile(await runs.fileOf(runId, MODEL_ARCHIVE), model).catch(() => {
      throw unknownRun(runId);
    });
    return { model };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}
