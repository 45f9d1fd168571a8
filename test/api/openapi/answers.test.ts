import path from 'node:path';

import { expect } from 'chai';

import {
  llmEvalAnswerSchema,
  pipelineAnswerSchema,
  validationAnswerSchema,
  workflowAnswerSchema,
} from '../../../src/api/models/index.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { runCli, useTemporaryFolder } from '../../helpers/run-cli.ts';
import { SchemaChecker } from './schema-checker.ts';

/** Adds what the service adds to the output of the command line. */
const RUN = {
  run_id: '3b0c8c5e-5d1f-4f0f-8e4e-6a0f8c0f7f10',
  status: 'success',
  timestamp: '2026-01-31T09:30:00.000Z',
};

const VALIDATE = ['validate', '--csv', 'wages.csv', '--y-pred', 'wage_above_median', '--sensitive', 'gender'];
const WAGES = ['--config', path.join(projectRoot, 'config/cps-wages.yml'), '--csv', 'wages.csv'];
const LLM_EVAL = ['llm-eval', '--config', path.join(projectRoot, 'config/llm-eval.yml')];
const LLM_TARGETS = ['llm-eval', '--config', path.join(projectRoot, 'config/llm-targets.yml')];
const MODELS = {
  ValidationAnswer: validationAnswerSchema,
  PipelineAnswer: pipelineAnswerSchema,
  WorkflowAnswer: workflowAnswerSchema,
  LlmEvalAnswer: llmEvalAnswerSchema,
} as const;

interface Case {
  readonly model: keyof typeof MODELS;
  readonly args: readonly string[];
  readonly more?: Readonly<Record<string, unknown>>;
}

const PEOPLE = ['validate', '--csv', 'people.csv', '--y-pred', 'hired', '--sensitive', 'sex'];

const CASES: Readonly<Record<string, Case>> = {
  'a validation by one attribute': { model: 'ValidationAnswer', args: VALIDATE },
  'a validation whose metric is undefined': {
    model: 'ValidationAnswer',
    args: [
      ...VALIDATE,
      '--min-group-size',
      '100000',
      '--threshold',
      '0.1',
      '--metric',
      'demographic_parity_difference',
    ],
  },
  'a validation with everything, by two attributes': {
    model: 'ValidationAnswer',
    args: [
      ...VALIDATE,
      ...['--y-true', 'union', '--sensitive', 'race', '--control', 'sector', '--with-ci', '--with-effects'],
      ...['--with-p-value', '--threshold', '0.1', '--metric', 'equalized_odds_difference'],
    ],
  },
  'a validation by a ratio, as another library has it': {
    model: 'ValidationAnswer',
    args: [...VALIDATE, '--compat', 'fairlearn', '--with-ci', '--threshold', '0.8', '--metric', 'selection_rate_ratio'],
  },
  'a validation with clusters': { model: 'ValidationAnswer', args: [...PEOPLE, '--cluster', 'person'] },
  'a validation with a note on its data': { model: 'ValidationAnswer', args: PEOPLE },
  'a pipeline': { model: 'PipelineAnswer', args: ['pipeline', ...WAGES], more: { download: '/results/x/data' } },
  'a pipeline with steps': {
    model: 'PipelineAnswer',
    args: ['pipeline', '--config', 'steps.yml', '--csv', 'wages.csv'],
    more: { download: '/results/x/data' },
  },
  'a pipeline without detectors': {
    model: 'PipelineAnswer',
    args: ['pipeline', ...WAGES, '--no-detectors'],
    more: { download: '/results/x/data' },
  },
  'a workflow': { model: 'WorkflowAnswer', args: ['run-pipeline', ...WAGES] },
  'an evaluation of a language model': { model: 'LlmEvalAnswer', args: LLM_EVAL },
  'an evaluation with a gate': {
    model: 'LlmEvalAnswer',
    args: [...LLM_EVAL, '--metric', 'sentiment_gap,refusal_gap.gender', '--threshold', '0.2'],
  },
  'a dry run': { model: 'LlmEvalAnswer', args: [...LLM_EVAL, '--dry-run'] },
  'a comparison of two models': { model: 'LlmEvalAnswer', args: LLM_TARGETS },
  'a dry run of two models': { model: 'LlmEvalAnswer', args: [...LLM_TARGETS, '--dry-run'] },
};

/** Three rows for each of 200 people. */
const ROWS_OF_PEOPLE = [
  'person,sex,hired',
  ...Array.from(
    { length: 600 },
    (_, row) => `p${String(Math.floor(row / 3))},${row % 2 === 0 ? 'f' : 'm'},${String(row % 5 > 2 ? 1 : 0)}`,
  ),
].join('\n');

const STEPS = `sensitive: [gender, race]
benchmarks:
  gender: { female: 0.5, male: 0.5 }
pipeline:
  - { name: repair, transformer: DisparateImpactRemover, params: { features: [education], sensitive: gender } }
  - { name: weigh, transformer: InstanceReweighting }
`;

/** Returns every object in a value, at any depth. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Record<string, unknown>];
  return [...own, ...Object.values(value).flatMap(objectsIn)];
}

describe('the schemas of answers', () => {
  const checker = new SchemaChecker();
  const folder = useTemporaryFolder();
  const answers = new Map<string, unknown>();

  before(async function () {
    this.timeout(120_000);
    const { writeFile } = await import('node:fs/promises');
    await runCli(['sample-data', 'cps-wages', '--out', 'wages.csv'], { cwd: folder() });
    await writeFile(path.join(folder(), 'steps.yml'), STEPS);
    await writeFile(path.join(folder(), 'people.csv'), ROWS_OF_PEOPLE);
    for (const [name, { args, more }] of Object.entries(CASES)) {
      const { stdout, stderr } = await runCli([...args, '--json'], { cwd: folder() });
      expect(stdout, `${name}: ${stderr}`).to.not.equal('');
      // Only the command line has a manifest, with its command and its files.
      const { manifest: _, ...answer } = JSON.parse(stdout) as Record<string, unknown>;
      answers.set(name, { ...RUN, ...answer, ...more });
    }
  });

  for (const [name, { model }] of Object.entries(CASES)) {
    it(`accept the output of the command line: ${name}`, () => {
      expect(checker.problemsOf(model, answers.get(name))).to.deep.equal([]);
      expect(MODELS[model].safeParse(answers.get(name)).error?.issues).to.equal(undefined);
      expect(checker.problemsOf('Run', { ...runOf(answers.get(name)) })).to.deep.equal([]);
    });

    it(`reject it with an unknown field: ${name}`, () => {
      expect(checker.problemsOf(model, { ...(answers.get(name) as object), surprise: 1 })).to.not.deep.equal([]);
    });

    it(`reject it without any one of its fields: ${name}`, () => {
      const answer = answers.get(name) as Record<string, unknown>;
      for (const field of Object.keys(answer)) {
        if (field === 'control' || field === 'notes') continue;
        const { [field]: _, ...rest } = answer;
        expect(checker.problemsOf(model, rest), field).to.not.deep.equal([]);
      }
    });
  }

  it('reject a metric that is NaN, is text, or has no reason', () => {
    const answer = answers.get('a validation by one attribute');
    const metric = objectsIn(answer).find((part) => part['metric'] === 'demographic_parity_difference');
    expect(checker.problemsOf('MetricResult', metric)).to.deep.equal([]);
    expect(checker.problemsOf('MetricResult', { ...metric, value: NaN })).to.not.deep.equal([]);
    expect(checker.problemsOf('MetricResult', { ...metric, value: '0.1' })).to.not.deep.equal([]);
    const { undefined_reason: _, ...without } = metric ?? {};
    expect(checker.problemsOf('MetricResult', without)).to.not.deep.equal([]);
  });

  it('accept every problem that the service throws', () => {
    for (const status of [400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 422, 429, 500, 502, 503] as const) {
      const min = new ServiceProblem(status, { detail: 'No.' });
      const most = new ServiceProblem(status, {
        detail: 'No.',
        suggestion: 'Yes.',
        errors: [{ pointer: '/a/0', detail: 'b' }],
        runId: 'r',
      });
      for (const problem of [min, most]) {
        expect(checker.problemsOf('Problem', JSON.parse(JSON.stringify(problem)))).to.deep.equal([]);
      }
    }
    expect(checker.problemsOf('Problem', { ...new ServiceProblem(404, { detail: 'No.' }).toJSON(), status: 418 })).to
      .not.be.empty;
  });
});

function runOf(result: unknown): object {
  return {
    run_id: RUN.run_id,
    endpoint: '/validate',
    status: 'succeeded',
    result,
    problem: null,
    created_at: RUN.timestamp,
    finished_at: RUN.timestamp,
  };
}
