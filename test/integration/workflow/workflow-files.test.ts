import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { executeWorkflow, type WorkflowOptions } from '../../../src/integration/index.ts';
import { predictWithSavedModel } from '../../../src/integration/predict-file.ts';
import { loadData, sampleData, writeCsv } from '../../../src/io/index.ts';
import { applyPipeline, loadPipeline, type PipelineConfigInput } from '../../../src/pipeline/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const WAGES = sampleData('cps-wages');

const CONFIG = {
  sensitive: ['gender'],
  features: ['education', 'experience', 'union'],
  pipeline: [
    { name: 'repair', transformer: 'DisparateImpactRemover', params: { features: ['education', 'experience'] } },
    { name: 'weigh', transformer: 'ReweighingTransformer' },
  ],
  training: { method: 'reductions', targetColumn: 'wage_above_median', params: { eps: 0.02, T: 5 } },
  fairnessMetric: 'demographic_parity_difference',
  validationThreshold: 0.3,
} as const satisfies PipelineConfigInput;

const FILES = [
  'manifest.json',
  'model',
  'pipeline.json',
  'report.html',
  'report.md',
  'row_order.parquet',
  'transformed_data.parquet',
  'workflow_results.json',
];

describe('the output of a workflow', () => {
  const temporary = useTemporaryFolder();
  const run = (name: string, options: WorkflowOptions = {}): ReturnType<typeof executeWorkflow> =>
    executeWorkflow(CONFIG, WAGES, { backend: 'wasm', outputDir: path.join(temporary(), name), ...options });
  const text = (...parts: string[]): string => readFileSync(path.join(temporary(), ...parts), 'utf8');

  it('is a folder of results, data, model, pipeline and reports, and the same twice, byte for byte', async () => {
    const { artifacts } = await run('first');
    await run('second');
    expect(readdirSync(path.join(temporary(), 'first')).sort()).to.deep.equal(FILES);
    expect([...artifacts.files].sort()).to.deep.equal(FILES);
    for (const file of [
      'workflow_results.json',
      'report.md',
      'report.html',
      'pipeline.json',
      'transformed_data.parquet',
    ]) {
      expect(text('first', file), file).to.equal(text('second', file));
    }
  });

  it('has the documented results, undefined values as null, and no times', async () => {
    await run('results');
    const results = JSON.parse(text('results', 'workflow_results.json')) as Record<string, Record<string, unknown>>;
    expect(results).to.include.keys(
      'validation',
      'baseline_metrics',
      'final_metrics',
      'config',
      'seed',
      'transformers_applied',
    );
    expect(results['validation']).to.include({ passed: true, threshold: 0.3 });
    expect(results['transformers_applied']).to.deep.equal(['repair', 'weigh']);
    expect(results['seed']).to.equal(42);
    expect(results['config']).to.include({ fairness_metric: 'demographic_parity_difference' });
  });

  it('contains the transformed rows with their weights', async () => {
    const { transformedData, sampleWeight } = await run('data');
    const table = await loadData(path.join(temporary(), 'data', 'transformed_data.parquet'));
    expect(table.columnNames).to.deep.equal([...transformedData.columnNames, 'sample_weight']);
    expect([...table.numeric('sample_weight').values]).to.deep.equal([...(sampleWeight ?? [])]);
    expect([...table.numeric('education').values]).to.deep.equal([...transformedData.numeric('education').values]);
  });

  it('contains a pipeline that transforms other rows as in the run', async () => {
    const { transformedData, sampleWeight } = await run('pipeline');
    const loaded = await loadPipeline(path.join(temporary(), 'pipeline', 'pipeline.json'));
    const result = await applyPipeline(loaded, WAGES);
    expect(result.data.toColumns()).to.deep.equal(transformedData.toColumns());
    expect([...(result.sampleWeight ?? [])]).to.deep.equal([...(sampleWeight ?? [])]);
  });

  it('contains a model that predicts raw rows of a file as in the run, after the steps that change values', async () => {
    const { predictions, split } = await run('model');
    const file = path.join(temporary(), 'rows.csv');
    await writeCsv(file, WAGES.take(split.test));
    const { predicted } = await predictWithSavedModel(path.join(temporary(), 'model', 'model'), file);
    const scores = [...predicted.table.numeric('score').values];
    expect(scores.length).to.equal(split.test.length);
    scores.forEach((score, row) => {
      expect(score).to.be.closeTo(predictions.finalScores?.[row] ?? NaN, 1e-12);
    });
    expect([...predicted.table.numeric('prediction').values]).to.deep.equal([...predictions.final]);
  });

  it('contains a model that uses the decision threshold of the run', async () => {
    for (const method of ['reductions', 'lagrangian'] as const) {
      const training = { ...CONFIG.training, method, params: method === 'reductions' ? { T: 3 } : { epochs: 3 } };
      const outputDir = path.join(temporary(), `threshold-${method}`);
      const config: PipelineConfigInput = { ...CONFIG, training, pipeline: [] };
      const options = { backend: 'wasm', outputDir, decisionThreshold: 0.3 } as const;
      const { predictions, split, warnings } = await executeWorkflow(config, WAGES, options);
      const file = path.join(temporary(), 'held-out.csv');
      await writeCsv(file, WAGES.take(split.test));
      const { predicted } = await predictWithSavedModel(path.join(outputDir, 'model'), file);
      expect([...predicted.table.numeric('prediction').values], method).to.deep.equal([...predictions.final]);
      const isChanced = method === 'reductions';
      expect(warnings.some((warning) => /with a decision threshold it may not hold/.test(warning))).to.equal(isChanced);
      expect(predicted.warnings.some((warning) => /with a threshold it may not hold/.test(warning))).to.equal(
        isChanced,
      );
    }
  });

  it('replaces an earlier output, and nothing else', async () => {
    await run('again');
    await run('again');
    const other = path.join(temporary(), 'other');
    mkdirSync(other);
    writeFileSync(path.join(other, 'precious.txt'), 'keep');
    const error = await run('other').catch((caught: unknown) => caught as Error);
    expect(error)
      .to.have.property('message')
      .that.matches(/contains other data/);
    expect(readdirSync(other)).to.deep.equal(['precious.txt']);
  });

  it('does not exist if a step, the training or the caller ends the run', async () => {
    const before = readdirSync(temporary()).sort();
    const outputDir = path.join(temporary(), 'failed');
    const failing: readonly [Partial<Record<keyof typeof CONFIG, unknown>>, WorkflowOptions][] = [
      [{ pipeline: [{ name: 'repair', transformer: 'DisparateImpactRemover', params: { features: ['agee'] } }] }, {}],
      [{ pipeline: [{ name: 'drop', transformer: 'ProxyDropper', params: { threshold: 0 } }] }, {}],
      [{}, { signal: AbortSignal.abort() }],
      [{}, { outputDir: path.join(temporary(), 'rows.csv', 'below-a-file') }],
    ];
    for (const [changes, options] of failing) {
      const config = { ...CONFIG, ...changes } as PipelineConfigInput;
      const error = await executeWorkflow(config, WAGES, { outputDir, ...options }).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(Error);
    }
    expect(readdirSync(temporary()).sort()).to.deep.equal(before);
  });

  it('is written if tracking fails, and the failure is reported', async () => {
    const { artifacts, validation } = await run('untracked', {
      tracking: { trackingUri: 'http://127.0.0.1:9', timeoutMillis: 500 },
    });
    expect(validation.passed).to.equal(true);
    expect(artifacts.tracking).to.include({ logged: false });
    expect(artifacts.tracking?.reason).to.be.a('string');
    expect(readdirSync(path.join(temporary(), 'untracked')).sort()).to.deep.equal(FILES);
  });
});
