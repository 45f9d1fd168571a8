import { createHash } from 'node:crypto';

import type { ServiceContext } from '../app/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import type { IdempotencyClaim } from '../runs/runs.ts';

/** What a client may call a request. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads the Idempotency-Key header, before the body, so that a bad one costs nothing.
 * @returns what makes the claim from a digest of the body (hexadecimal); its claim is null without the header
 * @throws {ServiceProblem} 400 for a header that is no usable name
 */
export function readIdempotencyKey(context: ServiceContext): {
  readonly isGiven: boolean;
  readonly claim: (digest: string) => IdempotencyClaim | null;
} {
  const name = context.get('idempotency-key');
  if (name === '') return { isGiven: false, claim: () => null };
  if (!KEY.test(name)) {
    throw new ServiceProblem(400, {
      detail: 'The Idempotency-Key header must be 1 to 255 printable characters without spaces.',
      errors: [{ pointer: 'Idempotency-Key', detail: 'no usable name' }],
      suggestion: 'Use a new UUID for each request that is meant once.',
    });
  }
  const { path, state } = context;
  const query = [...new URLSearchParams(context.querystring)].sort();
  const mediaType = context.get('content-type').split(';')[0];
  return {
    isGiven: true,
    claim: (digest) => ({
      key: `${state.client}:${name}`,
      fingerprint: createHash('sha256')
        .update(JSON.stringify([path, query, mediaType, digest]))
        .digest('hex'),
    }),
  };
}
