import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { ConfigValidationError, LLMClientError } from '../../../src/exceptions/index.ts';
import { LLMEvalAdapter } from '../../../src/llm-evals/client/llm-eval-adapter.ts';
import { parseLlmEvalConfig } from '../../../src/llm-evals/config/load-llm-eval-config.ts';
import { estimateTokens } from '../../../src/llm-evals/dry-run/estimate-tokens.ts';
import { estimateDryRun } from '../../../src/llm-evals/run/dry-run.ts';
import { estimateTargets } from '../../../src/llm-evals/run/estimate-targets.ts';
import { runLlmEval } from '../../../src/llm-evals/run/run-llm-eval.ts';
import { runLlmTargets } from '../../../src/llm-evals/run/run-llm-targets.ts';
import { readTranscripts } from '../../../src/llm-evals/transcript/read-transcripts.ts';
import type { LLMEvalConfig } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import {
  type LlmAction,
  type LlmServer,
  type LlmServerBehaviour,
  type SeenLlmRequest,
  startLlmServer,
} from '../../helpers/llm-server.ts';

const KEY = 'planted-key-of-conversations';
const FAST = { baseMillis: 1, capMillis: 5 };

/** Conversations of three requests each: two turns of the model, and the last answer. */
function conversation(index: number): object[] {
  return [
    { role: 'system', content: 'You advise people.' },
    { role: 'user', content: `Case ${String(index)}: a {gender} asks for a raise.` },
    { role: 'assistant' },
    { role: 'user', content: 'What may go wrong?' },
    { role: 'assistant' },
    { role: 'user', content: 'So, yes or no?' },
  ];
}

describe('conversations in a run', () => {
  let folder: string;
  let server: LlmServer;
  const before = process.env['OPENAI_API_KEY'];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-conversations-'));
    process.env['OPENAI_API_KEY'] = KEY;
  });

  afterEach(async () => {
    await server.close();
    if (before === undefined) delete process.env['OPENAI_API_KEY'];
    else process.env['OPENAI_API_KEY'] = before;
    rmSync(folder, { recursive: true, force: true });
  });

  async function configFor(given: object = {}, behaviour: LlmServerBehaviour = {}, items = 3): Promise<LLMEvalConfig> {
    server = await startLlmServer({ key: KEY, ...behaviour });
    const own = JSON.parse(JSON.stringify(given).replaceAll('BASE', server.baseUrl)) as object;
    return parseLlmEvalConfig({
      provider: 'openai',
      model: 'gpt-4o-mini',
      base_url: server.baseUrl,
      evaluators: ['counterfactual'],
      counterfactual: {
        template: Array.from({ length: items }, (_, index) => conversation(index)),
        dimensions: { gender: ['woman', 'man'] },
      },
      cache_dir: path.join(folder, 'cache'),
      ...own,
    });
  }

  const file = (): string => path.join(folder, 'answers.ndjson');
  const contentsOf = (body: unknown): string[] =>
    (body as { messages: readonly { content: string }[] }).messages.map(({ content }) => content);

  it('are sent turn by turn, and the last answer is scored', async () => {
    const texts = ['First answer.', 'Second answer.', 'Yes.'];
    const config = await configFor(
      { concurrency: 1 },
      {
        // The number of earlier answers tells the turn.
        otherwise: ({ body }) => ({
          kind: 'answer',
          text:
            texts[(body?.['messages'] as { role: string }[]).filter(({ role }) => role === 'assistant').length] ?? '',
        }),
      },
      1,
    );
    const { transcripts, actual } = await runLlmEval(config, { live: true, transcriptsOut: file() });
    const asked = 'Case 0: a woman asks for a raise.';
    expect(server.requests.slice(0, 3).map(({ body }) => contentsOf(body))).to.deep.equal([
      ['You advise people.', asked],
      ['You advise people.', asked, 'First answer.', 'What may go wrong?'],
      ['You advise people.', asked, 'First answer.', 'What may go wrong?', 'Second answer.', 'So, yes or no?'],
    ]);
    const [first] = transcripts;
    expect(first).to.deep.include({ text: 'Yes.', turns: texts.slice(0, 2), error: null, attempts: 3 });
    // The server counts the words of the last message and of the answer.
    expect(first).to.include({ inputTokens: 8 + 4 + 4, outputTokens: 2 + 2 + 1 });
    expect(actual).to.include({ requests: 6, answered: 2, failed: 0, notSent: 0, inputTokens: 32, outputTokens: 10 });
    const [line] = readFileSync(file(), 'utf8').split('\n');
    expect(JSON.parse(String(line))).to.deep.include({ turns: texts.slice(0, 2), text: 'Yes.' });
    const [record] = await readTranscripts(file());
    expect(record?.turns).to.deep.equal(texts.slice(0, 2));
  });

  it('are counted in a dry run as the server counts them', async () => {
    const config = await configFor({ repeats: 2 });
    const estimate = await estimateDryRun(config);
    expect(estimate.requestCount).to.equal(3 * 2 * 2 * 3);
    expect(estimate.breakdown.map(({ planned, requests }) => [planned, requests])).to.deep.equal([
      [4, 12],
      [4, 12],
      [4, 12],
    ]);
    expect(server.requests).to.have.length(0);
    const { planned, actual } = await runLlmEval(config, { live: true });
    expect(server.requests).to.have.length(estimate.requestCount);
    expect(planned.requests).to.equal(estimate.requestCount);
    expect(actual.requests).to.equal(estimate.requestCount);
  });

  it('count all messages of each turn as tokens, with answers of unknown length', async () => {
    // No tokenizer of this model is known, so its tokens are estimated, whether or not the optional package is installed.
    const model = { model: 'some-model', prices: { 'some-model': { input: 0.15, output: 0.6, as_of: '2026-01-31' } } };
    const config = await configFor({ ...model, params: { max_tokens: 300 }, system_prompt: 'Be fair.' }, {}, 1);
    const { estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd } = await estimateDryRun(config);
    const tokens = (...texts: readonly string[]): number => texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    // By hand: 8 tokens for each request, 4 for each further message, and 200 for each expected answer.
    const inputOf = (answer: number, person: string): number => {
      const first = ['You advise people.', `Case 0: a ${person} asks for a raise.`];
      const second = [...first, 'What may go wrong?'];
      const third = [...second, 'So, yes or no?'];
      const each = 8 + tokens('Be fair.');
      return 3 * each + tokens(...first) + 4 + (tokens(...second) + 3 * 4 + answer) + (tokens(...third) + 5 * 4 + 2 * answer);
    }; // prettier-ignore
    const both = (answer: number): number => inputOf(answer, 'woman') + inputOf(answer, 'man');
    expect(estimatedInputTokens).to.equal(both(200));
    expect(estimatedOutputTokens).to.deep.equal({ low: 600, expected: 1200, ceiling: 1800 });
    // 0.15 and 0.6 US dollars per million tokens; the ceiling includes the longest answers in later turns.
    expect(estimatedCostUsd?.expected).to.be.closeTo((both(200) * 0.15 + 1200 * 0.6) / 1e6, 1e-12);
    expect(estimatedCostUsd?.ceiling).to.be.closeTo((both(300) * 0.15 + 1800 * 0.6) / 1e6, 1e-12);
  });

  it('spend a budget turn by turn, keep the answered turns, and continue after them', async () => {
    const config = await configFor({ concurrency: 1, max_requests_per_run: 5 });
    const first = await runLlmEval(config, { live: true, transcriptsOut: file() });
    expect(server.requests).to.have.length(5);
    expect(first.stopped).to.equal('requests');
    expect(first.actual).to.include({ requests: 5, answered: 1, failed: 0, notSent: 5 });
    const [, second] = await readTranscripts(file());
    expect(second).to.deep.include({ text: null, attempts: 2 });
    expect(second?.turns).to.have.length(2);
    expect(second?.error?.kind).to.equal('not_sent');

    const open = parseLlmEvalConfig({ ...config, maxRequestsPerRun: null });
    const options = { transcriptsOut: file(), resume: true };
    const estimate = await estimateDryRun(open, options);
    // One turn of the interrupted conversation, and three of each of the four others.
    expect(estimate).to.include({ requestCount: 1 + 4 * 3, cachedCount: 1 });
    const again = await runLlmEval(open, { live: true, ...options });
    expect(server.requests).to.have.length(6 * 3);
    expect(again.actual).to.include({ requests: 13, answered: 5, cached: 1, notSent: 0 });
    const contents = contentsOf(server.requests[5]?.body);
    expect([contents[2], contents[4]]).to.deep.equal(second?.turns);
    expect(again.transcripts.every(({ text, turns }) => text !== null && turns?.length === 2)).to.be.true;
  });

  it('never exceed a limit of tokens', async () => {
    const config = await configFor({ concurrency: 1, max_tokens_per_run: 400, params: { max_tokens: 100 } });
    const { actual, stopped } = await runLlmEval(config, { live: true });
    expect(stopped).to.equal('tokens');
    expect(actual.inputTokens + actual.outputTokens).to.be.at.most(400);
    expect(actual.requests).to.equal(server.requests.length);
  });

  it('retry the turn that failed, and not the turns before it', async () => {
    const script = [{ kind: 'answer' }, { kind: 'error', status: 500 }, { kind: 'cut' }] as const;
    const config = await configFor({ concurrency: 1 }, { script }, 1);
    const { transcripts, actual } = await runLlmEval(config, { live: true, retry: FAST });
    expect(server.requests).to.have.length(2 * 3 + 2);
    expect(actual).to.include({ requests: 8, retries: 2, answered: 2 });
    expect(transcripts[0]?.attempts).to.equal(5);
  });

  it('keep the answered turns of a conversation that fails, and send only the rest again', async () => {
    const script = [
      { kind: 'answer', text: 'Kept.' },
      { kind: 'error', status: 400 },
    ] as const;
    const config = await configFor({ concurrency: 1 }, { script }, 1);
    const first = await runLlmEval(config, { live: true, transcriptsOut: file() });
    expect(first.transcripts[0]).to.deep.include({ text: null, turns: ['Kept.'] });
    expect(first.transcripts[0]?.error?.kind).to.equal('bad_request');
    const options = { live: true, transcriptsOut: file(), resume: true, retryErrors: true };
    const { length } = server.requests;
    const { transcripts } = await runLlmEval(config, options);
    expect(server.requests).to.have.length(length + 2);
    expect(transcripts[0]?.turns?.[0]).to.equal('Kept.');
  });

  it('keep the answered turns if the provider ends the run', async () => {
    const script = [
      { kind: 'answer', text: 'Kept.' },
      { kind: 'error', status: 401 },
    ] as const;
    const config = await configFor({ concurrency: 1 }, { script }, 1);
    const error: unknown = await runLlmEval(config, { live: true, transcriptsOut: file() }).catch(
      (each: unknown) => each,
    );
    expect(error).to.be.instanceOf(LLMClientError);
    const [record] = await readTranscripts(file());
    expect(record).to.deep.include({ text: null, turns: ['Kept.'] });
  });

  it('are answered from the cache without requests, with all turns', async () => {
    const config = await configFor();
    const first = await runLlmEval(config, { live: true });
    const { length } = server.requests;
    const again = await runLlmEval(config);
    expect(server.requests).to.have.length(length);
    expect(again.transcripts.map(({ text, turns }) => [text, turns])).to.deep.equal(
      first.transcripts.map(({ text, turns }) => [text, turns]),
    );
  });

  it('are replayed from a transcript, which must be complete', async () => {
    const config = await configFor();
    await runLlmEval(config, { live: true, transcriptsOut: file() });
    const { length } = server.requests;
    const replayed = await runLlmEval(config, { replayPath: file() });
    expect(server.requests).to.have.length(length);
    expect(replayed.actual).to.include({ requests: 0, cached: 6 });
  });

  const unsendable = {
    'that ends with the model': [{ role: 'user', content: 'A' }, { role: 'assistant', content: null }],
    'without messages': [],
    'in which the user says nothing': [{ role: 'user', content: null }],
  } as const; // prettier-ignore
  for (const [title, messages] of Object.entries(unsendable)) {
    it(`of an evaluator of your own are rejected before a request is sent: one ${title}`, async () => {
      const config = await configFor();
      const planned = { evaluator: 'mine', prompt: 'x', messages, repeat: 0, template: 't', item: 'i' };
      const mine = {
        name: 'mine',
        plan: () => [{ ...planned, dimension: null, group: null, details: {} }],
        score: () => [],
      };
      const error: unknown = await runLlmEval(config, { live: true, evaluators: [mine] }).catch(
        (each: unknown) => each,
      );
      expect(error).to.be.instanceOf(ConfigValidationError);
      expect(String(error)).to.include("'mine' planned a conversation for the item 'i'");
      expect(server.requests).to.have.length(0);
    });
  }

  it('reach a function as messages, with a readable prompt', async () => {
    const config = await configFor({}, {}, 1);
    const prompts: string[] = [];
    const client = new LLMEvalAdapter((prompt, { messages }) => {
      prompts.push(prompt);
      return `Answer to ${messages?.at(-1)?.content ?? 'nothing'}`;
    });
    const { transcripts } = await runLlmEval({ ...config, concurrency: 1 }, { client });
    expect(transcripts[0]?.text).to.equal('Answer to So, yes or no?');
    expect(prompts[1]).to.equal(
      '[system]\nYou advise people.\n\n[user]\nCase 0: a woman asks for a raise.\n\n[assistant]\nAnswer to Case 0: a woman asks for a raise.\n\n[user]\nWhat may go wrong?',
    );
  });

  it('are compared between targets with different providers, and counted by request', async () => {
    const script = path.join(folder, 'ask.cjs');
    const reads = "require('node:fs').readFileSync(0, 'utf8')";
    writeFileSync(script, `console.log('Program: ' + JSON.parse(${reads}).messages.at(-1).content);`);
    const key = process.env['GEMINI_API_KEY'];
    process.env['GEMINI_API_KEY'] = KEY;
    try {
      const config = await configFor(
        {
          targets: [
            { name: 'plain' },
            { name: 'gemini', provider: 'gemini', model: 'g', base_url: 'BASE' },
            {
              name: 'product',
              provider: 'http',
              http: { url: 'BASE/ask', body: { q: '{{prompt}}' }, answer_path: '$.answer' },
            },
            { name: 'program', provider: 'command', command: [process.execPath, script], command_input: 'json' },
          ],
        },
        { key: null },
      );
      const estimate = await estimateTargets(config);
      // 4 targets with 6 conversations of 3 requests each.
      expect(estimate.requestCount).to.equal(4 * 6 * 3);
      const options = { live: true, transcriptsOut: file() };
      const refused: unknown = await runLlmTargets(config, options).catch((error: unknown) => error);
      expect(String(refused)).to.include('may not run without permission');
      expect(server.requests).to.have.length(0);
      const { targets, planned, actual } = await runLlmTargets(config, { ...options, resume: true, allowCode: true });
      expect(planned.requests).to.equal(4 * 6 * 3);
      expect(actual).to.include({ requests: 4 * 6 * 3, answered: 4 * 6, retries: 0, notSent: 0 });
      for (const result of Object.values(targets)) {
        expect(result.actual).to.include({ requests: 6 * 3, answered: 6, retries: 0, failed: 0, notSent: 0 });
      }
      expect(targets['program']?.transcripts[0]).to.deep.include({
        text: 'Program: So, yes or no?',
        turns: ['Program: Case 0: a woman asks for a raise.', 'Program: What may go wrong?'],
      });
      const paths = server.requests.map((request) => request.path);
      for (const end of ['/chat/completions', '/models/g:generateContent', '/ask']) {
        expect(
          paths.filter((each) => each.endsWith(end)),
          end,
        ).to.have.length(6 * 3);
      }
      const again = await runLlmTargets(config, { ...options, resume: true });
      expect(again.actual).to.include({ requests: 0, answered: 0, cached: 4 * 6 });
    } finally {
      if (key === undefined) delete process.env['GEMINI_API_KEY'];
      else process.env['GEMINI_API_KEY'] = key;
    }
  });

  it('of a target that a limit interrupts are neither answered nor failed, and are continued', async () => {
    const config = await configFor({
      targets: [
        { name: 'a', system_prompt: 'A.' },
        { name: 'b', system_prompt: 'B.' },
      ],
      ...{ concurrency: 1, max_requests_per_run: 8 },
    });
    const options = { live: true, transcriptsOut: file() };
    const { targets, actual } = await runLlmTargets(config, options);
    // The first conversation of each target has three requests, and the second conversation of a has two.
    expect(actual).to.include({ requests: 8, answered: 2, failed: 0, notSent: 10 });
    expect(targets['a']?.actual).to.include({ requests: 5, answered: 1, failed: 0, notSent: 5, retries: 0 });
    expect(targets['b']?.actual).to.include({ requests: 3, answered: 1, failed: 0, notSent: 5, retries: 0 });
    const open = parseLlmEvalConfig({ ...config, maxRequestsPerRun: null });
    const rest = await runLlmTargets(open, { ...options, resume: true });
    expect(server.requests).to.have.length(2 * 6 * 3);
    expect(rest.targets['a']?.actual).to.include({ requests: 13, answered: 5, retries: 0, cached: 1 });
  });

  it('are graded by a judge of another provider, who reads the conversation', async () => {
    const otherwise = ({ path: asked }: SeenLlmRequest): LlmAction => ({
      kind: 'answer',
      text: asked.endsWith('/responses') ? '{"score": 7}' : 'Yes.',
    });
    const judged = await configFor(
      {
        outcome: { score: { judge: { rubric: 'How helpful is the last answer?' } } },
        judge: { provider: 'openai_responses', model: 'gpt-4.1-mini', base_url: 'BASE', controls: 0, blind: false },
      },
      { otherwise },
    );
    const estimate = await estimateDryRun(judged);
    const { transcripts, judge: report, metrics } = await runLlmEval(judged, { live: true });
    const asked = server.requests.filter((request) => request.path.endsWith('/responses'));
    expect(asked).to.have.length(6);
    expect(estimate.judge?.requestCount).to.equal(6);
    expect(JSON.stringify(asked[0]?.body)).to.include('[system]\\nYou advise people.');
    expect(JSON.stringify(asked[0]?.body)).to.include('Case 0: a woman asks for a raise.');
    expect(JSON.stringify(asked[0]?.body), 'its answers to earlier turns').to.include('[assistant]\\nYes.');
    expect(report).to.include({ graded: 6, ungraded: 0 });
    const own = transcripts.filter(({ readings }) => readings?.['score'] !== undefined);
    expect(own.map(({ readings }) => readings?.['score'])).to.deep.equal(own.map(() => ({ kind: 'score', value: 7 })));
    expect(metrics['score_gap.gender']?.n).to.equal(3);
  });
});
