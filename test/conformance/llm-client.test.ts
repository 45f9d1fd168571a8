import { inspect } from 'node:util';

import { expect } from 'chai';

import { FairnessToolkitError, LLMClientError } from '../../src/exceptions/index.ts';
import type { LLMClient } from '../../src/llm-evals/client/llm-client.ts';
import { LLMEvalAdapter } from '../../src/llm-evals/client/llm-eval-adapter.ts';
import { createProviderClient } from '../../src/llm-evals/client/provider-client.ts';
import type { AnswerRecord } from '../../src/llm-evals/client/transcript.ts';
import { type LlmServer, type LlmServerBehaviour, startLlmServer } from '../helpers/llm-server.ts';
import { endpointOf, NETWORK_PROVIDERS } from '../llm-evals/client/llm-clients.ts';

/** The fake key of every provider; it must not appear in any answer, error or id. */
const KEY = 'planted-K3y+of/conformance';
const KEY_VARIABLES = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GEMINI_API_KEY',
  'AWS_BEARER_TOKEN_BEDROCK',
  'OLLAMA_API_KEY',
  'VLLM_API_KEY',
  'EVENHAND_LLM_API_KEY',
];
const FINISH_REASONS = ['stop', 'length', 'content_filter', 'refusal', 'other'];

/** A client of one kind: how it is created, and how it is made to echo the key and to fail. */
interface Kind {
  readonly make: (server: LlmServer) => LLMClient;
  /** The function that answers with the key; undefined if an answer cannot contain it. */
  readonly makeEchoing?: (server: LlmServer) => LLMClient;
  readonly makeFailing?: (server: LlmServer) => LLMClient;
}

const env = { ...Object.fromEntries(KEY_VARIABLES.map((name) => [name, KEY])), AWS_REGION: 'eu-central-1' };

function provider(name: (typeof NETWORK_PROVIDERS)[number]): Kind {
  const make = (server: LlmServer, behaviour: LlmServerBehaviour): LLMClient => {
    server.setBehaviour({ key: KEY, ...behaviour });
    const config = { provider: name, model: 'a-model', baseUrl: server.baseUrl, timeoutMillis: 5000, params: {} };
    return createProviderClient({ ...config, http: endpointOf(server) }, { env });
  };
  return {
    make: (server) => make(server, {}),
    makeEchoing: (server) => make(server, { otherwise: { kind: 'answer', echoesKey: true } }),
    makeFailing: (server) => make(server, { otherwise: { kind: 'error', status: 401, echoesKey: true } }),
  };
}

/** A program whose answers contain its input, and that can echo the key or fail. */
function program(script: string): LLMClient {
  const config = { provider: 'command', model: 'a-model', baseUrl: null, timeoutMillis: 5000, params: {} } as const;
  const command = [process.execPath, '-e', script];
  return createProviderClient({ ...config, command, commandInput: 'json' }, { env, allowCode: true });
}

function quiet(name: 'local' | 'replay', records?: readonly AnswerRecord[]): LLMClient {
  const config = { provider: name, model: 'a-model', baseUrl: null, timeoutMillis: 5000, params: {} };
  return createProviderClient(config, { env, records });
}

const record = (prompt: string, repeat: number, given: Partial<AnswerRecord> = {}): AnswerRecord => ({
  ...{ key: `${repeat}${prompt}`, model: 'a-model', prompt, repeat, text: `Answer ${repeat}.`, error: null },
  ...{ finishReason: 'stop', isRefusal: null, inputTokens: 2, outputTokens: 2, cached: false, latencyMillis: 1 },
  attempts: 1,
  ...given,
});

const KINDS: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(NETWORK_PROVIDERS.map((name) => [name, provider(name)])),
  command: {
    make: () => program('process.stdin.on("data", (data) => console.log("Read " + data))'),
    makeEchoing: () => program(`console.log("The key is ${KEY}.")`),
    makeFailing: () => program(`console.error("wrong: ${KEY}"); process.exitCode = 4`),
  },
  local: { make: () => quiet('local') },
  replay: {
    make: () => quiet('replay', [record('Hello there', 0), record('Hello there', 1)]),
    makeEchoing: () => quiet('replay', [record('Hello there', 0, { text: `The key is ${KEY}.` })]),
    makeFailing: () => {
      const error = { kind: 'auth', message: `wrong: ${KEY}` } as const;
      return quiet('replay', [record('Hello there', 0, { text: null, error })]);
    },
  },
  'the adapter of a function': {
    make: () => new LLMEvalAdapter((prompt, { repeat }) => `Answer ${repeat} to ${prompt}.`, { id: 'mine' }),
    makeEchoing: () => new LLMEvalAdapter(() => `The key is ${KEY}.`),
    makeFailing: () =>
      new LLMEvalAdapter(() => {
        const request = { headers: { authorization: `Bearer ${KEY}` } };
        throw Object.assign(new Error(`wrong: ${KEY}`), { request });
      }),
  },
  'the adapter of a client': {
    make: () => new LLMEvalAdapter(quiet('local')),
  },
};

describe('every client follows the interface', () => {
  let server: LlmServer;
  /** The environment variables of the process, to restore them. */
  const outside = new Map(KEY_VARIABLES.map((name) => [name, process.env[name]]));
  before(async () => {
    server = await startLlmServer();
    for (const name of KEY_VARIABLES) process.env[name] = KEY;
  });
  after(async () => {
    for (const [name, value] of outside) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    await server.close();
  });

  for (const [title, kind] of Object.entries(KINDS)) {
    describe(title, () => {
      it('answers with a text, a finish reason, its usage and its time', async () => {
        const client = kind.make(server);
        const completion = await client.complete('Hello there');
        expect(completion.text).to.be.a('string').that.is.not.empty;
        expect(completion.finishReason).to.be.oneOf(FINISH_REASONS);
        expect(completion.isRefusal).to.be.oneOf([undefined, true, false]);
        expect(completion.cached).to.equal(title === 'replay');
        expect(completion.latencyMillis).to.be.within(0, 10_000);
        if (completion.usage !== null) {
          for (const count of [completion.usage.inputTokens, completion.usage.outputTokens]) {
            expect(Number.isInteger(count) && count >= 0, String(count)).to.be.true;
          }
        }
        expect(Object.isFrozen(completion)).to.be.true;
      });

      it('answers a conversation', async () => {
        const messages = [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello there' },
          { role: 'assistant', content: 'Hello.' },
          { role: 'user', content: 'How are you?' },
        ] as const;
        const { text } = await kind.make(server).complete('Hello there', { messages });
        expect(text).to.be.a('string').that.is.not.empty;
      });

      it('answers the first repeat by default', async () => {
        const client = kind.make(server);
        const [given, first, second] = await Promise.all([
          client.complete('Hello there'),
          client.complete('Hello there', { repeat: 0 }),
          client.complete('Hello there', { repeat: 1 }),
        ]);
        expect(first.text).to.equal(given.text);
        expect(second.text).to.be.a('string');
        // A server that does not receive the repeat gives the same answer here.
        if (!NETWORK_PROVIDERS.some((name) => name === title)) expect(second.text).to.not.equal(first.text);
      });

      it('has an id that is stable, includes the model, and contains no secret', () => {
        const { id } = kind.make(server);
        expect(id)
          .to.equal(kind.make(server).id)
          .and.to.match(/^[a-z].*\S$/);
        expect(id).to.not.include(KEY);
        if (!title.startsWith('the adapter of a function')) expect(id).to.include('a-model');
      });

      it('fails a cancelled request with a complete error', async () => {
        const signal = AbortSignal.abort(new Error(KEY));
        const error = await rejection(kind.make(server).complete('Hello there', { signal }));
        expectProblem(error);
        expect((error as LLMClientError).context['kind']).to.equal('cancelled');
        expectNoKey(error);
      });

      it('does not show its key in anything that can be printed', async () => {
        const client = kind.make(server);
        expectNoKey(client);
        expectNoKey(await client.complete('Hello there'));
      });

      const { makeEchoing, makeFailing } = kind;
      if (makeEchoing !== undefined) {
        it('removes an echoed key from an answer', async () => {
          const completion = await makeEchoing(server).complete('Hello there');
          expect(completion.text).to.include('key is [redacted].');
          expectNoKey(completion);
        });
      }
      if (makeFailing !== undefined) {
        it('removes an echoed key from a failure, which keeps a complete error', async () => {
          const error = await rejection(makeFailing(server).complete('Hello there'));
          expectProblem(error);
          expect((error as Error).message).to.include('[redacted]');
          expectNoKey(error);
        });
      }
    });
  }
});

async function rejection(work: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome.status === 'rejected') return outcome.reason;
  throw new Error('It did not fail.');
}

function expectProblem(error: unknown): void {
  expect(error).to.be.instanceOf(LLMClientError);
  expect(FairnessToolkitError.isInstance(error)).to.be.true;
  const { context, suggestion } = error as LLMClientError;
  expect(Object.keys(context).sort()).to.deep.equal(['isFatal', 'isRetryable', 'kind', 'retryAfterMillis', 'status']);
  expect(context['kind']).to.be.a('string');
  expect(context['isFatal']).to.be.a('boolean');
  expect(context['isRetryable']).to.be.a('boolean');
  expect(context['status'] === null || Number.isInteger(context['status'])).to.be.true;
  expect(context['retryAfterMillis']).to.equal(null);
  expect(suggestion).to.be.a('string').that.is.not.empty;
}

/** Searches for the key, and its encoded forms, in everything that a log or a report could print of a value. */
function expectNoKey(value: unknown): void {
  const { message, stack, cause, suggestion, context } = value as Partial<FairnessToolkitError>;
  const printed = [
    inspect(value, { depth: 12, showHidden: true, getters: true, maxStringLength: null }),
    JSON.stringify([value, message, stack, suggestion, context]),
    cause instanceof Error ? `${cause.message}${cause.stack ?? ''}` : '',
    String(value),
  ].join('\n');
  for (const form of [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64')]) {
    expect(printed).to.not.include(form);
  }
}
