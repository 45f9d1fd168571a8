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
import { ANSWER, fault } from '../scheduler/stand-in-client.ts';
import { rejectionOf } from './rejection-of.ts';

const IDENTITY = { provider: 'openai', baseUrl: null, model: 'm' };

describe('withCache', () => {
  const folder = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  let number = 0;
  const freshCache = () => new ResponseCache({ cacheDir: path.join(folder(), `${number++}`) });
  const counting = (react: (prompt: string, place: number) => Error | string = (_, place) => `answer ${place}`) => {
    const seen: (CompletionOptions & { prompt: string })[] = [];
    const complete: LLMClient['complete'] = async (prompt, options) => {
      const place = seen.push({ ...options, prompt });
      await new Promise((resolve) => setImmediate(resolve));
      const reaction = react(prompt, place);
      if (reaction instanceof Error) throw reaction;
      return { ...ANSWER, text: reaction };
    };
    return { seen, client: { id: 'counting', complete } };
  };

  it('asks what it does not know, keeps it under the key of all that was asked, and asks no more', async () => {
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

  it('tells repeats and params apart', async () => {
    const { client, seen } = counting();
    const cached = withCache(client, freshCache(), IDENTITY);
    for (const options of [{}, { repeat: 1 }, { params: { a: 1 } }, { params: { a: 2 } }])
      await cached.complete('Why?', options);
    expect(seen).to.have.length(4);
    await cached.complete('Why?', { repeat: 0, params: {} });
    expect(seen).to.have.length(4);
  });

  it('makes one call of many at the same time', async () => {
    const { client, seen } = counting();
    const cached = withCache(client, freshCache(), IDENTITY);
    const answers = await Promise.all(Array.from({ length: 20 }, () => cached.complete('Why?')));
    expect(seen).to.have.length(1);
    expect(answers.map(({ text }) => text)).to.deep.equal(Array(20).fill('answer 1'));
    // One was sent; what was not sent must not be counted as if it were.
    expect(answers.filter((answer) => answer.cached)).to.have.length(19);
  });

  it('keeps no error: the next call asks again, and so does one that waited', async () => {
    const { client, seen } = counting((_, place) => (place === 1 ? fault('server') : 'fine'));
    const cached = withCache(client, freshCache(), IDENTITY);
    const [first, second] = await Promise.allSettled([cached.complete('Why?'), cached.complete('Why?')]);
    expect(first.status).to.equal('rejected');
    expect(second).to.have.nested.property('value.text', 'fine');
    expect(seen).to.have.length(2);
    expect(first).to.have.property('reason').that.is.instanceOf(LLMClientError);
  });

  it('says what is missing, why it may not be asked, and what to do', async () => {
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

  it('gives what is known where nothing may be asked', async () => {
    const cache = freshCache();
    const { client } = counting();
    await withCache(client, cache, IDENTITY).complete('Why?');
    const replay = withCache(client, cache, IDENTITY, { isLiveAllowed: false });
    expect((await replay.complete('Why?')).text).to.equal('answer 1');
  });

  it('gives an answer that the disk does not take, and tells once', async () => {
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
