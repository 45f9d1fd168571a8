import { expect } from 'chai';

import { CacheMissError, LLMClientError, ValueError } from '../../../src/exceptions/index.ts';
import { type AnswerFunction, LLMEvalAdapter } from '../../../src/llm-evals/client/llm-eval-adapter.ts';
import type { Completion, CompletionOptions, LLMClient } from '../../../src/llm-evals/client/llm-client.ts';
import { errorOf, problemOf } from './llm-clients.ts';

const usage = { inputTokens: 1, outputTokens: 2 };

describe('LLMEvalAdapter of a function', () => {
  const cases: readonly (readonly [title: string, answer: AnswerFunction, expected: Partial<Completion>])[] = [
    ['that gives a text', () => 'Hello', { text: 'Hello', finishReason: 'stop', usage: null, cached: false }],
    ['that gives an empty text', () => '', { text: '' }],
    ['that promises one', () => Promise.resolve('Hello'), { text: 'Hello' }],
    ['that gives an object', () => ({ text: 'Hello' }), { text: 'Hello', finishReason: 'stop' }],
    [
      'that knows more',
      () => ({ text: 'No.', finishReason: 'refusal', isRefusal: true, usage, cached: true, latencyMillis: 7 }),
      { text: 'No.', finishReason: 'refusal', isRefusal: true, usage, cached: true, latencyMillis: 7 },
    ],
  ];
  for (const [title, answer, expected] of cases) {
    it(title, async () => {
      expect(await new LLMEvalAdapter(answer).complete('Hello there')).to.deep.include(expected);
    });
  }

  it('passes the prompt, the params, the repeat and the signal', async () => {
    const seen: unknown[] = [];
    const adapter = new LLMEvalAdapter((prompt, options) => {
      seen.push([prompt, options.params, options.repeat, options.signal]);
      return '';
    });
    const { signal } = new AbortController();
    await adapter.complete('first');
    await adapter.complete('second', { params: { temperature: 1 }, repeat: 3, signal });
    expect(seen).to.deep.equal([
      ['first', {}, 0, undefined],
      ['second', { temperature: 1 }, 3, signal],
    ]);
  });

  it('uses the name of the function as the id, or the given id', () => {
    function myModel(): string {
      return '';
    }
    expect(new LLMEvalAdapter(myModel).id).to.equal('function:myModel');
    expect(new LLMEvalAdapter(() => '').id).to.equal('function:anonymous');
    expect(new LLMEvalAdapter(myModel, { id: 'mine' }).id).to.equal('mine');
  });
});

describe('failures of LLMEvalAdapter', () => {
  it('reports the error of a function as the cause', async () => {
    const thrown = new TypeError('no weights');
    const throwing: AnswerFunction[] = [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ];
    for (const answer of throwing) {
      const problem = await problemOf(new LLMEvalAdapter(answer).complete('Hello there'));
      expect(problem).to.include({ kind: 'function', isRetryable: false, isFatal: false, status: null });
      expect(problem.error.cause).to.equal(thrown);
      expect(problem.error.message).to.include('no weights');
    }
  });

  for (const [status, isRetryable] of [
    [429, true],
    [503, true],
    [400, false],
    ['503', false],
    [0, false],
  ] as const) {
    it(`an error with the status ${JSON.stringify(status)} may${isRetryable ? '' : ' not'} be worth another attempt`, async () => {
      const thrown = Object.assign(new Error('from an SDK'), { status });
      const problem = await problemOf(new LLMEvalAdapter(() => Promise.reject(thrown)).complete('Hello there'));
      expect(problem.isRetryable).to.equal(isRetryable);
      expect(problem.status).to.equal(typeof status === 'number' && status > 0 ? status : null);
    });
  }

  const problem = { kind: 'quota', status: 429, isRetryable: false, isFatal: true, retryAfterMillis: null };
  for (const thrown of [new CacheMissError('not known'), new LLMClientError('used up', { context: problem })]) {
    it(`a client's own ${thrown.name} passes as it is`, async () => {
      expect(await errorOf(new LLMEvalAdapter(() => Promise.reject(thrown)).complete('Hello there'))).to.equal(thrown);
    });
  }

  for (const thrown of [
    new ValueError('odd'),
    new LLMClientError('not whole', { context: { kind: 'quota' } }),
    'text',
    undefined,
  ]) {
    it(`wraps a thrown value that is not an error of a client: ${String(thrown)}`, async () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- users' functions throw anything
      const { kind, error } = await problemOf(new LLMEvalAdapter(() => Promise.reject(thrown)).complete('Hello there'));
      expect(kind).to.equal('function');
      expect(error.cause).to.equal(thrown);
    });
  }

  const wrong: readonly (readonly [given: unknown, told: string])[] = [
    [undefined, 'Got undefined'],
    [null, 'Got null'],
    [42, 'Got the number 42'],
    [['Hello'], 'Got a list'],
    [{}, 'an object with a string as text. Got undefined'],
    [{ text: 4 }, 'an object with a string as text. Got the number 4'],
    [{ text: 'a', finishReason: 'end' }, 'as finishReason. Got a text'],
    [{ text: 'a', isRefusal: 'no' }, 'as isRefusal. Got a text'],
    [{ text: 'a', usage: { inputTokens: -1, outputTokens: 0 } }, 'as usage'],
    [{ text: 'a', usage: 3 }, 'as usage'],
  ];
  for (const [given, reported] of wrong) {
    it(`a function that gives ${JSON.stringify(given)}`, async () => {
      const problem = await problemOf(new LLMEvalAdapter((() => given) as AnswerFunction).complete('Hello there'));
      expect(problem).to.include({ kind: 'function', isRetryable: false });
      expect(problem.error.message).to.include(reported);
    });
  }

  for (const target of [null, undefined, 'text', {}, { id: 4, complete: () => '' }, { id: 'x' }]) {
    it(`a target that is ${JSON.stringify(target)}`, () => {
      expect(() => new LLMEvalAdapter(target as never)).to.throw(ValueError, 'The target parameter must be a function');
    });
  }
});

describe('cancellation of LLMEvalAdapter', () => {
  it('ends the request at once even if the function ignores the signal', async () => {
    const controller = new AbortController();
    const adapter = new LLMEvalAdapter(() => new Promise<string>(() => undefined));
    const work = problemOf(adapter.complete('Hello there', { signal: controller.signal }));
    setTimeout(() => {
      controller.abort();
    }, 10);
    expect((await work).kind).to.equal('cancelled');
  });

  it('does not call the function if the signal is already aborted', async () => {
    let calls = 0;
    const adapter = new LLMEvalAdapter(() => String(calls++));
    await problemOf(adapter.complete('Hello there', { signal: AbortSignal.abort() }));
    expect(calls).to.equal(0);
  });
});

describe('LLMEvalAdapter of a client', () => {
  class Own implements LLMClient {
    readonly id = 'own/1';
    readonly #text = 'from within';

    complete(prompt: string, options?: CompletionOptions): Promise<Completion> {
      const text = `${this.#text}: ${prompt} ${options?.repeat}`;
      return Promise.resolve({ text, finishReason: 'length', usage, cached: true, latencyMillis: 3 });
    }
  }

  it('keeps its id and its answers', async () => {
    const adapter = new LLMEvalAdapter(new Own());
    expect(adapter.id).to.equal('own/1');
    expect(await adapter.complete('Hello', { repeat: 2 })).to.deep.equal({
      text: 'from within: Hello 2',
      finishReason: 'length',
      usage,
      cached: true,
      latencyMillis: 3,
    });
    expect(new LLMEvalAdapter(new Own(), { id: 'renamed' }).id).to.equal('renamed');
  });
});
