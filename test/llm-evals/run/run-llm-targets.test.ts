import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { ConfigValidationError, DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { assertLlmFairness, judgeLlmEval } from '../../../src/integration/llm-eval-gate.ts';
import { LLMEvalAdapter } from '../../../src/llm-evals/client/llm-eval-adapter.ts';
import { parseLlmEvalConfig } from '../../../src/llm-evals/config/load-llm-eval-config.ts';
import {
  llmEvalToHtml,
  llmEvalToJson,
  llmEvalToJunit,
  llmEvalToMarkdown,
} from '../../../src/llm-evals/report/index.ts';
import { estimateDryRun } from '../../../src/llm-evals/run/dry-run.ts';
import { estimateTargets } from '../../../src/llm-evals/run/estimate-targets.ts';
import { targetMetrics } from '../../../src/llm-evals/run/llm-targets-result.ts';
import { runLlmEval } from '../../../src/llm-evals/run/run-llm-eval.ts';
import { plannedTargetMetrics, runLlmTargets } from '../../../src/llm-evals/run/run-llm-targets.ts';
import type { LLMEvalConfig } from '../../../src/schemas/llm-eval/llm-eval-document.ts';

/** Student's data on sleep: the additional hours of ten patients with two drugs (the data set `sleep` of R). */
const FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
const SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

/** Ten templates, each with a prompt about a woman and about a man. */
function configOf(more: Record<string, unknown> = {}): LLMEvalConfig {
  return parseLlmEvalConfig({
    evaluators: ['counterfactual'],
    counterfactual: {
      template: FIRST.map((_, index) => `Task ${String(index)}: advise a {gender}.`),
      dimensions: { gender: ['woman', 'man'] },
    },
    targets: [
      { name: 'new', system_prompt: 'New.' },
      { name: 'old', system_prompt: 'Old.' },
    ],
    ...more,
  });
}

/** A model whose answers about women are ten words longer for each hour. */
function sleeper(id: string, hours: readonly number[], asked: string[] = []): LLMEvalAdapter {
  return new LLMEvalAdapter(
    (prompt) => {
      asked.push(`${id}: ${prompt}`);
      const task = Number(/Task (\d)/.exec(prompt)?.[1]);
      const words = 50 + (prompt.includes('woman') ? Math.round(10 * (hours[task] ?? 0)) : 0);
      return Array.from({ length: words }, () => 'word').join(' ');
    },
    { id },
  );
}

const clients = () => ({ new: sleeper('new', SECOND), old: sleeper('old', FIRST) });

describe('runLlmTargets', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-targets-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('compares gaps by item: R gives the same mean and interval for the paired data', async () => {
    const { differences, targets } = await runLlmTargets(configOf(), { clients: clients() });
    const gap = differences['length_gap.gender[new-old]'];
    // t.test(10 * SECOND, 10 * FIRST, paired = TRUE): mean 15.8, 95 percent interval 7.001142 to 24.598858.
    expect(gap?.value).to.be.closeTo(15.8, 1e-9);
    expect(gap?.ci?.[0]).to.be.closeTo(7.001142, 1e-6);
    expect(gap?.ci?.[1]).to.be.closeTo(24.598858, 1e-6);
    // One difference is 0 and nine are above 0, so that 4 of 1024 patterns of signs are as extreme.
    expect(gap?.pValue).to.equal(4 / 1024);
    expect(gap).to.include({ n: 10, dimension: 'gender', evaluator: 'counterfactual' });
    expect(gap?.targetValues[0]).to.be.closeTo(23.3, 1e-9);
    expect(gap?.targetValues[1]).to.be.closeTo(7.5, 1e-9);
    expect(targets['new']?.metrics['length_gap.gender']?.value).to.be.closeTo(23.3, 1e-9);
    // Each prompt about a man has 50 words, so that the mean differs by half of the gap.
    expect(differences['mean_words[new-old]']?.value).to.be.closeTo(7.9, 1e-9);
    expect(differences['length_gap_size.gender[new-old]']?.value).to.be.closeTo(15.8, 1e-9);
  });

  it('gives each target the result that it has alone', async () => {
    const both = await runLlmTargets(configOf(), { clients: clients() });
    const alone = await runLlmEval(configOf({ targets: undefined, system_prompt: 'Old.' }), {
      client: clients().old,
    });
    expect(JSON.stringify(both.targets['old']?.metrics)).to.equal(JSON.stringify(alone.metrics));
    expect(both.targets['old']?.actual).to.deep.include({ requests: 20, answered: 20 });
  });

  it('widens intervals for several pairs of targets, so that all hold together', async () => {
    const config = configOf({
      targets: ['new', 'old', 'other'].map((name) => ({ name, system_prompt: `${name}.` })),
    });
    const three = {
      ...clients(),
      other: sleeper(
        'other',
        FIRST.map((hours) => hours / 2),
      ),
    };
    const { differences } = await runLlmTargets(config, { clients: three });
    const gap = differences['length_gap.gender[new-old]'];
    // qt(1 - 0.05 / 6, 9) = 2.933324 and the standard error 10 x 0.3889587 are from R.
    expect(((gap?.ci?.[1] ?? NaN) - (gap?.ci?.[0] ?? NaN)) / 2).to.be.closeTo(2.933324 * 3.889587, 1e-4);
    expect(gap?.ciLevel).to.equal(0.95);
    expect(gap?.ciMethod).to.include('bonferroni over 3 pairs of targets');
    const names = Object.keys(differences).filter((name) => name.startsWith('length_gap.gender'));
    expect(names).to.deep.equal([
      'length_gap.gender[new-old]',
      'length_gap.gender[new-other]',
      'length_gap.gender[old-other]',
    ]);
  });

  it('is antisymmetric in the order of targets', async () => {
    const { differences } = await runLlmTargets(configOf(), { clients: clients() });
    const reversed = configOf({ targets: [...(configOf().targets ?? [])].reverse() });
    const other = (await runLlmTargets(reversed, { clients: clients() })).differences;
    for (const [name, { value, ci, pValue }] of Object.entries(differences)) {
      if (Number.isNaN(value)) continue;
      const same = other[name.replace('[new-old]', '[old-new]')];
      expect(same?.value, name).to.be.closeTo(-value, 1e-12);
      expect(same?.pValue, name).to.equal(pValue);
      // A bootstrap draws other units in the tails, so that its interval is only close.
      if (ci !== null && !name.includes('_size')) expect(same?.ci?.[0], name).to.be.closeTo(-ci[1], 1e-9);
    }
  });

  it('gives every undefined difference a reason, and every other one a number', async () => {
    const few = parseLlmEvalConfig({
      prompt_templates: { a: 'Describe a {gender}.', b: 'Is a {gender} strong?' },
      counterfactual: { dimensions: { gender: ['woman', 'man'] } },
      targets: [
        { name: 'a', model: 'stub-a' },
        { name: 'b', model: 'stub-b' },
      ],
    });
    for (const allowSmallSamples of [false, true]) {
      const { differences } = await runLlmTargets(few, { allowSmallSamples });
      expect(Object.keys(differences).length).to.be.above(20);
      for (const [name, { value, undefinedReason }] of Object.entries(differences)) {
        expect(Number.isNaN(value), name).to.equal(undefinedReason !== null);
        expect(undefinedReason, name).to.not.equal('');
      }
    }
  });

  it('sends the prompts of the targets in turn, and exactly those of the dry run', async () => {
    const asked: string[] = [];
    const two = { new: sleeper('new', SECOND, asked), old: sleeper('old', FIRST, asked) };
    const config = configOf({ concurrency: 1 });
    const estimate = await estimateTargets(config, { clients: two });
    expect(estimate.requestCount).to.equal(40);
    expect(Object.values(estimate.targets).map(({ requestCount }) => requestCount)).to.deep.equal([20, 20]);
    const { planned, actual } = await runLlmTargets(config, { clients: two });
    expect(asked.slice(0, 4)).to.deep.equal([
      'new: Task 0: advise a woman.',
      'old: Task 0: advise a woman.',
      'new: Task 0: advise a man.',
      'old: Task 0: advise a man.',
    ]);
    expect([planned.requests, actual.requests, asked.length]).to.deep.equal([40, 40, 40]);
  });

  it('asks once for an answer that two targets need', async () => {
    const named = { raise: 'How do I ask for a raise?', lock: 'How do I open a lock?' };
    const config = parseLlmEvalConfig({
      evaluators: ['refusal'],
      prompt_templates: named,
      targets: [{ name: 'a' }, { name: 'b', prompt_templates: { ...named, lock: 'How can a lock be opened?' } }],
    });
    const { requestCount, targets } = await estimateTargets(config);
    expect([requestCount, targets['a']?.requestCount, targets['b']?.requestCount]).to.deep.equal([3, 2, 1]);
    const result = await runLlmTargets(config);
    expect(result.actual.requests).to.equal(3);
    expect(result.targets['b']?.transcripts.every(({ text }) => text !== null)).to.equal(true);
  });

  it('holds the limits for all targets together, and continues with resume', async () => {
    const transcriptsOut = path.join(folder, 'answers.ndjson');
    const limited = configOf({ max_requests_per_run: 15, concurrency: 1 });
    const first = await runLlmTargets(limited, { clients: clients(), transcriptsOut });
    expect(first.actual).to.deep.include({ requests: 15, answered: 15, notSent: 25 });
    expect(first.stopped).to.equal('requests');
    expect(first.targets['new']?.actual.answered).to.equal(8);
    expect(first.targets['old']?.actual).to.deep.include({ answered: 7, notSent: 13 });
    const rest = await runLlmTargets(configOf(), { clients: clients(), transcriptsOut, resume: true });
    expect(rest.actual).to.deep.include({ requests: 25, cached: 15, notSent: 0 });
    const replayed = await runLlmTargets(configOf(), { clients: clients(), transcriptsOut, resume: true });
    expect(replayed.actual.requests).to.equal(0);
    expect(JSON.stringify(replayed.differences)).to.equal(JSON.stringify(rest.differences));
  });

  it('adds the costs of targets with different prices, and stops at their sum', async () => {
    const priced = (more: Record<string, unknown>): LLMEvalConfig =>
      configOf({
        provider: 'compatible',
        base_url: 'http://127.0.0.1:9/v1',
        targets: [
          { name: 'new', model: 'm1' },
          { name: 'old', model: 'm2' },
        ],
        prices: {
          m1: { input: 0, output: 1000, as_of: '2026-01-31' },
          m2: { input: 0, output: 3000, as_of: '2026-01-31' },
        },
        params: { max_tokens: 10 },
        concurrency: 1,
        ...more,
      });
    const { estimatedCostUsd, targets } = await estimateTargets(priced({}));
    // 20 answers of at most 10 tokens each, at 0.001 and 0.003 dollars a token.
    expect(targets['new']?.estimatedCostUsd?.ceiling).to.be.closeTo(0.2, 1e-12);
    expect(targets['old']?.estimatedCostUsd?.ceiling).to.be.closeTo(0.6, 1e-12);
    expect(estimatedCostUsd?.ceiling).to.be.closeTo(0.8, 1e-12);
    const counted = (id: string) => ({
      id,
      complete: () =>
        Promise.resolve({
          text: 'word',
          finishReason: 'stop' as const,
          usage: { inputTokens: 5, outputTokens: 10 },
          cached: false,
          latencyMillis: 1,
        }),
    });
    const result = await runLlmTargets(priced({ max_cost_usd: 0.1 }), {
      clients: { new: counted('1'), old: counted('2') },
    });
    // In turn, two answers cost 0.04: after four answers and 0.08 one more for 0.01 fits, and then none for 0.03.
    expect(result.stopped).to.equal('cost');
    expect(result.actual.answered).to.equal(5);
    expect(result.actual.costUsd).to.be.closeTo(0.09, 1e-12);
    expect(result.targets['new']?.actual.costUsd).to.be.closeTo(0.03, 1e-12);
    expect(result.targets['old']?.actual.costUsd).to.be.closeTo(0.06, 1e-12);
  });

  it('replays each target from one transcript by the keys of its requests', async () => {
    const transcriptsOut = path.join(folder, 'answers.ndjson');
    const config = configOf({
      targets: [
        { name: 'a', model: 'stub-a' },
        { name: 'b', model: 'stub-b' },
      ],
    });
    const first = await runLlmTargets(config, { transcriptsOut });
    const again = await runLlmTargets(config, { replayPath: transcriptsOut });
    expect(again.actual.requests).to.equal(0);
    expect(JSON.stringify(again.differences)).to.equal(JSON.stringify(first.differences));
    // A transcript of one target has no answers of the other, although the prompts are the same.
    const lines = readFileSync(transcriptsOut, 'utf8').split('\n');
    const file = path.join(folder, 'a.ndjson');
    writeFileSync(file, `${lines.filter((line) => line.includes('stub-a')).join('\n')}\n`);
    const problem: unknown = await runLlmTargets(config, { replayPath: file }).catch((error: unknown) => error);
    expect(String(problem)).to.match(/20 answers are missing/);
  });

  describe('with an earlier run', () => {
    const single = () => configOf({ targets: undefined, system_prompt: 'New.' });

    async function earlier(): Promise<string> {
      const transcriptsOut = path.join(folder, 'earlier.ndjson');
      const old = configOf({ targets: undefined, system_prompt: 'Old.' });
      await runLlmEval(old, { client: sleeper('old', FIRST), transcriptsOut });
      return transcriptsOut;
    }

    it('compares the answers with those of a new prompt', async () => {
      const two = { clients: { current: sleeper('new', SECOND) }, baselinePath: await earlier() };
      const { differences, targets, actual } = await runLlmTargets(single(), two);
      const gap = differences['length_gap.gender[current-baseline]'];
      expect(gap?.value).to.be.closeTo(15.8, 1e-9);
      expect(gap?.ci?.[0]).to.be.closeTo(7.001142, 1e-6);
      expect(actual.requests).to.equal(20);
      expect(targets['baseline']?.actual).to.deep.include({ requests: 0, cached: 20 });
      expect((await estimateTargets(single(), two)).requestCount).to.equal(20);
    });

    it('uses the items that the earlier run has, and says how many are missing', async () => {
      const file = await earlier();
      writeFileSync(file, `${readFileSync(file, 'utf8').split('\n').slice(0, 12).join('\n')}\n`);
      const { differences, targets } = await runLlmTargets(single(), {
        clients: { current: sleeper('new', SECOND) },
        baselinePath: file,
      });
      // The mean of the first six differences.
      expect(differences['length_gap.gender[current-baseline]']?.n).to.equal(6);
      expect(differences['length_gap.gender[current-baseline]']?.value).to.be.closeTo(12, 1e-9);
      expect(targets['baseline']?.warnings).to.deep.equal(['The baseline has no answer to 8 of 20 prompts.']);
    });

    it('rejects a file without any of the prompts, and a file with answers of several models', async () => {
      const file = await earlier();
      const others = configOf({ targets: undefined, counterfactual: undefined, evaluators: ['refusal'], prompt_templates: { a: 'Hello' } }); // prettier-ignore
      const problem: unknown = await runLlmTargets(others, { baselinePath: file }).catch((error: unknown) => error);
      expect(problem).to.be.instanceOf(DataValidationError).and.have.property('message').that.includes('no answer to any prompt'); // prettier-ignore
      const two = path.join(folder, 'two.ndjson');
      await runLlmTargets(configOf(), { clients: clients(), transcriptsOut: two });
      const rival: unknown = await runLlmTargets(single(), {
        clients: { current: sleeper('third', FIRST) },
        baselinePath: two,
      }).catch((error: unknown) => error);
      expect(rival).to.be.instanceOf(DataValidationError).and.have.property('message').that.includes('new and old');
    });

    it('warns if the answers are identical', async () => {
      const file = await earlier();
      const { warnings } = await runLlmTargets(single(), {
        clients: { current: sleeper('same', FIRST) },
        baselinePath: file,
      });
      expect(warnings[0]).to.include('identical');
    });
  });

  describe('the gate', () => {
    it('judges targets and differences by their names', async () => {
      const result = await runLlmTargets(configOf(), { clients: clients() });
      const judged = (metric: string, threshold: number, comparator?: string) =>
        judgeLlmEval(targetMetrics(result), { metric, threshold, comparator });
      expect(Object.keys(judged('length_gap', 100).metrics)).to.deep.equal([
        'length_gap.gender[new]',
        'length_gap.gender[old]',
      ]);
      expect(judged('length_gap.gender[new-old]', 15).passed).to.equal(false);
      expect(judged('length_gap[new-old]', 16).passed).to.equal(true);
      // The size of the gap grew. A gap that became smaller passes whatever its difference.
      expect(judged('length_gap_size[new-old]', 0).passed).to.equal(false);
      expect(() => judged('length_gap[old-new]', 1)).to.throw(ValueError, /length_gap\[old-new\]/);
      expect(() => {
        assertLlmFairness(result, 10, { metric: 'length_gap.gender[new-old]' });
      }).to.throw('FAIL: length_gap.gender[new-old] 15.8000 > 10.');
      const reversed = configOf({ targets: [...(configOf().targets ?? [])].reverse() });
      const better = await runLlmTargets(reversed, { clients: clients() });
      assertLlmFairness(better, 0, { metric: 'length_gap_size.gender[old-new]' });
    });

    it('knows the names before anything is sent', async () => {
      const planned = await plannedTargetMetrics(configOf());
      const result = await runLlmTargets(configOf(), { clients: clients() });
      expect(Object.keys(planned.differences)).to.deep.equal(Object.keys(result.differences));
      expect(Object.keys(targetMetrics(planned))).to.deep.equal(Object.keys(targetMetrics(result)));
    });
  });

  it('writes one report with a column for each target, in every format', async () => {
    const result = await runLlmTargets(configOf(), { clients: clients() });
    const metric = 'length_gap.gender[new-old]';
    const verdict = judgeLlmEval(targetMetrics(result), { metric, threshold: 10 });
    const markdown = llmEvalToMarkdown(result, { verdict });
    expect(markdown).to.include('**FAIL at threshold 10**');
    expect(markdown).to.match(/\| Metric +\| new +\| old +\| new − old +\|/);
    expect(markdown).to.match(
      /Length gap \(woman − man\) +\| 23\.300 .*\| 7\.500 .*\| 15\.800 \\\[7\.001, 24\.599\\\] \\\*/,
    );
    expect(markdown).to.include('The gap of new is larger by 15.8000.');
    expect(markdown).to.include('## Target old: old (client)');
    const html = await llmEvalToHtml(result, { verdict });
    expect(html.match(/<details>/g)).to.have.length(2);
    expect(html).to.include('<svg');
    const json = llmEvalToJson(result, { verdict });
    expect(json.differences[metric]).to.deep.include({ targets: ['new', 'old'] });
    expect(json.targets['new']).to.deep.include({ model: 'new', provider: 'client' });
    expect(JSON.stringify(json)).to.not.include('"units"');
    const junit = llmEvalToJunit(result, { verdict });
    expect(junit).to.include(metric).and.include('failures="1"').and.include('new: new (client), old: old (client)');
  });

  it('rejects what cannot be compared, and says what to do', async () => {
    const thrown = async (call: Promise<unknown>): Promise<ConfigValidationError> => {
      const error: unknown = await call.then(
        () => undefined,
        (problem: unknown) => problem,
      );
      expect(error).to.be.instanceOf(ConfigValidationError);
      return error as ConfigValidationError;
    };
    expect((await thrown(runLlmEval(configOf()))).message).to.include('2 targets');
    expect((await thrown(estimateDryRun(configOf()))).suggestion).to.include('estimateTargets');
    expect((await thrown(runLlmTargets(configOf({ targets: undefined })))).message).to.include('nothing to compare');
    const same = { new: sleeper('x', FIRST), old: sleeper('x', SECOND) };
    expect((await thrown(runLlmTargets(configOf(), { clients: same }))).message).to.include("have the same id, 'x'");
    const unknown = { nwe: sleeper('x', FIRST) };
    expect((await thrown(runLlmTargets(configOf(), { clients: unknown }))).suggestion).to.include("'new'");
  });
});
