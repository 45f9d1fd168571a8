import { expect } from 'chai';

import { CacheMissError, DataValidationError } from '../../../src/exceptions/index.ts';
import { createReplayClient } from '../../../src/llm-evals/client/replay-client.ts';
import { answerRecord, errorOf, problemOf } from './llm-clients.ts';

describe('a replay', () => {
  it('returns the recorded answer', async () => {
    const client = createReplayClient([
      answerRecord(),
      answerRecord({ repeat: 1, text: 'Again.', finishReason: 'refusal', isRefusal: true, outputTokens: null }),
      answerRecord({ prompt: '0 Hello there', text: 'Another prompt.', finishReason: null }),
    ]);
    expect(client.id).to.equal('replay:openai:a-model');
    expect(await client.complete('Hello there')).to.deep.equal({
      text: 'Hello to you.',
      finishReason: 'stop',
      usage: { inputTokens: 2, outputTokens: 4 },
      cached: true,
      latencyMillis: 12,
    });
    const again = await client.complete('Hello there', { repeat: 1, params: { temperature: 1 } });
    expect(again).to.deep.include({ text: 'Again.', finishReason: 'refusal', isRefusal: true, usage: null });
    expect(await client.complete('0 Hello there')).to.include({ text: 'Another prompt.', finishReason: 'other' });
  });

  it('treats an empty answer as an answer', async () => {
    const client = createReplayClient([answerRecord({ text: '' })]);
    expect((await client.complete('Hello there')).text).to.equal('');
  });

  it('misses a repeat beyond the recorded ones, without replacing it by another', async () => {
    const prompt = `Write a long letter about ${'x'.repeat(200)}`;
    const client = createReplayClient([answerRecord({ prompt })]);
    const error = await errorOf(client.complete(prompt, { repeat: 1 }));
    expect(error).to.be.instanceOf(CacheMissError);
    const { message, suggestion } = error as CacheMissError;
    expect(message).to.include("answer 1 (from 0) to the prompt 'Write a long letter about xxx").and.include('…');
    expect(message.length).to.be.below(160);
    expect(suggestion).to.include('repeats');
  });

  for (const prompt of ['Hello', 'hello there', 'Hello there ', '']) {
    it(`misses '${prompt}'`, async () => {
      expect(await errorOf(createReplayClient([answerRecord()]).complete(prompt))).to.be.instanceOf(CacheMissError);
      expect(await errorOf(createReplayClient([]).complete(prompt))).to.be.instanceOf(CacheMissError);
    });
  }

  it('fails like the recorded request, without a retry and without ending the run', async () => {
    const failed = answerRecord({ text: null, error: { kind: 'rate_limit', message: 'too many' } });
    const problem = await problemOf(createReplayClient([failed]).complete('Hello there'));
    expect(problem).to.include({ kind: 'rate_limit', isRetryable: false, isFatal: false });
    expect(problem.error.message).to.include('too many');
  });

  it('misses a prompt that was not sent', async () => {
    const failed = answerRecord({ text: null, error: { kind: 'not_sent', message: 'the budget was spent' } });
    expect(await errorOf(createReplayClient([failed]).complete('Hello there'))).to.be.instanceOf(CacheMissError);
  });

  const failure = answerRecord({ text: null, error: { kind: 'server', message: 'overloaded' } });
  for (const [title, records, text] of [
    ['an answer after a failure counts', [failure, answerRecord()], 'Hello to you.'],
    ['a failure after an answer does not', [answerRecord(), failure], 'Hello to you.'],
    ['the last of two answers to one request counts', [answerRecord(), answerRecord({ text: 'Later.' })], 'Later.'],
    ['the same answer under two keys is one', [answerRecord(), answerRecord({ key: 'l' })], 'Hello to you.'],
  ] as const) {
    it(title, async () => {
      expect((await createReplayClient(records).complete('Hello there')).text).to.equal(text);
    });
  }

  it('rejects answers of two models to one prompt', () => {
    const rival = answerRecord({ key: 'l', model: 'anthropic:b-model', text: 'Good day.' });
    expect(() => createReplayClient([answerRecord(), rival]))
      .to.throw(DataValidationError, 'by openai:a-model and by anthropic:b-model. The second answer is at index 1')
      .with.property('context')
      .that.includes({ argument: 'records', index: 1 });
    const other = answerRecord({ key: 'l', text: 'Good day.' });
    expect(() => createReplayClient([answerRecord(), other])).to.throw(DataValidationError, 'other params');
  });

  it('has the given id, or a common one for several models', () => {
    const other = answerRecord({ prompt: 'x', model: 'b-model' });
    expect(createReplayClient([answerRecord(), other]).id).to.equal('replay:records');
    expect(createReplayClient([], { id: 'mine' }).id).to.equal('mine');
  });
});
