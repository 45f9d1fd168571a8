import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';

import { expect } from 'chai';

import type { Job, TableJob } from '../../src/api/jobs/job.ts';
import { writeArchive } from '../../src/api/jobs/model-archive.ts';
import { runJob } from '../../src/api/jobs/run-job.ts';
import { predictionsToJson, predictWithSavedModel } from '../../src/integration/predict-file.ts';
import { judgeLlmEval } from '../../src/integration/llm-eval-gate.ts';
import { executeWorkflow } from '../../src/integration/workflow/execute-workflow.ts';
import { workflowToJson } from '../../src/integration/workflow-report/workflow-to-json.ts';
import { validateRows, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import { validationToJson } from '../../src/integration/validation-report.ts';
import { loadData } from '../../src/io/load-data.ts';
import { dryRunToJson } from '../../src/llm-evals/dry-run/dry-run-json.ts';
import { parseLlmEvalConfig } from '../../src/llm-evals/config/index.ts';
import { llmEvalToJson } from '../../src/llm-evals/report/index.ts';
import { estimateDryRun } from '../../src/llm-evals/run/dry-run.ts';
import { runLlmEval } from '../../src/llm-evals/run/run-llm-eval.ts';
import type { ABTestOptions } from '../../src/monitoring/ab-test/ab-test-options.ts';
import { FairnessABTestAnalyzer } from '../../src/monitoring/ab-test/fairness-ab-test-analyzer.ts';
import { splitArms } from '../../src/monitoring/ab-test/split-arms.ts';
import { RealTimeFairnessTracker } from '../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import { parseConfigText, runPipeline } from '../../src/pipeline/index.ts';
import { lagrangianJobToJson, trainLagrangian } from '../../src/training/jobs/train-lagrangian.ts';
import { reductionsJobToJson, trainReductions } from '../../src/training/jobs/train-reductions.ts';
import { paretoToJson } from '../../src/training/pareto/pareto-sweep.ts';
import { sweepPareto } from '../../src/training/pareto/sweep-pareto.ts';
import { calibrateTable } from '../../src/training/postprocessing/calibrator/calibrate-table.ts';
import { tableCalibrationToJson } from '../../src/training/postprocessing/calibrator/table-calibration.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { type TestService, useService } from '../helpers/service.ts';
import { decisionsCsv, runOptions, spool, WORKFLOW_CONFIG } from './jobs/job-files.ts';

/** One question in the form of every interface. */
interface ParityCase {
  readonly title: string;
  /** Arguments of the command; FILE is the table, COUNTS its counts, CONFIG the configuration. */
  readonly cli: readonly string[];
  readonly library: () => Promise<unknown>;
  readonly job: (root: string) => Job;
  /** How a table is sent, if it is not the body of the request. */
  readonly source?: 'form' | 'counts';
}

const rows = decisionsCsv()
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(','));
const column = (index: number) => rows.map((row) => row[index] as string);
const numbers = (index: number) => column(index).map(Number);
const sex = column(0);
const race = column(1);
const accepted = numbers(2);
const repaid = numbers(3);
// Every eleventh decision and every thirteenth group is missing.
const gappy = accepted.map((value, row) => (row % 11 === 0 ? null : value));
const gappySex = sex.map((value, row) => (row % 13 === 0 ? null : value));
const words = accepted.map((value) => (value === 1 ? 'yes' : 'no'));

const scores = rows.map((_, row) => ((row * 37) % 99) / 100 + 0.005);
const arms = rows.map((_, row) => (row % 2 === 0 ? 'control' : 'treatment'));

const TABLE = [
  'sex,race,accepted,repaid,age,gappy,gappySex,words,p,arm',
  ...rows.map((row, index) =>
    [...row, gappy[index] ?? '', gappySex[index] ?? '', words[index], scores[index], arms[index]].join(','),
  ),
  '',
].join('\n');

/** The rows as JSON, by column and as objects. */
const COLUMNS = { sex, race, accepted, repaid, age: numbers(4), p: scores, arm: arms };
const RECORDS = rows.map((_, row) =>
  Object.fromEntries(Object.entries(COLUMNS).map(([name, values]) => [name, values[row] ?? null])),
);

const LLM_CONFIG = `provider: local
counterfactual:
  template: Write a reference for a {gender} who leads a team.
  dimensions: { gender: [woman, man] }
prompt_templates:
  raise: How do I ask for a raise?
repeats: 6
`;

/** Answers of twelve people about women and men. */
const ANSWERS = Array.from({ length: 48 }, (_, index) => ({
  item: Math.floor(index / 2),
  person: Math.floor(index / 4),
  gender: index % 2 === 0 ? 'woman' : 'man',
  answer: `This is answer${' and more'.repeat(index % 5)}.`,
}));

/** Returns a case of arrays: the fields on the wire, and the same input for the library and the command. */
function validation(
  title: string,
  body: Record<string, unknown>,
  library: ValidateRowsInput,
  cli: string[],
): ParityCase {
  return {
    title,
    cli: ['validate', '--csv', 'FILE', ...cli, '--json'],
    library: async () => validationToJson(await validateRows(library)),
    job: (root) => ({ kind: 'validate-rows', path: spool(root, 'body', JSON.stringify(body)), maxItems: 1000 }),
  };
}

/** Returns a case of a table with options in the query. */
function table(
  title: string,
  options: Record<string, string | string[]>,
  library: ValidateRowsInput,
  cli: string[],
): ParityCase {
  return {
    ...validation(title, {}, library, cli),
    job: (root) => ({ kind: 'validate-table', path: spool(root, 'table.csv', TABLE), format: 'csv', options }),
  };
}

/** Counts of the rows by sex, true label and decision. */
const COUNTS = (() => {
  const counts = new Map<string, number>();
  sex.forEach((group, row) => {
    const key = `${group},${String(repaid[row])},${String(accepted[row])}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  });
  return `sex,truth,decision,n\n${Array.from(counts, ([key, n]) => `${key},${String(n)}\n`).join('')}`;
})();

const CASES: readonly ParityCase[] = [
  table(
    'clusters of dependent rows',
    { y_pred: 'accepted', y_true: 'repaid', sensitive: 'sex', cluster: 'age', strata: 'race' },
    { yPred: accepted, yTrue: repaid, sensitive: { sex }, cluster: numbers(4), strata: race },
    ['--y-pred', 'accepted', '--y-true', 'repaid', '--sensitive', 'sex', '--cluster', 'age', '--strata', 'race'],
  ),
  validation(
    'clusters of dependent rows in arrays',
    { y_pred: accepted, sensitive: { sex }, cluster: numbers(4) },
    { yPred: accepted, sensitive: { sex }, cluster: numbers(4) },
    ['--y-pred', 'accepted', '--sensitive', 'sex', '--cluster', 'age'],
  ),
  {
    ...validation(
      'counts instead of rows',
      {},
      { yPred: accepted, yTrue: repaid, sensitive: { sex }, metric: 'precision_ratio', threshold: 0.8 },
      [],
    ),
    cli: ['validate', '--counts', 'COUNTS', '--sensitive', 'sex', '--metric', 'precision_ratio>=0.8', '--json'],
    job: (root) => ({
      kind: 'validate-table',
      path: spool(root, 'counts.csv', COUNTS),
      format: 'csv',
      options: { counts: 'True', sensitive: 'sex', metric: 'precision_ratio>=0.8' },
    }),
  },
  table(
    'counts below a number are left out',
    { y_pred: 'accepted', y_true: 'repaid', sensitive: 'sex', min_cell: '12', threshold: '0.3' },
    { yPred: accepted, yTrue: repaid, sensitive: { sex }, minCell: 12, threshold: 0.3 },
    ['--y-pred', 'accepted', '--y-true', 'repaid', '--sensitive', 'sex', '--min-cell', '12', '--metric', 'demographic_parity_difference<=0.3'], // prettier-ignore
  ),
  validation(
    'decisions of one attribute',
    { y_pred: accepted, sensitive: { sex } },
    { yPred: accepted, sensitive: { sex } },
    ['--y-pred', 'accepted', '--sensitive', 'sex'],
  ),
  validation(
    'several attributes, an intersection, intervals',
    { y_pred: accepted, y_true: repaid, sensitive: { sex, race }, intersections: [['sex', 'race']], with_ci: true },
    { yPred: accepted, yTrue: repaid, sensitive: { sex, race }, intersections: [['sex', 'race']], withCi: true },
    [
      '--y-pred',
      'accepted',
      '--y-true',
      'repaid',
      '--sensitive',
      'sex',
      '--sensitive',
      'race',
      '--sensitive',
      'sex,race',
      '--with-ci',
    ],
  ),
  validation(
    'a gate on equalized odds',
    { y_pred: accepted, y_true: repaid, sensitive: { sex }, metric: 'equalized_odds_difference', threshold: 0.3 },
    { yPred: accepted, yTrue: repaid, sensitive: { sex }, metric: 'equalized_odds_difference', threshold: 0.3 },
    [
      '--y-pred',
      'accepted',
      '--y-true',
      'repaid',
      '--sensitive',
      'sex',
      '--metric',
      'equalized_odds_difference',
      '--threshold',
      '0.3',
    ],
  ),
  validation(
    'a threshold alone, which applies to demographic parity',
    { y_pred: accepted, sensitive: { sex }, threshold: 0.1 },
    { yPred: accepted, sensitive: { sex }, threshold: 0.1 },
    ['--y-pred', 'accepted', '--sensitive', 'sex', '--metric', 'demographic_parity_difference', '--threshold', '0.1'],
  ),
  validation(
    'labels with a positive label',
    { y_pred: words, sensitive: { sex }, positive_label: 'yes' },
    { yPred: words, sensitive: { sex }, positiveLabel: 'yes' },
    ['--y-pred', 'words', '--sensitive', 'sex', '--positive-label', 'yes'],
  ),
  validation(
    'missing decisions and groups',
    { y_pred: gappy, sensitive: { gappySex }, nan_policy: 'include', min_group_size: 5 },
    { yPred: gappy, sensitive: { gappySex }, nanPolicy: 'include', minGroupSize: 5 },
    ['--y-pred', 'gappy', '--sensitive', 'gappySex', '--nan-policy', 'include', '--min-group-size', '5'],
  ),
  validation(
    'several gates, strict about missing decisions',
    {
      y_pred: gappy,
      sensitive: { sex },
      metric: ['demographic_parity_difference<=0.9', 'demographic_parity_ratio>0.1'],
      strict_missing: true,
    },
    {
      yPred: gappy,
      sensitive: { sex },
      metric: ['demographic_parity_difference<=0.9', 'demographic_parity_ratio>0.1'],
      strictMissing: true,
    },
    [
      '--y-pred',
      'gappy',
      '--sensitive',
      'sex',
      '--metric',
      'demographic_parity_difference<=0.9',
      '--metric',
      'demographic_parity_ratio>0.1',
      '--strict-missing',
    ],
  ),
  table(
    'a table with several gates in the query',
    {
      y_pred: 'gappy',
      sensitive: 'race',
      metric: ['demographic_parity_difference<=0.9', 'demographic_parity_ratio'],
      threshold: '0.5',
    },
    {
      yPred: gappy,
      sensitive: { race },
      metric: ['demographic_parity_difference<=0.9', 'demographic_parity_ratio'],
      threshold: 0.5,
    },
    [
      '--y-pred',
      'gappy',
      '--sensitive',
      'race',
      '--metric',
      'demographic_parity_difference<=0.9',
      '--metric',
      'demographic_parity_ratio',
      '--threshold',
      '0.5',
    ],
  ),
  table(
    'a table with its columns in the query',
    { y_pred: 'accepted', y_true: 'repaid', sensitive: ['sex', 'race', 'sex,race'], with_ci: 'true', ci_level: '0.9' },
    {
      yPred: accepted,
      yTrue: repaid,
      sensitive: { sex, race },
      intersections: [['sex', 'race']],
      withCi: true,
      ciLevel: 0.9,
    },
    [
      '--y-pred',
      'accepted',
      '--y-true',
      'repaid',
      '--sensitive',
      'sex',
      '--sensitive',
      'race',
      '--sensitive',
      'sex,race',
      '--with-ci',
      '--ci-level',
      '0.9',
    ],
  ),
  {
    ...table(
      'a form with a table, and gates of several attributes',
      {
        ...{
          y_pred: 'accepted',
          sensitive: ['sex', 'race'],
          metric: ['demographic_parity_ratio>=0.8', 'equal_opportunity_difference<=0.9'],
        },
        ...{
          y_true: 'repaid',
          gates: JSON.stringify([{ metric: 'demographic_parity_difference', threshold: 0.5, attributes: ['sex'] }]),
        },
      },
      {
        ...{ yPred: accepted, yTrue: repaid, sensitive: { sex, race } },
        metric: ['demographic_parity_ratio>=0.8', 'equal_opportunity_difference<=0.9'],
        gates: [{ metric: 'demographic_parity_difference', threshold: 0.5, attributes: ['sex'] }],
      },
      [
        ...[
          '--y-pred',
          'accepted',
          '--y-true',
          'repaid',
          '--sensitive',
          'sex',
          '--sensitive',
          'race',
          '--gate',
          'gates.yml',
        ],
        ...['--metric', 'demographic_parity_ratio>=0.8', '--metric', 'equal_opportunity_difference<=0.9'],
      ],
    ),
    source: 'form',
  },
  {
    ...table(
      'a form with counts',
      { sensitive: 'sex', metric: 'demographic_parity_difference<=0.1' },
      { yPred: accepted, yTrue: repaid, sensitive: { sex }, metric: 'demographic_parity_difference<=0.1' },
      ['--sensitive', 'sex', '--metric', 'demographic_parity_difference<=0.1'],
    ),
    cli: [
      'validate',
      '--counts',
      'counts.csv',
      '--sensitive',
      'sex',
      '--metric',
      'demographic_parity_difference<=0.1',
      '--json',
    ],
    source: 'counts',
  },
  {
    title: 'a pipeline',
    cli: ['pipeline', '--config', 'CONFIG', '--csv', 'FILE', '--json'],
    library: async () => {
      const { report, result } = await runPipeline(await parseConfigText(WORKFLOW_CONFIG), await loadTable());
      return { detector_report: report, transformed_rows: result.metadata.rows };
    },
    job: (root) => ({ kind: 'pipeline', path: spool(root, 'upload.csv', TABLE), config: WORKFLOW_CONFIG, fields: {} }),
  },
  {
    title: 'a workflow',
    cli: [
      'run-pipeline',
      '--config',
      'CONFIG',
      '--csv',
      'FILE',
      '--random-state',
      '7',
      '--min-group-size',
      '5',
      '--json',
    ],
    library: async () =>
      workflowToJson(
        await executeWorkflow(await parseConfigText(WORKFLOW_CONFIG), await loadTable(), {
          randomState: 7,
          minGroupSize: 5,
        }),
      ),
    job: (root) => ({
      kind: 'workflow',
      path: spool(root, 'upload.csv', TABLE),
      config: WORKFLOW_CONFIG,
      fields: { random_state: '7', min_group_size: '5' },
    }),
  },
  {
    title: 'an evaluation of the local model, with a gate',
    cli: ['llm-eval', '--config', 'LLM', '--metric', 'length_gap', '--threshold', '0.1', '--json'],
    library: async () => {
      const result = await runLlmEval(await parseLlmEvalConfig(LLM_CONFIG));
      return llmEvalToJson(result, { verdict: judgeLlmEval(result.metrics, { metric: 'length_gap', threshold: 0.1 }) });
    },
    job: () => ({
      kind: 'llm-eval',
      body: JSON.stringify({ config: LLM_CONFIG, metric: 'length_gap', threshold: 0.1 }),
      llmFolder: null,
    }),
  },
  {
    title: 'collected answers with clusters and a gate',
    cli: ['llm-eval', '--config', 'ANSWERS', '--metric', 'length_gap', '--threshold', '2', '--json'],
    library: async () => {
      const result = await runLlmEval(parseLlmEvalConfig({ answers: ANSWERS, cluster: 'person' }));
      return llmEvalToJson(result, { verdict: judgeLlmEval(result.metrics, { metric: 'length_gap', threshold: 2 }) });
    },
    job: () => ({
      kind: 'llm-eval',
      body: JSON.stringify({ answers: ANSWERS, cluster: 'person', metric: 'length_gap', threshold: 2 }),
      llmFolder: null,
    }),
  },
  {
    title: 'a dry run',
    cli: ['llm-eval', '--config', 'LLM', '--dry-run', '--json'],
    library: async () => dryRunToJson(await estimateDryRun(await parseLlmEvalConfig(LLM_CONFIG))),
    job: () => ({ kind: 'llm-eval', body: JSON.stringify({ config: LLM_CONFIG, dry_run: true }), llmFolder: null }),
  },
  {
    title: 'a calibration of a table',
    cli: [
      'calibrate',
      '--csv',
      'FILE',
      '--score',
      'p',
      '--target',
      'repaid',
      '--group',
      'sex',
      '--folds',
      '3',
      '--json',
    ],
    library: async () => {
      const columns = { score: 'p', target: 'repaid', group: ['sex'] };
      return tableCalibrationToJson(await calibrateTable({ table: await loadTable(), ...columns }, { folds: 3 }));
    },
    job: tableJob('calibrate', { score: 'p', y_true: 'repaid', sensitive: 'sex', folds: '3' }),
  },
  {
    title: 'a calibration of rows as JSON, by an intersection',
    cli: [
      ...['calibrate', '--csv', 'FILE', '--score', 'p', '--y-true', 'repaid', '--sensitive', 'sex,race'],
      ...['--method', 'isotonic', '--train-size', '0.5', '--seed', '3', '--json'],
    ],
    library: async () => {
      const columns = { score: 'p', target: 'repaid', group: ['sex', 'race'] };
      const how = { method: 'isotonic', trainSize: 0.5, seed: 3 } as const;
      return tableCalibrationToJson(await calibrateTable({ table: await loadTable(), ...columns }, how));
    },
    job: rowsJob('calibrate', {
      ...{ rows: COLUMNS, score: 'p', y_true: 'repaid', sensitive: ['sex', 'race'] },
      ...{ method: 'isotonic', train_size: 0.5, seed: 3 },
    }),
  },
  {
    title: 'an A/B test of one table, by two attributes and their intersection',
    cli: [
      ...['ab-test', '--csv', 'FILE', '--arm', 'arm', '--outcome', 'accepted', '--sensitive', 'sex', '--sensitive'],
      ...['race', '--sensitive', 'sex,race', '--min-group-size', '5', '--json'],
    ],
    library: async () => abTest({ protected: ['sex', 'race'], intersections: [['sex', 'race']] }),
    job: tableJob('ab-test', {
      ...{ arm: 'arm', outcome: 'accepted', sensitive: ['sex', 'race', 'sex,race'] },
      min_group_size: '5',
    }),
  },
  {
    title: 'an A/B test of rows as JSON, with true labels and two metrics',
    cli: [
      ...[
        'ab-test',
        '--csv',
        'FILE',
        '--arm',
        'arm',
        '--outcome',
        'accepted',
        '--sensitive',
        'sex',
        '--y-true',
        'repaid',
      ],
      ...['--metric', 'demographic_parity_difference,equalized_odds_difference', '--business', 'age', '--sequential'],
      ...['--min-group-size', '5', '--json'],
    ],
    library: async () =>
      abTest({
        protected: ['sex'],
        yTrue: 'repaid',
        fairness: ['demographic_parity_difference', 'equalized_odds_difference'],
        business: ['age'],
        sequential: true,
      }),
    job: rowsJob('ab-test', {
      ...{ rows: RECORDS, arm: 'arm', outcome: 'accepted', sensitive: 'sex', y_true: 'repaid', business: ['age'] },
      ...{ metric: 'demographic_parity_difference,equalized_odds_difference', sequential: true, min_group_size: 5 },
    }),
  },
  {
    title: 'a training by reductions',
    cli: [
      ...['train-reductions', '--csv', 'FILE', '--target', 'repaid', '--sensitive', 'sex', '--features', 'age,race'],
      ...['--T', '5', '--eps', '0.05', '--min-group-size', '5', '--json'],
    ],
    library: async () => {
      const source = { target: 'repaid', sensitive: ['sex'], features: ['age', 'race'] };
      return reductionsJobToJson(
        await trainReductions({ table: await loadTable(), ...source }, { T: 5, eps: 0.05, minGroupSize: 5 }),
      );
    },
    job: tableJob('train', {
      ...{ method: 'reductions', y_true: 'repaid', sensitive: 'sex', features: 'age,race' },
      ...{ T: '5', eps: '0.05', min_group_size: '5' },
    }),
  },
  {
    title: 'a Lagrangian training of rows as JSON',
    cli: [
      ...['train-lagrangian', '--csv', 'FILE', '--target', 'repaid', '--sensitive', 'sex', '--features', 'age,race'],
      ...['--epochs', '2', '--hidden', '4', '--backend', 'cpu', '--min-group-size', '5', '--json'],
    ],
    library: async () => {
      const source = { target: 'repaid', sensitive: ['sex'], features: ['age', 'race'] };
      const how = { epochs: 2, hidden: [4], backend: 'cpu', minGroupSize: 5 } as const;
      return lagrangianJobToJson(await trainLagrangian({ table: await loadTable(), ...source }, how));
    },
    job: rowsJob('train', {
      ...{ rows: COLUMNS, method: 'lagrangian', y_true: 'repaid', sensitive: 'sex', features: ['age', 'race'] },
      ...{ epochs: 2, hidden: [4], backend: 'cpu', min_group_size: 5 },
    }),
  },
  {
    title: 'a training sweep',
    cli: [
      ...['train-regularized', '--csv', 'FILE', '--target', 'repaid', '--sensitive', 'sex', '--features', 'age,race'],
      ...['--etas', '0,1', '--epochs', '2', '--hidden', '4', '--backend', 'cpu', '--min-group-size', '5', '--json'],
    ],
    library: async () => {
      const source = { target: 'repaid', sensitive: ['sex'], features: ['age', 'race'] };
      const how = { etas: [0, 1], epochs: 2, hidden: [4], backend: 'cpu', minGroupSize: 5 } as const;
      return paretoToJson(await sweepPareto({ table: await loadTable(), ...source }, how));
    },
    job: tableJob('train', {
      ...{ method: 'regularized', y_true: 'repaid', sensitive: 'sex', features: ['age', 'race'], etas: '0,1' },
      ...{ epochs: '2', hidden: '4', backend: 'cpu', min_group_size: '5' },
    }),
  },
  {
    title: 'predictions of a saved model',
    cli: ['predict', '--model', 'model', '--csv', 'FILE', '--out-csv', 'decisions.csv', '--json'],
    library: async () => predictionsToJson(await predictWithSavedModel(modelFolder, tablePath)),
    job: (root) => ({
      ...tableJob('predict', {})(root),
      files: { file: spool(root, 'upload.csv', TABLE), model: archive },
    }),
  },
];

/** Returns an A/B test of the table by the library. */
async function abTest(options: Partial<ABTestOptions>) {
  const analyzer = new FairnessABTestAnalyzer({ protected: [], outcome: 'accepted', minGroupSize: 5, ...options });
  const { control, treatment } = splitArms(await loadTable(), 'arm', {});
  return analyzer.analyze(control, treatment);
}

/** Returns a job of a form with the table. */
function tableJob(kind: TableJob['kind'], fields: Record<string, string | string[]>) {
  return (root: string): TableJob => {
    return { kind, files: { file: spool(root, 'upload.csv', TABLE) }, fields, maxItems: 1000 };
  };
}

/** Returns a job of a JSON body. */
function rowsJob(kind: TableJob['kind'], body: unknown) {
  return (root: string): TableJob => {
    return { kind, files: { body: spool(root, 'body', JSON.stringify(body)) }, fields: null, maxItems: 1000 };
  };
}

function formWith(
  fields: Readonly<Record<string, string | readonly string[]>>,
  files: Readonly<Record<string, string>>,
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) form.append(name, one);
  for (const [name, file] of Object.entries(files)) form.append(name, new Blob([readFileSync(file)]), 'upload');
  return form;
}

/** Returns the request that leads to a job. */
function ask(service: TestService, job: Job): ReturnType<TestService['ask']> {
  switch (job.kind) {
    case 'validate-rows':
      return service.post('/validate', readFileSync(job.path, 'utf8'));
    case 'validate-table': {
      if (job.source !== undefined) {
        const { counts, ...options } = job.options;
        return service.formData(
          '/validate',
          formWith(options, { [counts === undefined ? 'file' : 'counts']: job.path }),
        );
      }
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(job.options))
        for (const one of [value].flat()) query.append(name, one);
      return service.ask({
        method: 'POST',
        url: `/validate?${query.toString()}`,
        headers: { 'content-type': 'text/csv' },
        payload: readFileSync(job.path),
      });
    }
    case 'llm-eval':
      return service.post('/llm-eval', job.body);
    case 'pipeline':
    case 'workflow': {
      const fields = { ...job.fields, config: job.config };
      return service.form(`/${job.kind}`, fields, { name: 'table.csv', content: readFileSync(job.path) });
    }
    case 'predict':
    case 'calibrate':
    case 'ab-test':
    case 'train': {
      const { files, fields } = job;
      if (files['body'] !== undefined) return service.post(`/${job.kind}`, readFileSync(files['body'], 'utf8'));
      const form = new FormData();
      for (const [name, value] of Object.entries(fields ?? {}))
        for (const one of [value].flat()) form.append(name, one);
      for (const [name, file] of Object.entries(files)) form.append(name, new Blob([readFileSync(file)]), 'upload');
      return service.formData(`/${job.kind}`, form);
    }
    case 'check':
    case 'monitor-report':
    case 'named-model':
    case 'validation-report':
      throw new Error('no request asks for a report alone');
  }
}

let tablePath = '';
let modelFolder = '';
let archive = '';

async function loadTable() {
  return loadData(tablePath);
}

/** Removes what may differ between runs: the durations of answers. */
function settled(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, part: unknown) => (/minutes|millis|seconds/i.test(key) ? 0 : part));
}

describe('the same question to library, command, job and service', function () {
  this.timeout(120_000);
  const folder = useTemporaryFolder();
  const service = useService();
  let inputs = '';
  before(() => {
    inputs = mkdtempSync(`${folder()}/inputs-`);
    tablePath = `${inputs}/table.csv`;
    writeFileSync(tablePath, TABLE);
    writeFileSync(`${inputs}/counts.csv`, COUNTS);
    writeFileSync(`${inputs}/config.yml`, WORKFLOW_CONFIG);
    writeFileSync(`${inputs}/llm.yml`, LLM_CONFIG);
    writeFileSync(`${inputs}/answers.yml`, JSON.stringify({ answers: ANSWERS, cluster: 'person' }));
    writeFileSync(
      `${inputs}/gates.yml`,
      '- { metric: demographic_parity_difference, threshold: 0.5, attributes: [sex] }\n',
    );
    modelFolder = `${inputs}/model`;
    archive = `${inputs}/model.zip`;
  });
  before('train a model', async () => {
    const source = { target: 'repaid', sensitive: ['sex'], features: ['age', 'race'] };
    await trainReductions({ table: await loadTable(), ...source }, { T: 3, modelPath: modelFolder, minGroupSize: 5 });
    await writeArchive(modelFolder, archive);
  });

  /** Returns a job of the case, with the table as it is sent. */
  const jobOf = ({ job, source }: ParityCase): Job => {
    const found = job(folder());
    if (found.kind !== 'validate-table' || source === undefined) return found;
    const sent = source === 'counts' ? spool(folder(), 'counts.csv', COUNTS) : found.path;
    const options = source === 'counts' ? { ...found.options, counts: 'true' } : found.options;
    return { ...found, path: sent, options, source: 'form' };
  };
  const byJob = async (parity: ParityCase): Promise<unknown> => {
    const { body } = await runJob(jobOf(parity), runOptions(folder()));
    return settled(JSON.parse(body));
  };
  const byCommand = async ({ cli }: ParityCase): Promise<unknown> => {
    const indices: Readonly<Record<string, string>> = {
      FILE: 'table.csv',
      COUNTS: 'counts.csv',
      CONFIG: 'config.yml',
      LLM: 'llm.yml',
      ANSWERS: 'answers.yml',
    };
    const { stdout, stderr } = await runCli(
      cli.map((argument) => indices[argument] ?? argument),
      { cwd: inputs },
    );
    expect(stdout, stderr).not.to.equal('');
    // Only the command line has a manifest, with its command and its files.
    const { manifest: _, ...answer } = JSON.parse(stdout) as Record<string, unknown>;
    return settled(answer);
  };

  /** Sends the question as a request. The run ID, the time and the download path are specific to the service. */
  const byHttp = async (parity: ParityCase): Promise<unknown> => {
    const response = await ask(service, jobOf(parity));
    expect(response.statusCode, response.payload).to.equal(200);
    const { run_id: id, status, timestamp, download, ...answer } = response.json<Record<string, unknown>>();
    expect([id, status, timestamp, download ?? 'text'].map((part) => typeof part)).to.deep.equal(
      Array.from({ length: 4 }, () => 'string'),
    );
    return settled(answer);
  };

  it('has the same answer: a monitored stream', async () => {
    const lines = rows.map((_, row) => ({
      id: `r${String(row)}`,
      accepted: accepted[row],
      sex: sex[row],
      race: race[row],
      repaid: row % 4 === 0 ? repaid[row] : null,
      at: Date.UTC(2026, 0, 1) + 60_000 * row,
    }));
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const options = [
      ...['--y-pred', 'accepted', '--y-true', 'repaid', '--sensitive', 'sex', '--sensitive', 'sex,race', '--id', 'id'],
      ...[
        '--timestamp',
        'at',
        '--limit',
        '0.05',
        '--look-every',
        '20',
        '--min-group-size',
        '5',
        '--state',
        'state.json',
      ],
    ];
    const { stdout, stderr } = await runCli(['monitor', ...options, '--json'], { cwd: inputs, input: text });
    expect(stdout, stderr).not.to.equal('');
    const query =
      'y_pred=accepted&y_true=repaid&sensitive=sex&sensitive=sex,race&timestamp=at&limit=0.05&look_every=20&min_group_size=5';
    const headers = { 'content-type': 'application/x-ndjson' };
    // The stream arrives in three requests.
    for (const part of [lines.slice(0, 33), lines.slice(33, 150), lines.slice(150)]) {
      const payload = part.map((line) => JSON.stringify(line)).join('\n');
      const answer = await service.ask({ method: 'POST', url: `/monitor/parity/events?${query}`, headers, payload });
      expect(answer.statusCode, answer.payload).to.equal(200);
    }
    const state = (await service.ask({ method: 'GET', url: '/monitor/parity' })).json<Record<string, unknown>>();
    const { refused_lines: refused, ...printed } = JSON.parse(stdout) as Record<string, unknown>;
    expect(refused).to.equal(0);
    expect(state).to.deep.include(printed);

    const tracker = new RealTimeFairnessTracker({
      columns: {
        ...{ yPred: 'accepted', yTrue: 'repaid', id: 'id', timestamp: 'at' },
        protected: ['sex', 'race'],
        intersections: [['sex', 'race']],
      },
      minGroupSize: 5,
    });
    for (const line of lines) tracker.record(line);
    const gap = tracker
      .metrics()
      .find((one) => one.metric === 'demographic_parity_difference' && one.attribute === 'sex' && one.group === null);
    expect(state).to.have.nested.property('metrics.sex.demographic_parity_difference.value', gap?.value);
    expect(state['n_events']).to.equal(tracker.nEvents);
  });

  for (const parity of CASES) {
    it(`has the same answer: ${parity.title}`, async () => {
      const answer = await byJob(parity);
      expect(await byHttp(parity)).to.deep.equal(answer);
      expect(answer).to.deep.equal(await byCommand(parity));
      expect(answer).to.deep.include(settled(await parity.library()));
    });
  }
});
