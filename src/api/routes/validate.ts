import { FairnessToolkitError } from '../../exceptions/index.ts';
import { knownMetric, metricNamesOf } from '../../integration/gates.ts';
import type { FileValidation } from '../../integration/measure-attributes.ts';
import { validateRemembered, type ValidateRowsInput, validateRowsNow } from '../../integration/validate-rows.ts';
import { validationToJsonText } from '../../integration/validation-report.ts';
import { metricKind } from '../../metrics/metric-definitions.ts';
import { VALIDATE_FORM_FIELDS } from '../../schemas/validate-table.ts';
import { isColumn } from '../../table/column-source.ts';
import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { requireMediaType } from '../intake/media-type.ts';
import { receiveBody, writeBody } from '../intake/receive-body.ts';
import { receiveForm } from '../intake/receive-form.ts';
import { receiveTable, TABLE_TYPES } from '../intake/receive-table.ts';
import { readQuickRows } from '../jobs/quick-rows.ts';
import { readRowsBody } from '../jobs/rows-body.ts';
import { fieldProblem } from '../problem/service-problem.ts';
import { answerBody, type KeptRun } from '../runs/runs.ts';
import { WEBHOOK_PARAMETER } from '../webhooks/webhooks.ts';
import { answerRun, answerText, readIdempotencyKey, readPreference, readQuery } from './answer-run.ts';

/**
 * The maximum number of groups. If there are more groups, a thread runs the validation, so that it does not block the
 * event loop.
 */
const MAX_GROUPS = 12;

/** The maximum number of columns whose groups are counted. The columns of intersections are included. */
const MAX_COLUMNS = 6;

/**
 * The maximum number of columns for which intervals are computed. The intervals of one column take several
 * milliseconds.
 */
const MAX_COLUMNS_WITH_CI = 1;

/**
 * The maximum number of replicates. If there are more replicates, a thread runs the validation, so that it does not
 * block the event loop.
 */
const MAX_SAMPLES = 1000;

/**
 * Validates arrays immediately, if the validation takes no longer than reading the body. The caller stores the result:
 * an asynchronous function would keep the validation in memory until then.
 * @returns the run with the body of the answer; undefined if a thread must do the work
 * @throws {ServiceProblem} 400 if the body is not UTF-8 or not strict JSON, 413 if an array is too long
 * @throws {ConfigValidationError} if fields are invalid
 */
function validateAtOnce(bytes: Buffer, service: Service, tenant: string): KeptRun | undefined {
  const { arrayItems } = service.limits;
  const validation = validateQuickly(bytes, arrayItems) ?? validateParsed(readRowsBody(bytes, arrayItems));
  if (validation === undefined) return undefined;
  const result = validationToJsonText(validation);
  const runId = service.createId();
  const createdAt = new Date(service.clock()).toISOString();
  return { runId, endpoint: '/validate', createdAt, body: answerBody(runId, result, createdAt), tenant };
}

/** Returns undefined if the body must be parsed, also in order to report an error. */
function validateQuickly(bytes: Buffer, maxItems: number): FileValidation | undefined {
  const quick = readQuickRows(bytes, maxItems);
  if (quick === undefined) return undefined;
  try {
    return isLight(quick.input) ? validateRemembered(quick.input, quick.memory) : undefined;
  } catch (error) {
    if (FairnessToolkitError.isInstance(error)) return undefined;
    throw error;
  }
}

function validateParsed(input: ValidateRowsInput): FileValidation | undefined {
  return isLight(input) ? validateRowsNow(input) : undefined;
}

/** Returns whether a validation takes about as long as reading its body. */
function isLight(input: ValidateRowsInput): boolean {
  const { backend = 'native', average, control, withCi, withPValue, sensitive, intersections = [] } = input;
  if (backend !== 'native' || control !== undefined || average !== undefined || withPValue === true) return false;
  const columns = Array.isArray(sensitive) || isColumn(sensitive) ? [sensitive] : Object.values(sensitive);
  const counted = columns.length + intersections.reduce((sum, names) => sum + names.length, 0);
  if (counted > (withCi === false ? MAX_COLUMNS : MAX_COLUMNS_WITH_CI)) return false;
  return columns.every(hasFewGroups) && (withCi === false || hasLightInterval(input));
}

/** Returns whether the interval can be computed from counts alone. Such an interval is only possible for rates. */
function hasLightInterval(input: ValidateRowsInput): boolean {
  const { ciMethod = 'simultaneous', ciSamples = MAX_SAMPLES } = input;
  if (ciMethod !== 'simultaneous' || ciSamples > MAX_SAMPLES) return false;
  return metricNamesOf(input).every((name) => metricKind(knownMetric(name)) === 'classification');
}

/** Returns whether there are few groups. Searching a short list is faster than building a set of all labels. */
function hasFewGroups(rows: unknown): boolean {
  // Columns that are already encoded have few groups.
  if (isColumn(rows)) return true;
  const groups: unknown[] = [];
  for (const label of rows as readonly unknown[]) {
    if (groups.includes(label)) continue;
    if (groups.length === MAX_GROUPS) return false;
    groups.push(label);
  }
  return true;
}

/**
 * Handles POST /validate: arrays as JSON, a table with the names of its columns in the query, or a form with a table or
 * counts.
 */
export function validateRoute(service: Service): Handler {
  return async (context) => {
    const types = ['application/json', 'multipart/form-data', ...TABLE_TYPES] as const;
    const type = requireMediaType(context.get('content-type'), types);
    if (type === 'application/json') await validateArrays(context, service);
    else if (type === 'multipart/form-data') await validateForm(context, service);
    else await validateTable(context, service);
  };
}

/** The fields of a form, and those that may be repeated. */
const FORM_FIELDS = Object.keys(VALIDATE_FORM_FIELDS);
const FORM_LISTS = ['sensitive', 'metric'];

async function validateForm(context: ServiceContext, service: Service): Promise<void> {
  readQuery(context, [WEBHOOK_PARAMETER]);
  const idempotency = readIdempotencyKey(context);
  const shape = { fields: FORM_FIELDS, tables: ['file', 'counts'], lists: FORM_LISTS };
  const { files, fields, repeated, folder, digest } = await receiveForm(context.req, service, shape);
  const { file, counts } = files;
  const table = file ?? counts;
  if (table === undefined || (file !== undefined && counts !== undefined)) {
    await folder.remove();
    const detail = `The form has ${table === undefined ? 'no table' : 'rows and counts, of which only one can be measured'}.`;
    throw fieldProblem(422, '/file', detail, 'Send the rows as file, or counts of rows as counts.');
  }
  await answerRun(context, service, {
    endpoint: '/validate',
    job: {
      kind: 'validate-table',
      path: table,
      format: table.endsWith('.parquet') ? 'parquet' : 'csv',
      options: { ...fields, ...repeated, ...(counts === undefined ? {} : { counts: 'true' }) },
      source: 'form',
    },
    inputFolder: folder.path,
    idempotency: idempotency.claim(digest),
  });
}

async function validateArrays(context: ServiceContext, service: Service): Promise<void> {
  const { limits, spoolFolder: spoolRoot } = service;
  readQuery(context, [WEBHOOK_PARAMETER]);
  const idempotency = readIdempotencyKey(context);
  const { isAsync } = readPreference(context.get('prefer'));
  const received = await receiveBody(context.req, {
    maxBytes: limits.jsonBytes,
    inlineBytes: limits.inlineBytes,
    idleMillis: limits.idleMillis,
    spoolRoot,
    withDigest: idempotency.isGiven,
  });
  // A request with an idempotency key or `respond-async` becomes a regular run with states.
  const hasWebhook = context.query[WEBHOOK_PARAMETER] !== undefined;
  if (received.kind === 'memory' && !isAsync && !idempotency.isGiven && !hasWebhook) {
    const run = validateAtOnce(received.bytes, service, context.state.tenant);
    if (run !== undefined) {
      await service.runs.keep(run);
      answerText(context, run.body);
      return;
    }
  }
  // A thread reads the body from disk.
  const { path: file, folder } = received.kind === 'file' ? received : await writeBody([received.bytes], spoolRoot);
  await answerRun(context, service, {
    endpoint: '/validate',
    job: { kind: 'validate-rows', path: file, maxItems: limits.arrayItems },
    inputFolder: folder.path,
    idempotency: idempotency.claim(received.digest ?? ''),
  });
}

async function validateTable(context: ServiceContext, service: Service): Promise<void> {
  const idempotency = readIdempotencyKey(context);
  const { path: file, format, folder, digest } = await receiveTable(context.req, service);
  await answerRun(context, service, {
    endpoint: '/validate',
    job: { kind: 'validate-table', path: file, format, options: queryOf(context) },
    inputFolder: folder.path,
    idempotency: idempotency.claim(digest),
  });
}

/** Returns the options in the query. An option that occurs several times becomes a list. */
function queryOf({ query }: ServiceContext): Record<string, string | string[]> {
  const { [WEBHOOK_PARAMETER]: _, ...options } = query;
  const given = Object.entries(options).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined);
  return Object.fromEntries(given);
}
