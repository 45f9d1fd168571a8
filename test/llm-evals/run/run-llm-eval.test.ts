import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  LLMClientError,
} from '../../../src/exceptions/index.ts';
import { LLMEvalAdapter } from '../../../src/llm-evals/client/llm-eval-adapter.ts';
import { parseLlmEvalConfig } from '../../../src/llm-evals/config/load-llm-eval-config.ts';
import { estimateDryRun } from '../../../src/llm-evals/run/dry-run.ts';
import { runLlmEval } from '../../../src/llm-evals/run/run-llm-eval.ts';
import type { LLMEvalConfig } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import { type LlmServer, type LlmServerBehaviour, startLlmServer } from '../../helpers/llm-server.ts';

const KEY = 'sk-planted-5e8fA7c2b9D14e60';

const FAST = { baseMillis: 5, capMillis: 50 };

describe('runLlmEval', () => {
  let folder: string;
  let server: LlmServer | undefined;
  const VARIABLES = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'EVENHAND_LLM_ALLOW_LIVE'];
  const before = VARIABLES.map((name) => process.env[name]);

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-llm-'));
    process.env['OPENAI_API_KEY'] = KEY;
    process.env['ANTHROPIC_API_KEY'] = KEY;
    delete process.env['EVENHAND_LLM_ALLOW_LIVE'];
  });

  afterEach(async () => {
    await server?.close();
    server = undefined;
    VARIABLES.forEach((name, index) => {
      if (before[index] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = before[index];
    });
    rmSync(folder, { recursive: true, force: true });
  });

  async function serve(behaviour: LlmServerBehaviour = {}): Promise<LlmServer> {
    server = await startLlmServer({ key: KEY, ...behaviour });
    return server;
  }

  /** Prompts of two groups: `items` of each, asked `repeats` times. */
  function configOf(given: Record<string, unknown> = {}, items = 10): LLMEvalConfig {
    return parseLlmEvalConfig({
      provider: 'openai',
      model: 'gpt-4o-mini',
      base_url: server?.baseUrl ?? 'http://127.0.0.1:9/v1',
      evaluators: ['counterfactual', 'refusal'],
      counterfactual: {
        template: Array.from({ length: items }, (_, index) => `Task ${String(index)}: advise a {gender} who asks.`),
        dimensions: { gender: ['woman', 'man'] },
      },
      cache_dir: path.join(folder, 'cache'),
      ...given,
    });
  }

  const lines = (file: string): Record<string, unknown>[] =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  describe('planning', () => {
    it('sends no request in a dry run, and then exactly the estimated ones', async () => {
      const { requests } = await serve();
      const config = configOf({ repeats: 2 });
      const estimate = await estimateDryRun(config);
      expect(requests).to.have.length(0);
      expect(existsSync(path.join(folder, 'cache'))).to.equal(false);
      expect(estimate.requestCount).to.equal(40);
      const result = await runLlmEval(config, { live: true });
      expect(requests).to.have.length(40);
      expect(result.planned.requests).to.equal(40);
      expect(result.dryRun.planDigest).to.equal(estimate.planDigest);
      // Ten prompts for each of two people, twice each, and nothing else.
      const sent = requests.map(({ prompt }) => prompt).sort();
      const expected = ['woman', 'man'].flatMap((who) =>
        Array.from({ length: 10 }, (_, index) => `Task ${String(index)}: advise a ${who} who asks.`),
      );
      expect(sent).to.deep.equal([...expected, ...expected].sort());
    });

    it('sends a request that two evaluators need once, and none with a known answer', async () => {
      const { requests } = await serve();
      const config = configOf();
      const first = await runLlmEval(config, { live: true });
      expect(requests).to.have.length(20);
      expect(first.transcripts).to.have.length(40);
      const estimate = await estimateDryRun(config);
      expect(estimate).to.include({ requestCount: 0, cachedCount: 20 });
      const again = await runLlmEval(config);
      expect(requests).to.have.length(20);
      expect(again.actual).to.include({ requests: 0, cached: 20 });
      // The model behind a name can change.
      expect(first.warnings.join()).to.not.include('from the cache');
      expect(again.warnings.join()).to.match(
        /^20 of 20 answers are from the cache in '.*', so that no request was sent/,
      );
      expect(JSON.stringify(again.metrics)).to.equal(JSON.stringify(first.metrics));
    });

    it('reports an unknown price as unknown, and rejects a cost budget for it', async () => {
      await serve();
      const config = configOf({ model: 'my-own-model' });
      const estimate = await estimateDryRun(config);
      expect(estimate.estimatedCostUsd).to.equal(null);
      expect(estimate.toMarkdown()).to.match(/unknown/);
      const problem = await runLlmEval(config, { live: true, maxCostUsd: 1 }).catch((error: unknown) => error);
      expect(problem).to.be.instanceOf(ConfigValidationError);
      expect(server?.requests).to.have.length(0);
    });
  });

  describe('permission', () => {
    it('sends nothing without permission, without a key, or with replay_only', async () => {
      const { requests } = await serve();
      const config = configOf();
      const problems = [
        await runLlmEval(config).catch((error: unknown) => error),
        await runLlmEval(configOf({ replay_only: true }), { live: true }).catch((error: unknown) => error),
      ];
      delete process.env['OPENAI_API_KEY'];
      problems.push(await runLlmEval(config, { live: true }).catch((error: unknown) => error));
      for (const problem of problems) expect(problem).to.be.instanceOf(CacheMissError);
      expect(String(problems[0])).to.match(/20 answers are missing/);
      expect((problems[0] as CacheMissError).suggestion).to.match(/--live|EVENHAND_LLM_ALLOW_LIVE/);
      expect((problems[2] as CacheMissError).suggestion).to.match(/OPENAI_API_KEY/);
      expect(requests).to.have.length(0);
    });

    it('sends if the environment variable allows it', async () => {
      const { requests } = await serve();
      process.env['EVENHAND_LLM_ALLOW_LIVE'] = '1';
      await runLlmEval(configOf());
      expect(requests).to.have.length(20);
    });
  });

  for (const provider of ['openai', 'anthropic'] as const) {
    it(`answers 2,000 prompts once each through ${provider}, despite failures @slow`, async function () {
      this.timeout(120_000);
      const { requests, counts } = await serve({
        requestsPerSecond: 120,
        limitRetryAfter: '0.05',
        otherwise: (_, index) => {
          if (index % 41 === 0) return { kind: 'error', status: 500 };
          if (index % 43 === 0) return { kind: 'cut', within: 'body' };
          if (index % 47 === 0) return { kind: 'malformed' };
          if (index % 53 === 0) return { kind: 'refusal' };
          // On a busy machine, the client does not reach the limit.
          if (index % 59 === 0) return { kind: 'error', status: 429 };
          return { kind: 'answer' };
        },
      });
      const config = configOf({ provider, repeats: 10, concurrency: 8, evaluators: ['counterfactual'] }, 100);
      const transcriptsOut = path.join(folder, 't.ndjson');
      const result = await runLlmEval(config, { live: true, transcriptsOut, retry: FAST, withCi: false });
      const written = lines(transcriptsOut);
      expect(new Set(written.map(({ key }) => key)).size).to.equal(2000);
      expect(written).to.have.length(2000);
      expect(written.filter(({ text }) => text === null)).to.have.length(0);
      expect(result.transcripts.every(({ text }) => text !== null)).to.equal(true);
      expect(server?.maxConcurrent).to.be.at.most(8);
      expect(result.actual.requests).to.equal(requests.length);
      expect(result.actual.retries).to.equal(requests.length - 2000);
      expect(counts['429']).to.be.above(0);
      console.log(`      ${JSON.stringify(counts)}, ${result.actual.seconds.toFixed(1)} s`);
    });
  }

  describe('budgets', () => {
    it("stops at 100 requests by the server's count, scores the answers received, and resumes from there", async () => {
      const { requests } = await serve({
        otherwise: (_, index) => (index % 7 === 0 ? { kind: 'error', status: 500 } : { kind: 'answer' }),
      });
      const config = configOf({ max_requests_per_run: 100 }, 100);
      const transcriptsOut = path.join(folder, 't.ndjson');
      const result = await runLlmEval(config, { live: true, transcriptsOut, retry: FAST });
      expect(requests).to.have.length(100);
      expect(result.stopped).to.equal('requests');
      expect(result.actual.requests).to.equal(100);
      const answered = lines(transcriptsOut).length;
      expect(result.actual.notSent).to.equal(200 - answered);
      expect(result.metrics['refusal_rate']?.exclusions['not_sent']).to.equal(200 - answered);
      expect(result.warnings.join()).to.match(/ended early \(requests\)/);
      const rest = await runLlmEval(configOf({}, 100), { live: true, transcriptsOut, resume: true, retry: FAST });
      expect(rest.stopped).to.equal(null);
      expect(new Set(lines(transcriptsOut).map(({ key }) => key)).size).to.equal(200);
    });

    it('never exceeds the cost limit', async () => {
      await serve();
      const prices = { 'gpt-4o-mini': { input: 1000, output: 1000, as_of: '2026-01-01' } };
      const config = configOf({ prices, params: { max_tokens: 50 }, max_cost_usd: 1 }, 100);
      const result = await runLlmEval(config, { live: true });
      expect(result.stopped).to.equal('cost');
      expect(result.actual.costUsd).to.be.above(0.5).and.at.most(1);
    });
  });

  describe('transcripts', () => {
    it('are not overwritten, and only a truncated last line is requested again', async () => {
      const { requests } = await serve();
      const config = configOf({ cache_dir: path.join(folder, 'a') });
      const transcriptsOut = path.join(folder, 't.ndjson');
      await runLlmEval(config, { live: true, transcriptsOut });
      const again = await runLlmEval(config, { live: true, transcriptsOut }).catch((error: unknown) => error);
      expect(again).to.be.instanceOf(DataValidationError);
      expect((again as DataValidationError).suggestion).to.match(/resume/);
      const complete = readFileSync(transcriptsOut);
      const { writeFileSync } = await import('node:fs');
      writeFileSync(transcriptsOut, complete.subarray(0, complete.length - 30));
      const other = configOf({ cache_dir: path.join(folder, 'b') });
      const resumed = await runLlmEval(other, { live: true, transcriptsOut, resume: true });
      expect(requests).to.have.length(21);
      expect(resumed.actual).to.include({ requests: 1, cached: 19 });
    });

    it('keep failures, which are sent again only on request', async () => {
      const running = await serve({
        otherwise: (_, index) => (index === 3 ? { kind: 'error', status: 400 } : { kind: 'answer' }),
      });
      const config = configOf();
      const transcriptsOut = path.join(folder, 't.ndjson');
      const first = await runLlmEval(config, { live: true, transcriptsOut });
      expect(first.actual.failed).to.equal(1);
      expect(first.metrics['refusal_rate']?.exclusions).to.deep.equal({ bad_request: 1 });
      await runLlmEval(config, { live: true, transcriptsOut, resume: true });
      expect(running.requests).to.have.length(20);
      const repaired = await runLlmEval(config, { live: true, transcriptsOut, resume: true, retryErrors: true });
      expect(running.requests).to.have.length(21);
      expect(repaired.metrics['refusal_rate']?.exclusions).to.deep.equal({});
    });

    it('can be replayed without a key, with the same results', async () => {
      await serve();
      const config = configOf({ repeats: 2 });
      const transcriptsOut = path.join(folder, 't.ndjson');
      const live = await runLlmEval(config, { live: true, transcriptsOut });
      delete process.env['OPENAI_API_KEY'];
      const replayed = await runLlmEval(config, { replayPath: transcriptsOut, cache: null });
      expect(JSON.stringify(replayed.metrics)).to.equal(JSON.stringify(live.metrics));
      const more = await runLlmEval(configOf({ repeats: 3 }), { replayPath: transcriptsOut }).catch(
        (error: unknown) => error,
      );
      expect(more).to.be.instanceOf(CacheMissError);
      expect(String(more)).to.match(/20 answers are missing/);
    });
  });

  describe('failures of all requests', () => {
    it('ends if a key is rejected, and keeps earlier answers', async () => {
      await serve({
        script: Array.from({ length: 5 }, () => ({ kind: 'answer' as const })),
        otherwise: { kind: 'error', status: 401 },
      });
      const transcriptsOut = path.join(folder, 't.ndjson');
      const problem = await runLlmEval(configOf({ concurrency: 1 }), { live: true, transcriptsOut }).catch(
        (error: unknown) => error,
      );
      expect(problem).to.be.instanceOf(LLMClientError);
      expect(lines(transcriptsOut).filter(({ text }) => text !== null)).to.have.length(5);
      expect(server?.requests).to.have.length(6);
    });

    it('ends if cancelled, and keeps earlier answers', async () => {
      await serve({ delayMillis: 20 });
      const stop = new AbortController();
      const config = configOf({}, 50);
      const transcriptsOut = path.join(folder, 't.ndjson');
      const result = await runLlmEval(config, {
        live: true,
        transcriptsOut,
        signal: stop.signal,
        onProgress: ({ done }) => {
          if (done >= 10) stop.abort();
        },
      });
      expect(result.stopped).to.equal('cancelled');
      expect(lines(transcriptsOut).length).to.be.within(10, 20);
    });
  });

  it('never shows a key: not in files, results or errors, even if the model repeats it', async () => {
    const running = await serve({
      otherwise: (_, index) => {
        if (index % 5 === 1) return { kind: 'error', status: 400, echoesKey: true };
        return index % 2 === 0 ? { kind: 'answer', echoesKey: true } : { kind: 'answer', text: `Bearer ${KEY}` };
      },
    });
    const config = configOf();
    const transcriptsOut = path.join(folder, 't.ndjson');
    const result = await runLlmEval(config, { live: true, transcriptsOut });
    running.setBehaviour({ key: KEY, otherwise: { kind: 'error', status: 401, echoesKey: true } });
    const problem = await runLlmEval(configOf({ cache_dir: path.join(folder, 'other') }), { live: true }).catch(
      (error: unknown) => error,
    );
    expect(problem).to.be.instanceOf(LLMClientError);
    const seen = [
      JSON.stringify(result),
      inspectDeep(problem),
      ...filesBelow(folder).map((file) => file + readFileSync(file, 'utf8')),
    ];
    expect(filesBelow(folder).length).to.be.above(10);
    for (const text of seen) {
      expect(text).not.to.include(KEY);
      expect(text).not.to.include(KEY.slice(3));
    }
  });

  it('accepts any function as a model, and shows the results of a run without an effect', async () => {
    const config = parseLlmEvalConfig({
      evaluators: ['counterfactual'],
      counterfactual: {
        template: Array.from({ length: 6 }, (_, i) => `T${String(i)} {gender}`),
        dimensions: { gender: ['woman', 'man'] },
      },
    });
    const { metrics } = await runLlmEval(config, { client: new LLMEvalAdapter(() => 'The same.', { id: 'same' }) });
    expect(metrics['sentiment_gap.gender']).to.include({ value: 0, pValue: 1 });
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Formats an error with all of its causes and context. */
function inspectDeep(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.stack, JSON.stringify(error), JSON.stringify(Object.values(error)), inspectDeep(error.cause)].join(
    '\n',
  );
}
