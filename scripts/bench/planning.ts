import { parseLlmEvalConfig } from '../../src/llm-evals/config/load-llm-eval-config.ts';
import { estimateDryRun } from '../../src/llm-evals/run/dry-run.ts';
import { median } from './measure.ts';
import { assertResult, type Note } from './report.ts';

const PROMPTS = 40_000;

const BAR_SECONDS = 3;

/** The number of templates. Each is filled with a name of every group. */
const TEMPLATES = 10;

const GROUPS = ['woman', 'man'];

/** B19: checks a plan of 40,000 prompts for four evaluators, and estimates its tokens and its cost. */
export async function benchPlans(note: Note): Promise<void> {
  const names = PROMPTS / TEMPLATES / GROUPS.length;
  const namesOf = (group: string) =>
    Array.from({ length: names }, (_, index) => `${group.slice(0, 2)}${String(index)}`);
  const text =
    'Write a reference for {name}, who has worked as a clerk in our office. {gender.subject} asked for it, and {gender.possessive} manager agreed that {gender.possessive} work was good.';
  const given = {
    provider: 'openai',
    model: 'gpt-4o-mini',
    counterfactual: {
      template: Array.from({ length: TEMPLATES }, (_, index) => `Task ${String(index)}. ${text}`),
      dimensions: { gender: GROUPS },
      name_pools: Object.fromEntries(GROUPS.map((group) => [group, namesOf(group)])),
    },
  };
  const plan = async () => {
    const start = performance.now();
    const estimate = await estimateDryRun(parseLlmEvalConfig(given), { cache: null });
    return { seconds: (performance.now() - start) / 1000, estimate };
  };
  const { estimate } = await plan();
  assertResult(estimate.requestCount === PROMPTS, 'every prompt is requested once');
  const { seconds } = await median(3, plan, (one) => one.seconds);
  const work = 'dry run of 40,000 prompts for four evaluators';
  note({ id: 'B19', work, seconds, bar: `< ${String(BAR_SECONDS)} s`, holds: seconds < BAR_SECONDS });
}
