import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { CacheMissError, LLMClientError } from '../../../src/exceptions/index.ts';
import { requestKey } from '../../../src/llm-evals/cache/request-key.ts';
import { ResponseCache } from '../../../src/llm-evals/cache/response-cache.ts';
import { withCache } from '../../../src/llm-evals/cache/with-cache.ts';
import type { CompletionOptions, LLMClient } from '../../../src/llm-evals/client/llm-client.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { ANSWER, problem } from '../scheduler/stub-client.ts';
import { rejectionOf } from './rejection-of.ts';

const IDENTITY = { provider: 'openai', baseUrl: null, model: 'm' };

describe('withCache', () => {
  const folder = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  let number = 0;
  const freshCache = () => new ResponseCache({ cacheDir: path.join(folder(), `${number++}`) });
  const counting = (react: (prompt: string, index: number) => Error | string = (_, index) => `answer ${index}`) => {
    const seen: (CompletionOptions & { prompt: string })[] = [];
    const complete: LLMClient['complete'] = async (prompt, options) => {
      const index = seen.push({ ...options, prompt });
      await new Promise((resolve) => setImmediate(resolve));
      const reaction = react(prompt, index);
      if (reaction instanceof Error) throw reaction;
      return { ...ANSWER, text: reaction };
    };
    return { seen, client: { id: 'counting', complete } };
  };

  it('requests an unknown answer, stores it under the key of the request, and does not request it again', async () => {
    const { client, seen } = counting();
    const cache = freshCache();
    const cached = withCache(client, cache, IDENTITY);
    const options = { params: { temperature: 1 }, repeat: 2 };
    expect(await cached.complete('Why?', options)).to.include({ text: 'answer 1', cached: false });
    expect(await cached.complete('Why?', options)).to.include({ text: 'answer 1', cached: true });
    expect(seen).to.have.length(1);
    expect(seen[0]).to.include({ prompt: 'Why?', repeat: 2, params: options.params });
    expect(await cache.has(requestKey({ ...IDENTITY, prompt: 'Why?', ...options }))).to.be.true;
    expect(cached.id).to.equal('counting');
  });

  it('distinguishes repeats and params', async () => {
    const { client, seen } = counting();
    const cached = withCache(client, freshCache(), IDENTITY);
    for (const options of [{}, { repeat: 1 }, { params: { a: 1 } }, { params: { a: 2 } }])
      await cached.complete('Why?', options);
    expect(seen).to.have.length(4);
    await cached.complete('Why?', { repeat: 0, params: {} });
    expect(seen).to.have.length(4);
  });

  it('combines concurrent calls into one', async () => {
    const { client, seen } = counting();
    const cached = withCache(client, freshCache(), IDENTITY);
    const answers = await Promise.all(Array.from({ length: 20 }, () => cached.complete('Why?')));
    expect(seen).to.have.length(1);
    expect(answers.map(({ text }) => text)).to.deep.equal(Array(20).fill('answer 1'));
    // One request was sent. The others must not count as sent.
    expect(answers.filter((answer) => answer.cached)).to.have.length(19);
  });

  it('stores no errors: the next call sends again, and so does a waiting one', async () => {
    const { client, seen } = counting((_, index) => (index === 1 ? problem('server') : 'fine'));
    const cached = withCache(client, freshCache(), IDENTITY);
    const [first, second] = await Promise.allSettled([cached.complete('Why?'), cached.complete('Why?')]);
    expect(first.status).to.equal('rejected');
    expect(second).to.have.nested.property('value.text', 'fine');
    expect(seen).to.have.length(2);
    expect(first).to.have.property('reason').that.is.instanceOf(LLMClientError);
  });

  it('reports the missing answer, why it may not be requested, and the fix', async () => {
    const { client, seen } = counting();
    const options = { isLiveAllowed: false, liveReason: 'OPENAI_API_KEY is not set' };
    const cached = withCache(client, freshCache(), IDENTITY, options);
    const error = await rejectionOf(cached.complete(`Tell me "why" ${'x'.repeat(500)}`, { repeat: 3 }));
    expect(error).to.be.instanceOf(CacheMissError);
    expect(error.message)
      .to.include('Tell me \\"why\\" xxx')
      .and.to.include('repeat 3')
      .and.to.include('OPENAI_API_KEY is not set');
    expect(error.message.length).to.be.below(200);
    expect(error.suggestion).to.include('--live');
    expect(seen).to.deep.equal([]);
  });

  it('returns known answers if requests are not allowed', async () => {
    const cache = freshCache();
    const { client } = counting();
    await withCache(client, cache, IDENTITY).complete('Why?');
    const replay = withCache(client, cache, IDENTITY, { isLiveAllowed: false });
    expect((await replay.complete('Why?')).text).to.equal('answer 1');
  });

  it('returns an answer that cannot be written to disk, and warns once', async () => {
    const cacheDir = path.join(folder(), 'blocked');
    mkdirSync(folder(), { recursive: true });
    writeFileSync(cacheDir, '');
    const cached = withCache(counting().client, new ResponseCache({ cacheDir }), IDENTITY);
    expect((await cached.complete('one')).text).to.equal('answer 1');
    expect((await cached.complete('two')).text).to.equal('answer 2');
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.include('cannot be saved');
  });
});
