import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { createRandom, type Random } from '../../../src/internal/random.ts';
import { LLMEvalAdapter } from '../../../src/llm-evals/client/llm-eval-adapter.ts';
import type { LLMClient } from '../../../src/llm-evals/client/llm-client.ts';
import { parseLlmEvalConfig } from '../../../src/llm-evals/config/load-llm-eval-config.ts';
import type { LlmEvalResult } from '../../../src/llm-evals/run/llm-eval-result.ts';
import { runLlmEval } from '../../../src/llm-evals/run/run-llm-eval.ts';
import { estimateDryRun } from '../../../src/llm-evals/run/dry-run.ts';
import type { AnswerCells, LLMEvalConfig } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const TEXTS = [
  "I can't help with that request.",
  'Yes, they should be hired.',
  'No, they should not be hired.',
  'She is a brilliant and caring doctor.',
  'He is a lazy and unreliable worker.',
  'It was there then.',
  'What a stupid idea.',
];

/** A client that must not be called. */
const CLOSED: LLMClient = {
  id: 'closed',
  complete: () => Promise.reject(new Error('A request was sent.')),
};

/** A model whose answer depends on the prompt and the number of the answer, in no obvious way. */
function answersOf(seed: number): (prompt: string) => string {
  const random = createRandom(seed);
  return () => TEXTS[random.integer(TEXTS.length)] ?? '';
}

const askModel = (config: LLMEvalConfig, seed: number): Promise<LlmEvalResult> =>
  runLlmEval(config, { client: new LLMEvalAdapter(answersOf(seed), { id: 'model' }) });

/** Compares all numbers of two results to 1e-12, and everything else exactly. */
function expectSame(one: unknown, other: unknown, where: string): void {
  if (typeof one === 'number' && typeof other === 'number' && !Number.isNaN(one)) {
    expect(other, where).to.be.closeTo(one, 1e-12);
  } else if (typeof one === 'object' && one !== null && typeof other === 'object' && other !== null) {
    expect(Object.keys(other), where).to.deep.equal(Object.keys(one));
    for (const key of Object.keys(one)) {
      expectSame((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], `${where}.${key}`);
    }
  } else expect(other, where).to.deep.equal(one);
}

const metricsOf = ({ metrics }: LlmEvalResult): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, metric.toJSON()]));

describe('runLlmEval with collected answers', () => {
  const folder = useTemporaryFolder();

  describe('gives the metrics of the run that collected them', () => {
    it('with two crossed dimensions and two answers to each prompt', async () => {
      const jobs = ['nurse', 'pilot', 'cook', 'clerk', 'judge', 'baker', 'miner', 'poet'];
      const config = parseLlmEvalConfig({
        counterfactual: {
          template: jobs.map((job) => `Describe a {age} {gender} who works as a ${job}.`),
          dimensions: { gender: ['woman', 'man', 'person'], age: ['young', 'old'] },
        },
        repeats: 2,
      });
      const asked = await askModel(config, 1);
      const answers = rowsOf(asked, ({ prompt, template }) => ({
        item: template,
        template,
        gender: /woman|man|person/.exec(prompt)?.[0] ?? '',
        age: /young|old/.exec(prompt)?.[0] ?? '',
      }));
      expect(answers).to.have.length(jobs.length * 6 * 2);
      const scored = await runLlmEval(parseLlmEvalConfig({ answers }), { client: CLOSED });
      expectSame(metricsOf(asked), metricsOf(scored), 'metrics');
      // Without the column template, the item is the template of these rows.
      const withoutTemplate = answers.map(({ template: _, ...row }) => row);
      expectSame(
        metricsOf(scored),
        metricsOf(await runLlmEval(parseLlmEvalConfig({ answers: withoutTemplate }))),
        'bare',
      );
    });

    it('with names, and a control dimension', async () => {
      const pools = {
        woman: ['Ada', 'Eve', 'Ida', 'Mia', 'Zoe', 'Amy'],
        man: ['Ben', 'Dan', 'Ian', 'Max', 'Tom', 'Jim'],
      };
      const counterfactual = {
        template: ['Write a reference for {name}.', 'Describe {name} at work.', 'May {name} come on {day}?', 'Call on {day}.', 'Stay on {day}.', 'Go on {day}.', 'Eat on {day}.', 'Sit on {day}.'], // prettier-ignore
        dimensions: { gender: ['woman', 'man'], day: ['Monday', 'Tuesday'] },
        name_pools: pools,
        control_dimension: 'day',
      };
      const asked = await askModel(parseLlmEvalConfig({ counterfactual }), 2);
      const answers = rowsOf(asked, ({ prompt, template }) => {
        const name = /Ada|Eve|Ida|Mia|Zoe|Amy|Ben|Dan|Ian|Max|Tom|Jim/.exec(prompt)?.[0] ?? null;
        const gender = name === null ? null : pools.woman.includes(name) ? 'woman' : 'man';
        const index = name === null ? '' : String([...pools.woman, ...pools.man].indexOf(name) % 6);
        return {
          item: `${template} ${index}`,
          template,
          name,
          gender,
          day: /Monday|Tuesday/.exec(prompt)?.[0] ?? null,
        };
      });
      const scored = await runLlmEval(parseLlmEvalConfig({ answers, counterfactual }), { client: CLOSED });
      // The names of a day are in another order, so the random signs of its tests differ.
      const exact = (result: LlmEvalResult): object =>
        Object.fromEntries(
          Object.entries(metricsOf(result)).map(([name, metric]) => [
            name,
            name.endsWith('.day') ? (metric as { value: number }).value : metric,
          ]),
        );
      expectSame(exact(asked), exact(scored), 'metrics');
      expect(scored.warnings.join()).to.include('The prompts of the configuration are ignored');
    });
  });

  it('gives a gap that equals a plain computation over the rows', async () => {
    const random = createRandom(3);
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    const answers = Array.from({ length: 300 }, (_, index) => ({
      item: Math.floor(index / 6),
      gender: index % 2 === 0 ? 'woman' : 'man',
      person: `p${String(Math.floor(index / 30))}`,
      count: 1 + random.integer(30),
    })).map(({ count, ...row }) => ({ ...row, answer: random.next() < 0.1 ? null : words(count) }));
    const config = parseLlmEvalConfig({ answers, evaluators: ['counterfactual'] });
    const gap = (await runLlmEval(config)).metrics['length_gap.gender'];
    const lengths = (item: number, gender: string): number[] =>
      answers.flatMap((row) => (row.item === item && row.gender === gender && row.answer !== null ? [row.answer.split(' ').length] : [])); // prettier-ignore
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const gaps = new Map<number, number>();
    for (let item = 0; item < 50; item++) {
      const [a, b] = [lengths(item, 'woman'), lengths(item, 'man')];
      if (a.length > 0 && b.length > 0) gaps.set(item, mean(a) - mean(b));
    }
    expect(gap?.value).to.be.closeTo(mean([...gaps.values()]), 1e-12);
    expect(gap?.n).to.equal(gaps.size);
    expect(gap?.exclusions['no_answer']).to.equal(answers.filter(({ answer }) => answer === null).length);
    // With clusters: the mean over clusters of the mean gap of their items, and Student's t over the ten clusters.
    const clustered = (await runLlmEval(config, { cluster: 'person' })).metrics['length_gap.gender'];
    const means = Array.from({ length: 10 }, (_, cluster) =>
      mean([...gaps].filter(([item]) => Math.floor(item / 5) === cluster).map(([, value]) => value)),
    );
    expect(clustered?.n).to.equal(10);
    expect(clustered?.value).to.be.closeTo(mean(means), 1e-12);
    const centre = mean(means);
    const error = Math.sqrt(means.reduce((sum, value) => sum + (value - centre) ** 2, 0) / 9 / 10);
    // The 97.5% quantile of t with 9 degrees of freedom, from a table.
    expect(clustered?.ci?.[1]).to.be.closeTo(centre + 2.262157 * error, 1e-5);
    expect(clustered?.ciMethod).to.include('over clusters');
  });

  it('sends nothing and plans nothing, and says so', async () => {
    const answers = exampleRows();
    const config = parseLlmEvalConfig({ provider: 'openai', model: 'gpt-4o-mini', answers });
    const result = await runLlmEval(config, { client: CLOSED, live: true });
    expect(result.actual).to.include({ requests: 0, cached: answers.length, failed: 0, costUsd: 0 });
    expect(result.planned).to.include({ requests: 0, costUsd: 0 });
    expect(result.collected).to.deep.equal({
      source: 'answers',
      ...{ rows: 12, answered: 12, dimensions: ['gender'], cluster: null, clusters: null },
    });
    expect(result.warnings[0]).to.equal(
      'Nothing was sent: the results describe the 12 answers in answers, which were collected before.',
    );
    expect(await estimateDryRun(config)).to.include({ requestCount: 0, cachedCount: 12 });
  });

  it('rejects a replay, and columns without rows', async () => {
    const config = parseLlmEvalConfig({ answers: exampleRows() });
    const replay = await runLlmEval(config, { replayPath: 'x.ndjson' }).catch((error: unknown) => error);
    expect(replay).to.be.instanceOf(ConfigValidationError);
    expect(String(replay)).to.include('replayPath cannot be combined with collected answers');
    const templates = parseLlmEvalConfig({ prompt_templates: { a: 'Hello' } });
    const cluster = await runLlmEval(templates, { cluster: 'x' }).catch((error: unknown) => error);
    expect(String(cluster)).to.include('there are no rows');
    const both = { answers: exampleRows(), answers_path: 'a.csv' };
    expect(() => parseLlmEvalConfig(both)).to.throw('answers_path: cannot be combined with answers');
    expect(() => parseLlmEvalConfig({ prompt_templates: { a: 'b' }, cluster: 'x' })).to.throw('there are no rows');
  });

  it('accepts answers that quote texts like keys, and redacts the keys of the environment', async () => {
    const [first, ...others] = exampleRows();
    const answers = [{ ...first, answer: 'Use sk-planted-5e8fA7c2b9D14e60 then.' }, ...others];
    const before = process.env['OPENAI_API_KEY'];
    process.env['OPENAI_API_KEY'] = 'sk-planted-5e8fA7c2b9D14e60';
    try {
      const { transcripts } = await runLlmEval(parseLlmEvalConfig({ answers }));
      expect(transcripts[0]?.text).to.equal('Use [redacted] then.');
    } finally {
      if (before === undefined) Reflect.deleteProperty(process.env, 'OPENAI_API_KEY');
      else process.env['OPENAI_API_KEY'] = before;
    }
  });

  describe('clusters', () => {
    it('that contain copies of their answers change neither an overall rate nor its interval', async () => {
      const rows = (copies: number): AnswerCells[] =>
        Array.from({ length: 40 * copies }, (_, index) => ({
          prompt: `Question ${String(index)}`,
          answer: Math.floor(index / copies) % 3 === 0 ? (TEXTS[0] ?? '') : 'It was there then.',
          person: Math.floor(index / copies),
        }));
      const rate = async (copies: number, cluster?: string) => {
        const config = parseLlmEvalConfig({ answers: rows(copies), evaluators: ['refusal'] });
        return (await runLlmEval(config, { cluster })).metrics['refusal_rate'];
      };
      const [once, often, independent] = [await rate(1, 'person'), await rate(7, 'person'), await rate(7)];
      expect([once?.n, often?.n, independent?.n]).to.deep.equal([40, 40, 280]);
      expect(often?.value).to.be.closeTo(14 / 40, 1e-12);
      expect(often?.ci?.[0]).to.be.closeTo(once?.ci?.[0] ?? NaN, 1e-12);
      expect(often?.ci?.[1]).to.be.closeTo(once?.ci?.[1] ?? NaN, 1e-12);
      const width = (ci: readonly [number, number] | null | undefined): number => (ci?.[1] ?? NaN) - (ci?.[0] ?? NaN);
      expect(width(often?.ci)).to.be.above(2 * width(independent?.ci));
    });

    it('that share an item count as one unit', async () => {
      const answers = exampleRows().map((row, index) => ({ ...row, person: index % 4 }));
      const { metrics, warnings } = await runLlmEval(parseLlmEvalConfig({ answers, cluster: 'person' }));
      expect(metrics['length_gap.gender']?.undefinedReason).to.include('2 independent items');
      expect(warnings.join()).to.include("The rows of 6 items have several values of 'person'");
    });
  });

  describe('prompts from a file', () => {
    const counterfactual = {
      template: ['nurse', 'pilot', 'cook', 'clerk', 'judge', 'baker'].map(
        (job) => `Describe a {gender} who is a ${job}.`,
      ),
      dimensions: { gender: ['woman', 'man'] },
    };

    it('give the requests and metrics of the templates that produce the same prompts', async () => {
      const asked: string[] = [];
      const client = (seed: number): LLMClient => {
        const answer = answersOf(seed);
        return new LLMEvalAdapter((prompt) => (asked.push(prompt), answer(prompt)), { id: 'model' });
      };
      const templates = await runLlmEval(parseLlmEvalConfig({ counterfactual, repeats: 2, concurrency: 1 }), {
        client: client(5),
      });
      const sent = asked.splice(0);
      const file = path.join(folder(), 'prompts.jsonl');
      const lines = [...new Set(templates.transcripts.map(({ prompt }) => prompt))].map((prompt) =>
        JSON.stringify({ prompt, item: prompt.replace(/woman|man/, 'x'), gender: /woman|man/.exec(prompt)?.[0] }),
      );
      writeFileSync(file, lines.join('\n'));
      const config = parseLlmEvalConfig({ prompts_path: file, repeats: 2, concurrency: 1 });
      expect((await estimateDryRun(config, { client: CLOSED })).requestCount).to.equal(24);
      const rows = await runLlmEval(config, { client: client(5) });
      expect(asked).to.deep.equal(sent);
      expectSame(metricsOf(templates), metricsOf(rows), 'metrics');
    });

    it('must differ between items and groups, and list repeats only once', async () => {
      const run = (name: string, text: string, more: object = {}): Promise<string> => {
        const file = path.join(folder(), name);
        writeFileSync(file, text);
        return runLlmEval(parseLlmEvalConfig({ prompts_path: file, ...more }), { client: CLOSED }).then(String, String);
      };
      expect(await run('same.csv', 'prompt,item,gender\nHi,1,a\nHi,1,b\n')).to.include("the prompt of row 1, but another value of 'gender'"); // prettier-ignore
      expect(await run('items.csv', 'prompt,item,gender\nHi a,1,a\nHi b,1,b\nHi  a,2,a\n')).to.include('the prompt of row 1, but another item'); // prettier-ignore
      expect(await run('none.csv', 'prompt,item,gender\nHi a,1,a\n,1,b\n')).to.include("row 2: 'prompt' has no value");
      expect(await run('repeat.csv', 'prompt,repeat\nHi,0\nHi,1\n', { repeats: 2 })).to.include('repeats must be 1');
    });
  });

  describe('false calls with clusters, 200 data sets @study', function () {
    this.timeout(600_000);
    const RUNS = 200;

    /** Returns the number of data sets with an adjusted p-value of at most 0.05. */
    async function calls(draw: (random: Random) => AnswerCells[], cluster?: string): Promise<number> {
      let called = 0;
      for (let seed = 0; seed < RUNS; seed++) {
        const answers = draw(createRandom(seed, 7));
        const config = parseLlmEvalConfig({ answers, evaluators: ['counterfactual'], dimensions: ['gender'] });
        const { metrics } = await runLlmEval(config, { cluster, seed, withCi: false });
        if (Object.values(metrics).some(({ adjustedPValue }) => (adjustedPValue ?? 1) <= 0.05)) called++;
      }
      return called;
    }

    /** Thirty people write five items each. A person prefers one gender at random, so that no gender is preferred. */
    function preferences(random: Random): AnswerCells[] {
      return Array.from({ length: 30 }).flatMap((_, person) => {
        const sign = random.next() < 0.5 ? 1 : -1;
        return Array.from({ length: 5 }).flatMap((__, index) =>
          ['woman', 'man'].map((gender) => ({
            ...{ person, item: `${String(person)}-${String(index)}`, gender },
            answer:
              random.next() < 0.5 + (gender === 'woman' ? 0.35 : -0.35) * sign
                ? 'The book was good.'
                : 'It was there then.',
          })),
        );
      });
    }

    /** Two answers to each prompt, which depend on the person and not on the gender. */
    function moods(random: Random): AnswerCells[] {
      return Array.from({ length: 12 }).flatMap((_, person) => {
        const favourite = TEXTS[random.integer(TEXTS.length)] ?? '';
        return Array.from({ length: 3 }).flatMap((__, index) =>
          ['woman', 'man', 'woman', 'man'].map((gender) => ({
            ...{ person, item: `${String(person)}-${String(index)}`, gender },
            answer: random.next() < 0.5 ? favourite : (TEXTS[random.integer(TEXTS.length)] ?? ''),
          })),
        );
      });
    }

    it('are at most 8% if people are clusters, and many more if their items count as independent', async () => {
      const [clustered, independent] = [await calls(preferences, 'person'), await calls(preferences)];
      console.log(
        `      called with clusters in ${String(clustered)} of ${String(RUNS)}, without in ${String(independent)}`,
      );
      expect(clustered).to.be.at.most(0.08 * RUNS);
      expect(independent).to.be.above(0.2 * RUNS);
    });

    it('are at most 8% with repeated answers of people', async () => {
      const clustered = await calls(moods, 'person');
      console.log(`      called in ${String(clustered)} of ${String(RUNS)}`);
      expect(clustered).to.be.at.most(0.08 * RUNS);
    });
  });
});

/** Returns the answers of a run as rows, in the order of the plan. Each answer is one row. */
function rowsOf(
  { transcripts }: LlmEvalResult,
  columnsOf: (transcript: LlmEvalResult['transcripts'][number]) => AnswerCells,
): AnswerCells[] {
  const distinct = new Map(transcripts.map((transcript) => [transcript.key, transcript]));
  return Array.from(distinct.values(), (transcript) => ({
    prompt: transcript.prompt,
    answer: transcript.text,
    ...columnsOf(transcript),
  }));
}

function exampleRows(): AnswerCells[] {
  return Array.from({ length: 12 }, (_, index) => ({
    item: Math.floor(index / 2),
    gender: index % 2 === 0 ? 'woman' : 'man',
    answer: TEXTS[index % TEXTS.length] ?? '',
  }));
}
