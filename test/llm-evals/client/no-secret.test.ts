import { inspect } from 'node:util';

import { expect } from 'chai';

import { startLlmServer, type LlmAction } from '../../helpers/llm-server.ts';
import { attempt, NETWORK_PROVIDERS, PLANTED, useLlmServer } from './llm-clients.ts';

const ENCODED = encodeURIComponent(PLANTED);
const BASE64 = Buffer.from(`key:${PLANTED}`).toString('base64');

describe('clients never emit the planted key', () => {
  const server = useLlmServer();
  const error = (message: string): LlmAction => ({ kind: 'error', status: 400, message });
  const bodies: Readonly<Record<string, LlmAction>> = {
    'an answer': { kind: 'answer', text: `Bearer ${PLANTED}, ${ENCODED}, ${BASE64}` },
    'a refusal': { kind: 'refusal', text: `I keep ${PLANTED} to myself.` },
    'an error': { kind: 'error', status: 403, echoesKey: true },
    "an error's encoded words": error(`at /v1?key=${ENCODED} with ${BASE64}`),
    'an error that is cut where the key stands': error(`${'x'.repeat(190)}${PLANTED}`),
    'an error in half of a page': { kind: 'raw', status: 500, body: `<html>${'y'.repeat(70_000)}${PLANTED}` },
    'an error of one word': { kind: 'raw', status: 500, body: { error: PLANTED } },
    "a server's own fields": { kind: 'raw', status: 422, body: { detail: `sent ${PLANTED}` } },
    'a wrong shape': { kind: 'raw', body: { headers: { 'x-api-key': PLANTED, authorization: `Bearer ${PLANTED}` } } },
    'a page with success': { kind: 'raw', body: `<html>${PLANTED}</html>` },
    'half of an answer': { kind: 'raw', body: `{"choices":[{"message":"${PLANTED}` },
    'the kind of an error': { kind: 'error', status: 400, code: PLANTED },
    'the address of a redirect': { kind: 'redirect', to: `/elsewhere?key=${ENCODED}` },
    'a finish reason': { kind: 'answer', finish: PLANTED },
  };
  for (const provider of NETWORK_PROVIDERS) {
    for (const [title, action] of Object.entries(bodies)) {
      it(`${provider}: ${title}`, async () => {
        const outcome = await attempt(server(), { script: [action] }, { provider }).catch((reason: unknown) => reason);
        const printed = `${inspect(outcome, { depth: 12, showHidden: true, maxStringLength: null })}${JSON.stringify(outcome)}`;
        // The beginning or the end alone would reveal too much.
        for (const part of [PLANTED.slice(0, 12), PLANTED.slice(-9), ENCODED, BASE64.slice(8, 24)]) {
          expect(printed).to.not.include(part);
        }
      });
    }
  }

  it('sends nothing to the target of a redirect', async () => {
    const other = await startLlmServer();
    try {
      const to = `${other.baseUrl}/chat/completions`;
      await attempt(server(), { script: [{ kind: 'redirect', to }] }).catch(() => undefined);
      expect(other.requests).to.be.empty;
    } finally {
      await other.close();
    }
  });
});
