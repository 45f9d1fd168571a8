import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { noRoomOr } from '../intake/intake-problems.ts';
import { requireMediaType } from '../intake/media-type.ts';
import { receiveBody } from '../intake/receive-body.ts';
import { receiveTable, TABLE_TYPES } from '../intake/receive-table.ts';
import { fillSpoolFolder, type ReceivedBody, type SpoolFolder } from '../intake/spool-folder.ts';
import { answerRun, answerText, readIdempotencyKey, readPreference } from './answer-run.ts';
import { readQuery } from './read-query.ts';
import { validateAtOnce } from './validate-at-once.ts';

/** Handles POST /validate: arrays as JSON, or a table with the names of its columns in the query. */
export function validateRoute(service: Service): Handler {
  return async (context) => {
    const type = requireMediaType(context.get('content-type'), ['application/json', ...TABLE_TYPES]);
    await (type === 'application/json' ? validateArrays(context, service) : validateTable(context, service));
  };
}

async function validateArrays(context: ServiceContext, service: Service): Promise<void> {
  const { limits, spoolFolder: spoolRoot } = service;
  readQuery(context, []);
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
  if (received.kind === 'memory' && !isAsync && !idempotency.isGiven) {
    const body = await validateAtOnce(received.bytes, service);
    if (body !== undefined) {
      answerText(context, body);
      return;
    }
  }
  const { path: file, folder } = await onDisk(received, spoolRoot);
  await answerRun(context, service, {
    endpoint: '/validate',
    job: { kind: 'validate-rows', path: file, maxItems: limits.arrayItems },
    inputFolder: folder.path,
    idempotency: idempotency.claim(received.digest ?? ''),
  });
}

/** Writes the body to disk, where a thread reads it. */
async function onDisk(
  received: ReceivedBody,
  spoolRoot: string,
): Promise<{ readonly path: string; readonly folder: SpoolFolder }> {
  if (received.kind === 'file') return received;
  return fillSpoolFolder(spoolRoot, async (folder) => {
    const file = path.join(folder.path, 'body');
    await writeFile(file, received.bytes).catch((cause: unknown) => {
      throw noRoomOr(cause);
    });
    return { path: file, folder };
  });
}

async function validateTable(context: ServiceContext, service: Service): Promise<void> {
  const idempotency = readIdempotencyKey(context);
  const source = { limits: service.limits, spoolRoot: service.spoolFolder };
  const { path: file, format, folder, digest } = await receiveTable(context.req, source);
  await answerRun(context, service, {
    endpoint: '/validate',
    job: { kind: 'validate-table', path: file, format, options: queryOf(context) },
    inputFolder: folder.path,
    idempotency: idempotency.claim(digest),
  });
}

/** Returns the options of the query. A repeated option becomes a list. */
function queryOf({ query }: ServiceContext): Record<string, string | string[]> {
  const given = Object.entries(query).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined);
  return Object.fromEntries(given);
}
