import { createHash } from 'node:crypto';

import type { Handler, Service } from '../app/service-context.ts';
import { receiveBody } from '../intake/receive-body.ts';
import { requireMediaType } from '../intake/media-type.ts';
import { decodeBody, parseJson } from '../problem/parse-json.ts';
import { answerRun } from './answer-run.ts';
import { readIdempotencyKey } from './idempotency-claim.ts';
import { readQuery } from './read-query.ts';

/** A configuration has at most 256 KiB of text, which JSON may write with escapes. */
const MOST_BYTES = 2 ** 20;

/** POST /llm-eval: what is asked of a language model, as JSON. */
export function llmEvalRoute(service: Service): Handler {
  const mostBytes = Math.min(service.limits.jsonBytes, MOST_BYTES);
  return async (context) => {
    requireMediaType(context.get('content-type'), ['application/json']);
    readQuery(context, []);
    const idempotency = readIdempotencyKey(context);
    const { idleMillis } = service.limits;
    const limits = { mostBytes, inlineBytes: mostBytes, idleMillis, spoolRoot: service.spoolFolder };
    const received = await receiveBody(context.req, limits);
    // What fits in memory by its limit is never written to a file.
    const body = received.kind === 'memory' ? decodeBody(received.bytes) : '';
    parseJson(body);
    await answerRun(context, service, {
      endpoint: '/llm-eval',
      job: { kind: 'llm-eval', body, llmFolder: service.llmFolder },
      inputFolder: null,
      idempotency: idempotency.claim(createHash('sha256').update(body).digest('hex')),
    });
  };
}
