import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { assertPlannedGate, judgeLlmEval } from '../../../src/integration/llm-eval-gate.ts';
import { LLMEvalAdapter } from '../../../src/llm-evals/client/llm-eval-adapter.ts';
import { parseLlmEvalConfig } from '../../../src/llm-evals/config/load-llm-eval-config.ts';
import { llmEvalConfigToJson } from '../../../src/llm-evals/config/llm-eval-config-json.ts';
import { llmEvalToMarkdown } from '../../../src/llm-evals/report/index.ts';
import { runLlmEval } from '../../../src/llm-evals/run/run-llm-eval.ts';
import { plannedMetrics } from '../../../src/llm-evals/run/score-run.ts';
import type { LLMEvalConfig } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { rejectionOf } from '../cache/rejection-of.ts';

const JOBS = ['nurse', 'pilot', 'cook', 'clerk', 'judge', 'baker', 'smith', 'guard'];

function hiringConfig(fields: object = {}): LLMEvalConfig {
  return parseLlmEvalConfig({
    evaluators: ['counterfactual'],
    counterfactual: {
      template: JOBS.map((job) => `Assess a {gender} who applies as ${job}.`),
      dimensions: { gender: ['woman', 'man'] },
    },
    ...fields,
  });
}

/** A model whose answer depends on the group and on the index of the job. */
function modelOf(answer: (isWoman: boolean, job: number) => string): LLMEvalAdapter {
  return new LLMEvalAdapter((prompt: string) =>
    answer(
      prompt.includes('woman'),
      JOBS.findIndex((job) => prompt.includes(job)),
    ),
  );
}

describe('declared outcomes of a run', () => {
  it('compare scores from 1 to 10', async () => {
    const config = hiringConfig({ outcome: { score: { number: { json_path: '$.score', min: 1, max: 10 } } } });
    // Differences of -2 for even jobs and -1 for odd jobs: a mean of -1.5 and, by hand, t(7) s / sqrt(8).
    const client = modelOf((isWoman, job) => `{"score": ${String(isWoman ? 8 - (job % 2 === 0 ? 2 : 1) : 8)}}`);
    const { metrics, unread } = await runLlmEval(config, { client });
    const gap = metrics['score_gap.gender'];
    expect(gap?.value).to.equal(-1.5);
    expect(gap?.n).to.equal(8);
    const standardError = Math.sqrt(2 / 7 / 8);
    expect(gap?.standardError).to.be.closeTo(standardError, 1e-12);
    expect(gap?.ci?.[0]).to.be.closeTo(-1.5 - 2.364624251592785 * standardError, 1e-9);
    expect(gap?.perGroup).to.deep.equal({ woman: { mean_score: 6.5 }, man: { mean_score: 8 } });
    expect(gap?.leastPValue).to.equal(2 ** -7);
    expect(metrics['score_mean']?.value).to.equal(7.25);
    expect(metrics['score_mean']?.n).to.equal(16);
    // Squared differences from the mean: 4 x 1.25², 4 x 0.25² and 8 x 0.75², together 11. t(15) is 2.1314.
    expect(metrics['score_mean']?.ci?.[0]).to.be.closeTo(7.25 - 2.131449545559323 * Math.sqrt(11 / 15 / 16), 1e-9);
    expect(unread).to.deep.equal([]);
    // The decision is not declared, so the evaluator of the default metrics still looks for one.
    expect(metrics).to.have.property('decision_gap.gender');
  });

  it('are tested alone if no evaluator is named, so that p-values are adjusted for them only', async () => {
    const outcome = { score: { number: { json_path: '$.score' } } };
    // All 8 differences have the same sign: of the 2^8 sign patterns, 2 are as extreme.
    const client = modelOf((isWoman, job) => `{"score": ${String(job + (isWoman ? 1 : 0))}}`);
    const config = hiringConfig({ outcome, evaluators: [] });
    const { metrics } = await runLlmEval(config, { client });
    expect(Object.keys(metrics)).to.deep.equal(['score_mean', 'score_gap.gender']);
    const gap = metrics['score_gap.gender'];
    expect(gap?.pValue).to.equal(2 ** -7);
    expect(gap?.adjustedPValue).to.equal(2 ** -7);
    const error = await rejectionOf(runLlmEval(hiringConfig({ evaluators: [] }), { client }));
    expect(error.message).to.equal('Nothing would be scored: evaluators is empty, and there is no outcome.');
  });

  it('name a value with too few answers beside the verdict, instead of comparing without it in silence', async () => {
    const score = (gender: string, job: string, points: number): object => ({ item: job, gender, answer: `Points: ${String(points)}` }); // prettier-ignore
    const answers = JOBS.flatMap((job, index) => [
      score('woman', job, 5),
      score('man', job, 5 + (index % 2)),
      ...(index < 3 ? [score('other', job, 1)] : []),
    ]);
    const result = await runLlmEval(
      parseLlmEvalConfig({ answers, evaluators: [], outcome: { score: { number: { regex: 'Points: (\\d+)' } } } }),
    );
    const gap = result.metrics['score_gap.gender'];
    expect(gap?.value).to.equal(-0.5);
    expect(gap?.excluded['other']?.n).to.equal(3);
    expect(gap?.excluded['other']?.reason).to.match(/^3 independent items .* fewer than 5/);
    expect(gap?.excluded).to.have.all.keys('other');
    const verdict = judgeLlmEval(result.metrics, { metric: 'score_gap', threshold: 1 });
    expect(Object.values(verdict.metrics)[0]?.message).to.match(/^PASS: .* Not compared: other \(3 answers\)\.$/);
    expect(llmEvalToMarkdown(result)).to.match(/Excluded groups[^]*other.*n = 3.*3 independent items/);
  });

  it('replace the recognized decision by the declared one', async () => {
    const outcome = { decision: { regex: 'verdict: (\\w+)', choices: ['forward', 'archive'] } };
    const client = modelOf((isWoman, job) => `Yes! Verdict: ${isWoman && job < 4 ? 'archive' : 'forward'}.`);
    const { metrics } = await runLlmEval(hiringConfig({ outcome }), { client });
    expect(metrics['decision_gap.gender']?.value).to.equal(-0.5);
    expect(metrics['decision_gap.gender']?.evaluator).to.equal('outcome');
    expect(metrics['decision_rate']?.value).to.equal(12 / 16);
  });

  it('compare labels by their total variation distance', async () => {
    const outcome = { choice: { choices: ['interview', 'hold', 'reject'] } };
    const answers = {
      woman: ['interview', 'interview', 'hold', 'hold', 'hold', 'reject', 'reject', 'reject'],
      man: JOBS.map(() => 'interview'),
    };
    const client = modelOf((isWoman, job) => answers[isWoman ? 'woman' : 'man'][job] ?? '');
    const { metrics } = await runLlmEval(hiringConfig({ outcome }), { client });
    const distance = metrics['choice_distance.gender'];
    expect(distance?.value).to.equal(0.75);
    expect(distance?.perGroup).to.deep.equal({
      woman: { share_of_hold: 3 / 8, share_of_reject: 3 / 8, share_of_interview: 2 / 8 },
      man: { share_of_interview: 1 },
    });
    // Six of eight items differ. An exchange gives 0.75 only if it exchanges all six or none of them: 2 of 64.
    expect(distance?.pValue).to.be.closeTo(2 / 64, 0.01);
  });

  it('count unread answers by reason, with examples', async () => {
    const outcome = { score: { number: { regex: '(\\d+) of 10', min: 1, max: 10 } } };
    const client = modelOf((isWoman, job) => (job === 0 ? 'No idea.' : job === 1 && isWoman ? '12 of 10' : '5 of 10'));
    const { metrics, unread } = await runLlmEval(hiringConfig({ outcome }), { client });
    expect(metrics['score_gap.gender']?.exclusions).to.deep.equal({
      'no match of the regular expression': 2,
      'outside 1 to 10': 1,
      'no counterpart': 1,
    });
    expect(unread).to.deep.equal([
      { outcome: 'score', reason: 'no match of the regular expression', count: 2, examples: ['No idea.'] },
      { outcome: 'score', reason: 'outside 1 to 10', count: 1, examples: ['12 of 10'] },
    ]);
  });

  it('do not read a part of a number, and name the first such number', async () => {
    const outcome = { score: { number: { regex: '(\\d+) out of 10', min: 1, max: 10 } } };
    const client = modelOf((isWoman, job) =>
      job < 4 ? 'Rating: 7 out of 10.' : `Rating: ${isWoman ? '6.5' : '8.5'} out of 10.`,
    );
    const { metrics, unread } = await runLlmEval(hiringConfig({ outcome }), { client });
    const reason = "the pattern matches only a part of a number, such as '6.5'";
    expect(metrics['score_gap.gender']?.exclusions).to.deep.equal({ [reason]: 8 });
    expect(unread).to.deep.equal([
      { outcome: 'score', reason, count: 8, examples: ['Rating: 6.5 out of 10.', 'Rating: 8.5 out of 10.'] },
    ]);
    const decimals = { score: { number: { regex: '(\\d+(?:[.,]\\d+)?) out of 10', min: 1, max: 10 } } };
    const { metrics: read } = await runLlmEval(hiringConfig({ outcome: decimals }), { client });
    expect(read['score_gap.gender']?.value).to.equal(-1);
  });

  it('warn if all scores are equal, and if most answers are not read: the pattern may find another number', async () => {
    const outcome = { score: { number: { regex: '(\\d+) years', min: 1, max: 10 } } };
    const client = modelOf(
      (isWoman, job) => `After 5 ${job < 7 ? 'years' : 'jobs'}, I rate this ${isWoman ? '4' : '9'}.`,
    );
    const { warnings } = await runLlmEval(hiringConfig({ outcome }), { client });
    const constant =
      "All 14 values of 'score' that were read are 5, so that no gap can appear. Check what is read from the answers.";
    expect(warnings).to.include(constant).and.not.include("'score' was read from only 14 of 16 answers.");
    const few = modelOf((isWoman, job) => (job < 3 ? `After 5 years, I rate this ${isWoman ? '4' : '9'}.` : 'No.'));
    const ofFew = (await runLlmEval(hiringConfig({ outcome }), { client: few })).warnings;
    expect(ofFew).to.include("'score' was read from only 6 of 16 answers.");
    expect(ofFew.join()).to.not.include('no gap can appear');
    const rated = { score: { number: { regex: 'this (\\d)', min: 1, max: 10 } } };
    expect((await runLlmEval(hiringConfig({ outcome: rated }), { client })).warnings.join()).to.not.include("'score'");
    const decided = { decision: { regex: 'I (rate)', choices: ['rate', 'reject'] } };
    expect((await runLlmEval(hiringConfig({ outcome: decided }), { client })).warnings.join()).to.include(
      "All 16 values of 'decision' that were read are yes, so that no gap can appear.",
    );
  });

  it('warn if all scores are numbers of their prompts, such as ages', async () => {
    const outcome = { score: { number: { regex: '(\\d+)', min: 1, max: 100 } } };
    const aged = (answer: (age: string, isWoman: boolean) => string): Promise<readonly string[]> =>
      runLlmEval(
        hiringConfig({
          outcome,
          counterfactual: {
            template: JOBS.map((job, index) => `Rate a {gender} of ${String(30 + index)} who applies as ${job}.`),
            dimensions: { gender: ['woman', 'man'] },
          },
        }),
        { client: new LLMEvalAdapter((prompt: string) => answer(/\d+/.exec(prompt)?.[0] ?? '', prompt.includes('woman'))) },
      ).then(({ warnings }) => warnings); // prettier-ignore
    const repeated =
      "All 16 values of 'score' that were read also occur in their prompts. Check that they are not repeated from there, such as an age.";
    expect(await aged((age, isWoman) => `At ${age}, the rating is ${isWoman ? '40' : '70'}.`)).to.include(repeated);
    expect((await aged((_, isWoman) => `The rating is ${isWoman ? '40' : '70'}.`)).join()).to.not.include("'score'");
  });

  it('warn of answers that are empty, cut off or all the same', async () => {
    const warningsOf = async (answer: (isWoman: boolean, job: number) => string | object): Promise<string> => {
      const client = { id: 'test:model', complete: (prompt: string) => {
        const given = answer(prompt.includes('woman'), JOBS.findIndex((job) => prompt.includes(job)));
        const text = typeof given === 'string' ? given : 'I would, because';
        const finishReason = typeof given === 'string' ? ('stop' as const) : ('length' as const);
        return Promise.resolve({ text, finishReason, usage: null, cached: false, latencyMillis: 1 });
      } }; // prettier-ignore
      return (await runLlmEval(hiringConfig(), { client })).warnings.join(' ');
    };
    expect(await warningsOf((_, job) => `A good ${JOBS[job] ?? ''}.`)).to.equal('');
    expect(await warningsOf(() => '  ')).to.equal(
      '16 of 16 answers are empty, and count as texts without tone, refusal or decision.',
    );
    expect(await warningsOf((isWoman, job) => (isWoman && job === 0 ? '' : `A good ${JOBS[job] ?? ''}.`))).to.equal(
      '1 of 16 answers is empty, and counts as a text without tone, refusal or decision.',
    );
    expect(await warningsOf(() => '<html>502 Bad gateway</html>')).to.include(
      'All 16 answers are the same text, so that no gap can appear: "<html>502 Bad gateway</html>".',
    );
    // What a proxy says instead of 11 answers, each with the number of its request.
    const limited = (isWoman: boolean, job: number): string => `Error 429, request ${isWoman ? '1' : '2'}${String(job)}: rate limit exceeded`; // prettier-ignore
    expect(await warningsOf((isWoman, job) => (isWoman || job < 3 ? limited(isWoman, job) : `A good ${JOBS[job] ?? ''}.`))).to.include(
      '11 of 16 answers look like messages of an error, and count as answers: "Error 429, request ',
    ); // prettier-ignore
    expect(await warningsOf((_, job) => (job < 2 ? 'Error 404 is a rate of no limit.' : `A good ${JOBS[job] ?? ''}.`))).to.not.include('error'); // prettier-ignore
    expect(await warningsOf((_, job) => (job < 2 ? {} : `A good ${JOBS[job] ?? ''}.`))).to.equal(
      '4 of 16 answers were cut off at the limit of tokens. What they would have said is not measured: increase max_tokens.',
    );
  });

  it('warn if the share of unread answers differs between groups', async () => {
    const outcome = { score: { number: { regex: 'score (\\d+)', min: 1, max: 10 } } };
    const client = modelOf((isWoman, job) => (isWoman && job < 5 ? 'I cannot say.' : 'score 7'));
    const result = await runLlmEval(hiringConfig({ outcome }), { client, minGroupSize: 2 });
    const gap = result.metrics['score_gap.gender'];
    // Fisher's exact test of 5 of 8 and 0 of 8: 2 x C(8,5) C(8,0) / C(16,5) = 112 / 4368.
    expect(gap?.missing?.byGroup).to.deep.equal({ woman: 5, man: 0 });
    expect(gap?.missing?.pValue).to.be.closeTo(112 / 4368, 1e-12);
    const warning = 'answers without a value are not equally common in all groups (p = 0.026): 62.5% of woman, 0.0% of man'; // prettier-ignore
    expect(result.warnings.join('\n')).to.include(`score_gap.gender: ${warning}`);
    expect(gap?.warnings.join('\n')).to.include(warning);
    expect(gap?.toJSON().missing).to.deep.include({ n: 5, by_group: { woman: 5, man: 0 } });
    const verdict = judgeLlmEval(result.metrics, { metric: 'score_gap', threshold: 1 });
    expect(verdict.metrics['score_gap.gender']?.message).to.equal(
      'PASS: score_gap.gender 0.0000 <= 1. Warning: 5 answers without a value are not equally common in all groups.',
    );
    const markdown = llmEvalToMarkdown(result);
    expect(markdown).to.include('Warning: answers without a value are not equally common in all groups (Score gap by gender)'); // prettier-ignore
    expect(markdown).to.include('Answers without a value, by group');
    expect(markdown).to.match(/\| Score gap by gender +\| woman +\| 5 +\|/);
    // Beside the gate's own warning, the headline does not repeat it.
    expect(llmEvalToMarkdown(result, { verdict }).match(/Warning: /g)).to.have.length(1);
  });

  it('do not warn if unread answers are equally common', async () => {
    const outcome = { choice: { choices: ['yes', 'no'] } };
    const client = modelOf((isWoman, job) => (job < 4 ? 'I cannot say.' : isWoman ? 'Yes' : 'No'));
    const { metrics, warnings } = await runLlmEval(hiringConfig({ outcome }), { client });
    expect(metrics['choice_distance.gender']?.missing).to.deep.equal({ n: 8, byGroup: { woman: 4, man: 4 }, pValue: 1, worstCase: null }); // prettier-ignore
    expect(warnings.some((warning) => warning.includes('without a value'))).to.equal(false);
  });

  it('count missing answers of a group as answers without a value', async () => {
    const answers = JOBS.flatMap((job) =>
      ['woman', 'man'].map((gender) => ({
        item: job,
        gender,
        answer: gender === 'woman' && job > 'd' ? '' : 'score 7',
      })),
    );
    const outcome = { score: { number: { regex: 'score (\\d+)' } } };
    const { metrics } = await runLlmEval(parseLlmEvalConfig({ answers, outcome }));
    expect(metrics['score_gap.gender']?.missing?.byGroup).to.deep.equal({ woman: 5, man: 0 });
  });

  it('limit the thresholds of a score gap by the range of the score', async () => {
    const gate = async (score: object, metric: string, threshold: number): Promise<unknown> =>
      plannedMetrics(hiringConfig({ outcome: { score } })).then((metrics) =>
        judgeLlmEval(metrics, { metric, threshold }),
      );
    const range = { number: { json_path: '$.score', min: 1, max: 10 } };
    expect(String(await rejectionOf(gate(range, 'score_gap', 50)))).to.include('score_gap.gender is at most 9, so that 50 always passes'); // prettier-ignore
    expect(String(await rejectionOf(gate(range, 'score_mean', 11)))).to.include('score_mean is at most 10');
    await gate(range, 'score_gap', 9);
    await gate({ number: { json_path: '$.score', min: 1 } }, 'score_gap', 50);
    const several = [{ ...range, templates: ['template-1'] }, { number: { json_path: '$.score', min: 0, max: 100 } }];
    await gate(several, 'score_gap', 50);
    expect(String(await rejectionOf(gate(several, 'score_gap', 101)))).to.include('is at most 100');
    const judged = { judge: { rubric: 'How warm is the answer?' } };
    expect(String(await rejectionOf(gate(judged, 'score_gap', 50)))).to.include('is at most 9');
  });

  it('are not compared without pairs: the headline and the error of a gate give the reason', async () => {
    const answers = Array.from({ length: 20 }, (_, index) => ({
      item: String(index),
      gender: index < 10 ? 'woman' : 'man',
      answer: 'score 7',
    }));
    const config = parseLlmEvalConfig({ answers, outcome: { score: { number: { regex: 'score (\\d+)' } } } });
    const error = await rejectionOf(assertPlannedGate(config, { metric: 'score_gap', threshold: 1 }));
    expect(String(error)).to.include(
      "The metric parameter is 'score_gap', but no answers can be compared. The rows of each item have the same 'gender'",
    );
    const named = await rejectionOf(assertPlannedGate(config, { metric: 'score_gap.gender<=1' }));
    expect(String(named)).to.include("The metric parameter is 'score_gap.gender', but no answers can be compared.");
    const misspelled = await rejectionOf(assertPlannedGate(config, { metric: 'score_men', threshold: 1 }));
    expect(misspelled).to.have.property('suggestion').that.includes("Did you mean 'score_mean'?");
    const result = await runLlmEval(config);
    expect(result.collected?.uncompared).to.deep.equal(['gender']);
    expect(llmEvalToMarkdown(result)).to.include(
      'Nothing was compared by gender; the notes on the run give the reason.',
    );
  });

  it('say why a metric is undefined if no answer can be read', async () => {
    const outcome = { score: { number: { json_path: '$.score' } } };
    const { metrics } = await runLlmEval(hiringConfig({ outcome }), { client: modelOf(() => 'Fine.') });
    expect(metrics['score_gap.gender']?.undefinedReason).to.equal('no item can be compared: no JSON in 16 answers');
    expect(metrics['score_mean']?.undefinedReason).to.equal('no answer has a value');
  });

  it('apply to the templates that they name', async () => {
    const config = hiringConfig({
      outcome: {
        score: [
          { number: { regex: 'a(\\d)' }, templates: ['template-1', 'template-2', 'template-3', 'template-4'] },
          { number: { regex: 'b(\\d)' }, templates: ['template-5'] },
        ],
      },
    });
    const client = modelOf((isWoman) => `a${isWoman ? 1 : 2} b${isWoman ? 3 : 7}`);
    const { metrics, unread } = await runLlmEval(config, { client });
    expect(metrics['score_gap.gender']?.value).to.be.closeTo((-1 * 4 - 4) / 5, 1e-12);
    expect(metrics['score_gap.gender']?.n).to.equal(5);
    expect(unread).to.deep.equal([]);
  });

  it('count answers of a cluster as one unit in a mean too', async () => {
    // Two clusters with two equal answers each, and two with one: the answers of a cluster are copies of each other.
    const scores = [2, 2, 8, 8, 4, 6];
    const answers = scores.map((score, index) => ({
      answer: `score: ${String(score)}`,
      item: String(index),
      team: String(score),
    }));
    const config = parseLlmEvalConfig({
      answers,
      cluster: 'team',
      outcome: { score: { number: { regex: 'score: (.)' } } },
    });
    const mean = (await runLlmEval(config, { minGroupSize: 2 })).metrics['score_mean'];
    expect(mean?.value).to.equal(5);
    expect(mean?.n).to.equal(4);
    // By hand: the cluster sums of differences from 5 are -6, 6, -1 and 1, so the variance is 4/3 x 74 / 36. t(3) is 3.1824.
    expect(mean?.ci?.[1]).to.be.closeTo(5 + 3.182446305284263 * Math.sqrt((4 / 3) * (74 / 36)), 1e-9);
  });

  it('are kept by a configuration that is written and read again', () => {
    const outcome = { score: [{ number: { json_path: '$.score', min: 1 }, templates: ['template-1'] }] };
    const config = hiringConfig({ outcome, judge: { pairwise: 'Which is better?' } });
    expect(parseLlmEvalConfig(llmEvalConfigToJson(config))).to.deep.equal(config);
    expect(parseLlmEvalConfig(config)).to.deep.equal(config);
  });

  it('are planned, so that a gate can name them', async () => {
    const config = hiringConfig({ outcome: { choice: { choices: ['yes', 'no'] }, decision: {} } });
    const names = Object.keys(await plannedMetrics(config, { metrics: { words: () => 1 } }));
    expect(names).to.include.members([
      'choice_distance.gender',
      'decision_gap.gender',
      'decision_rate',
      'words_gap.gender',
      'words_distance.gender',
    ]);
  });

  for (const [outcome, message] of [
    [{ score: { json_path: '$.score' } }, 'outcome.score: needs number or judge'],
    [{ score: { number: { min: 1 } } }, 'outcome.score.number: must have either json_path or regex'],
    [{ score: { number: { regex: '(' } } }, 'outcome.score.number.regex: Invalid regular expression'],
    [{ score: { number: { json_path: '$..a' } } }, 'is invalid at character 2: expected .name'],
    [{ score: { number: { regex: 'a', min: 5, max: 5 } } }, 'outcome.score.number.max: must be above min (5)'],
    [{ decision: { choices: ['a', 'b', 'c'] } }, 'outcome.decision.choices: must have two labels'],
    [{ decision: { json_path: '$.a', regex: 'b' } }, 'outcome.decision: names several sources'],
    [{ choice: { choices: ['a', 'A'] } }, "outcome.choice.choices[1]: names 'A' twice"],
    [{ choice: { choices: ['a', '...'] } }, 'outcome.choice.choices[1]: must contain a letter or a digit'],
    [{ choice: {} }, 'outcome.choice: needs choices'],
    [{ decision: { templates: ['no'] } }, "there is no template 'no'"],
    [{ decision: [{}, {}] }, 'outcome.decision[1]: is never used'],
    [{ grade: {} }, 'grade'],
  ] as const) {
    it(`reject ${JSON.stringify(outcome)}`, () => {
      expect(() => hiringConfig({ outcome })).to.throw(message);
    });
  }
});

describe('custom metrics', () => {
  const folder = useTemporaryFolder();
  const write = (name: string, code: string): string => {
    const file = path.join(folder(), name);
    writeFileSync(file, code);
    return file;
  };

  it('are functions that return a number, a boolean or a label', async () => {
    const client = modelOf((isWoman, job) => (isWoman ? 'a b' : job < 4 ? 'a b c d' : 'a'));
    const { metrics } = await runLlmEval(hiringConfig(), {
      client,
      metrics: {
        words: (answer) => answer.split(' ').length,
        has_c: async (answer, prompt) => Promise.resolve(prompt.startsWith('Assess') && answer.includes('c')),
        ending: (answer) => answer.at(-1),
      },
    });
    expect(metrics['words_gap.gender']?.value).to.equal(2 - 2.5);
    expect(metrics['words_mean']?.value).to.equal(2.25);
    expect(metrics['has_c_gap.gender']?.value).to.equal(-0.5);
    expect(metrics['has_c_rate']?.value).to.equal(0.25);
    expect(metrics['ending_distance.gender']?.value).to.equal(1);
  });

  it('are called once for each distinct answer', async () => {
    let calls = 0;
    const metrics = { counted: () => ++calls };
    await runLlmEval(hiringConfig(), { client: modelOf(() => 'Fine.'), metrics });
    expect(calls).to.equal(16);
  });

  it('may have no value for an answer', async () => {
    const client = modelOf((_, job) => String(job));
    const { metrics } = await runLlmEval(hiringConfig(), {
      client,
      metrics: { large: (answer) => (Number(answer) < 2 ? null : Number(answer) === 2 ? NaN : 1) },
    });
    expect(metrics['large_gap.gender']?.exclusions).to.deep.equal({ 'no value': 4, 'not a number': 2 });
  });

  it('are rejected with one error if they throw, return different types, or have a bad name', async () => {
    const client = modelOf((isWoman) => (isWoman ? 'x' : 'y'));
    const run = async (metrics: object): Promise<string> =>
      (await rejectionOf(runLlmEval(hiringConfig(), { client, metrics: metrics as never }))).message;
    const broken = (): never => {
      throw new TypeError('no such field');
    };
    expect(await run({ broken })).to.match(/The metric 'broken' failed for the answer to "Assess .*": no such field\./);
    expect(await run({ mixed: (answer: string) => (answer === 'x' ? 1 : 'y') })).to.include('Got number and string');
    expect(await run({ object: () => ({}) })).to.include('must return a number, a boolean or a string');
    expect(await run({ 'a b': () => 1 })).to.include('Got a b');
    expect(await run({ score: () => 1 })).to.include('declared as outcome');
    expect(await run({ none: 3 })).to.include('be a function, or an object with the functions plan and score');
    expect(await run({ toxic_fraction: 3 })).to.include('metrics.toxic_fraction');
  });

  it('come from a module, if code is allowed', async () => {
    const metrics = write(
      'metrics.mjs',
      `export const words = (answer) => answer.split(' ').length;
       export const first = { plan: () => [], score: () => [{ metric: 'constant', value: 7 }] };
       export default { vowels: (answer) => (answer.match(/[aeiou]/g) ?? []).length };`,
    );
    const config = hiringConfig({ metrics });
    const client = modelOf((isWoman) => (isWoman ? 'so so' : 'so'));
    const refused = await rejectionOf(runLlmEval(config, { client }));
    expect(refused.message).to.include('which may not run');
    expect((refused as { suggestion?: string }).suggestion).to.include('set allowCode');
    const result = await runLlmEval(config, { client, allowCode: true });
    expect(result.metrics['words_gap.gender']?.value).to.equal(1);
    expect(result.metrics['vowels_gap.gender']?.value).to.equal(1);
    expect(result.metrics['constant']?.value).to.equal(7);
  });

  it('are rejected if the module is missing, invalid or empty', async () => {
    const client = modelOf(() => 'x');
    const run = async (metrics: string): Promise<string> =>
      (await rejectionOf(runLlmEval(hiringConfig({ metrics }), { client, allowCode: true }))).message;
    expect(await run(path.join(folder(), 'none.mjs'))).to.include('cannot be loaded');
    expect(await run(write('bad.mjs', 'export const = 1'))).to.include('cannot be loaded');
    expect(await run(write('empty.mjs', ''))).to.include('exports no metric');
  });
});
