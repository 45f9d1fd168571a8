import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { expect } from 'chai';

import {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  LLMClientError,
} from '../../../src/exceptions/index.ts';
import {
  CounterfactualFairnessEvaluator,
  type Embedder,
  getEmbedder,
  LLMEvalAdapter,
  parseLlmEvalConfig,
  runLlmEval,
} from '../../../src/llm-evals/index.ts';
import { plannedMetrics } from '../../../src/llm-evals/run/score-run.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

interface Received {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: { readonly model: string; readonly input: readonly string[] };
}

/** A vector with a known angle for each text: 0, 60 or 90 degrees. */
const VECTORS: Readonly<Record<string, readonly number[]>> = {
  east: [2, 0],
  between: [1, Math.sqrt(3)],
  north: [0, 5],
};

describe('getEmbedder', () => {
  const folder = useTemporaryFolder();
  const received: Received[] = [];
  let server: Server;
  let baseUrl = '';
  let count = 0;

  before(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const body = JSON.parse(text) as Received['body'];
        received.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
        const vectors = body.input.map((each) => VECTORS[each] ?? []);
        const isOllama = request.url === '/api/embed';
        const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(isOllama ? { embeddings: vectors } : { data, usage: { prompt_tokens: 1 } }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  beforeEach(() => received.splice(0));
  after(() => new Promise((resolve) => server.close(resolve)));

  const common = () => ({ model: 'm', baseUrl, cacheDir: path.join(folder(), `cache-${String(count++)}`), live: true });

  it('posts to /embeddings with the key, and embeds each text only once', async () => {
    const options = { ...common(), provider: 'openai', env: { OPENAI_API_KEY: 'a-key' } } as const;
    expect(await getEmbedder(options)(['east', 'north'])).to.deep.equal([VECTORS['east'], VECTORS['north']]);
    expect(received.map(({ path: url }) => url)).to.deep.equal(['/embeddings', '/embeddings']);
    expect(received[0]?.authorization).to.equal('Bearer a-key');
    expect(received.map(({ body }) => body)).to.deep.include({ model: 'm', input: ['east'] });
    // The cache answers another embedder, also without permission.
    const again = getEmbedder({ ...options, live: false });
    expect(await again(['north', 'east'])).to.deep.equal([VECTORS['north'], VECTORS['east']]);
    expect(received).to.have.length(2);
  });

  it('posts to /api/embed of ollama without a key', async () => {
    const embed = getEmbedder({ ...common(), provider: 'ollama', env: {} });
    expect(await embed(['between'])).to.deep.equal([VECTORS['between']]);
    expect(received).to.deep.equal([
      { path: '/api/embed', authorization: undefined, body: { model: 'm', input: ['between'] } },
    ]);
    expect(embed.label).to.equal('ollama:m');
  });

  it('sends nothing without permission, without a key, or to a host that the environment does not name', async () => {
    const none = getEmbedder({ ...common(), provider: 'compatible', live: false, env: {} });
    expect(await none(['east']).catch((error: unknown) => error)).to.be.instanceOf(CacheMissError);
    const noKey = getEmbedder({ ...common(), provider: 'openai', env: {} });
    expect(await noKey(['east']).catch((error: unknown) => error)).to.be.instanceOf(CacheMissError);
    const env = { OPENAI_API_KEY: 'a-key' };
    expect(() => getEmbedder({ ...common(), provider: 'openai', baseUrl: 'https://example.org/v1', env })).to.throw(
      ConfigValidationError,
      'is not sent to example.org',
    );
    expect(received).to.deep.equal([]);
  });

  it('is used by a run whose configuration has an embedding, and only if requests are allowed', async () => {
    const texts = ['east', 'north'];
    const config = parseLlmEvalConfig({
      evaluators: ['counterfactual'],
      counterfactual: {
        template: Array.from({ length: 5 }, (_, index) => `Case ${String(index)}: where does the {gender} go?`),
        dimensions: { gender: ['woman', 'man'] },
      },
      repeats: 2,
      cache_dir: path.join(folder(), 'run'),
      embedding: { provider: 'ollama', model: 'm', base_url: baseUrl },
    });
    let asked = 0;
    const client = new LLMEvalAdapter(() => texts[asked++ % 2] ?? '');
    const refused = await runLlmEval(config, { client }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(CacheMissError);
    expect((refused as Error).message).to.include('Embeddings cannot be requested, and no prompt was sent');
    expect(asked).to.equal(0);
    const { metrics } = await runLlmEval(config, { client, live: true });
    expect(received.map(({ body }) => body.input[0]).sort()).to.deep.equal(texts);
    expect(metrics['embedding_excess.gender']?.value).to.be.a('number').that.is.not.NaN;
  });

  it('stops at maxRequests, and reports an answer without an embedding', async () => {
    const embed = getEmbedder({ ...common(), provider: 'ollama', env: {}, maxRequests: 2, concurrency: 1 });
    const error = await embed(['east', 'north', 'between']).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.include('More than 2 texts would be embedded');
    expect(received).to.have.length(2);
    const other = getEmbedder({ ...common(), provider: 'compatible', env: {}, retry: { retries: 0 } });
    const malformed = await other(['unknown text']).catch((thrown: unknown) => thrown);
    expect(malformed).to.be.instanceOf(LLMClientError);
    expect((malformed as Error).message).to.include('returned no embedding');
  });
});

describe('embedding_excess', () => {
  const jobs = ['nurse', 'pilot', 'cook', 'clerk', 'judge', 'baker'];
  const config = parseLlmEvalConfig({
    evaluators: ['counterfactual'],
    counterfactual: {
      template: jobs.map((job) => `Write a reference for a {gender} who works as a ${job}.`),
      dimensions: { gender: ['woman', 'man'] },
    },
    repeats: 2,
  });

  /** Answers "east" or "between" to prompts about women, and `other` or "between" to prompts about men. */
  async function excessOf(other: string, embed: Embedder) {
    const asked = new Map<string, number>();
    const client = new LLMEvalAdapter((prompt: string) => {
      const repeat = asked.get(prompt) ?? 0;
      asked.set(prompt, repeat + 1);
      return repeat === 1 ? 'between' : prompt.includes('woman') ? 'east' : other;
    });
    const evaluators = [new CounterfactualFairnessEvaluator({ embed })];
    const { metrics } = await runLlmEval(config, { client, evaluators });
    return metrics['embedding_excess.gender'];
  }

  const known: Embedder = (texts) => Promise.resolve(texts.map((text) => VECTORS[text] ?? [1, 1]));

  it('is the cosine distance between groups minus the distance within groups', async () => {
    const excess = await excessOf('north', known);
    // Distances: east to between 1 - cos 60 = 0.5, between to north 1 - cos 30, east to north 1.
    const [eastBetween, betweenNorth] = [0.5, 1 - Math.sqrt(3) / 2];
    const between = (1 + eastBetween + betweenNorth + 0) / 4;
    expect(excess?.value).to.be.closeTo(between - (eastBetween + betweenNorth) / 2, 1e-12);
    expect(excess?.n).to.equal(6);
  });

  it('is not above 0 if both groups get the same answers', async () => {
    const excess = await excessOf('east', known);
    // Between groups: 0, 0.5, 0.5 and 0. Within groups: 0.5.
    expect(excess?.value).to.be.closeTo(0.25 - 0.5, 1e-12);
  });

  it('rejects vectors that cannot be compared', async () => {
    for (const [embed, message] of [
      [() => Promise.resolve([[1, 2]]), /1 vectors for 3 texts/],
      [
        (texts: readonly string[]) => Promise.resolve(texts.map((_, index) => (index === 0 ? [1] : [1, 2]))),
        /vectors of 1 and of 2 numbers/,
      ],
      [(texts: readonly string[]) => Promise.resolve(texts.map(() => [0, 0])), /vector 0 is/],
      [(texts: readonly string[]) => Promise.resolve(texts.map(() => [NaN, 1])), /vector 0 is/],
    ] as const) {
      const error = await excessOf('north', embed).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(message);
    }
  });

  it('exists only with an embedder, and is named before a request is sent', async () => {
    expect(await plannedMetrics(config)).not.to.include.keys('embedding_excess.gender');
    const evaluators = [new CounterfactualFairnessEvaluator({ embed: known })];
    expect(await plannedMetrics(config, { evaluators })).to.include.keys('embedding_excess.gender');
  });
});
