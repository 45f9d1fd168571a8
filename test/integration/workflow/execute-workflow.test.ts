import { expect } from 'chai';

import {
  ConfigValidationError,
  DataValidationError,
  PipelineExecutionError,
  TrainingError,
  ValueError,
} from '../../../src/exceptions/index.ts';
import { executeWorkflow, runBaselineMeasurement, type WorkflowOptions } from '../../../src/integration/index.ts';
import { sampleData } from '../../../src/io/index.ts';
import type { PipelineConfigInput } from '../../../src/pipeline/index.ts';
import { Table } from '../../../src/table/index.ts';

const WAGES = sampleData('cps-wages');

/** A configuration of the sample of wages, small enough to run many times. */
const CONFIG = {
  sensitive: ['gender'],
  features: ['education', 'experience', 'union'],
  training: { method: 'reductions', targetColumn: 'wage_above_median', params: { eps: 0.02, T: 10 } },
  fairnessMetric: 'demographic_parity_difference',
} as const satisfies PipelineConfigInput;

const OPTIONS: WorkflowOptions = { backend: 'wasm' };

async function rejection(promise: Promise<unknown>): Promise<Error & { context?: Record<string, unknown> }> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as Error,
  );
}

/** Returns the sample with a column replaced, by row index. */
function withColumn(table: Table, name: string, value: (row: number, old: number | string | null) => unknown): Table {
  const columns = table.toColumns();
  return Table.from({ ...columns, [name]: (columns[name] ?? []).map((old, row) => value(row, old)) });
}

describe('a workflow', () => {
  it('splits once, stratified by target and group: every row is a training row or held out', async () => {
    const { split, yTest, groupsTest } = await executeWorkflow(CONFIG, WAGES, OPTIONS);
    const all = [...split.train, ...split.test].sort((a, b) => a - b);
    expect(all).to.deep.equal(Array.from({ length: 534 }, (_, row) => row));
    expect(yTest.length).to.equal(split.test.length);
    const gender = groupsTest['gender'];
    for (const label of ['female', 'male']) {
      for (const y of [0, 1]) {
        const isIn = (row: number): boolean =>
          WAGES.toColumns()['gender']?.[row] === label && WAGES.numeric('wage_above_median').values[row] === y;
        const total = all.filter(isIn).length;
        const held = [...split.test].filter(isIn).length;
        expect(Math.abs(held - 0.2 * total), `${label}, ${String(y)}`).to.be.at.most(1.5);
      }
    }
    expect(gender?.codes.length).to.equal(split.test.length);
  });

  it('measures baseline and final on the same rows and groups, also for two attributes and their intersection', async () => {
    const config = {
      ...CONFIG,
      sensitive: ['gender', 'married'],
      intersections: [['gender', 'married']],
    };
    const { baselineMetrics, finalMetrics } = await executeWorkflow(config, WAGES, { ...OPTIONS, minGroupSize: 10 });
    expect(Object.keys(finalMetrics.attributes)).to.deep.equal(['gender', 'married', 'gender||married']);
    for (const [attribute, metrics] of Object.entries(finalMetrics.attributes)) {
      for (const [name, result] of Object.entries(metrics)) {
        expect(baselineMetrics.attributes[attribute]?.[name]?.nPerGroup, `${attribute}, ${name}`).to.deep.equal(
          result.nPerGroup,
        );
      }
    }
  });

  it('gives an undefined gap if it has fewer groups than in the baseline', async () => {
    // No row of group c has a high x, so a model of x selects none of them; the baseline also has z.
    const rows = Array.from({ length: 900 }, (_, row) => {
      const group = 'abc'[row % 3] as string;
      const x = (row * 7) % 10;
      const z = group === 'c' ? Number(row % 4 === 0) : 0;
      return {
        group,
        x: group === 'c' ? 0 : x,
        z,
        y: Number(group === 'c' ? (row * 11) % 4 === 0 : x > 5 || row % 9 === 0),
      };
    });
    const config: PipelineConfigInput = {
      sensitive: ['group'],
      features: ['x', 'z'],
      pipeline: [{ transformer: 'ProxyDropper', params: { features: ['z'], threshold: 0 } }],
      training: { method: 'regularized', targetColumn: 'y', params: { eta: 0, epochs: 15, lr: 0.01 } },
      fairnessMetric: 'predictive_parity_difference',
      validationThreshold: 1,
    };
    const { baselineMetrics, validation } = await executeWorkflow(config, Table.from(rows), {
      ...OPTIONS,
      classWeight: null,
    });
    expect(Object.keys(baselineMetrics.metrics['predictive_parity_difference']?.perGroup ?? {})).to.include('c');
    expect(validation).to.include({ passed: false, improvementPercent: null });
    expect(validation.message).to.match(/has no value \(the baseline compares 'c'/);
  });

  it('measures the baseline by itself, and can be stopped by a signal', async () => {
    const { training: _, ...without } = CONFIG;
    for (const config of [CONFIG, without]) {
      const signal = AbortSignal.abort();
      expect(await rejection(runBaselineMeasurement(config, WAGES, { signal }))).to.have.property('name', 'AbortError');
    }
  });

  it('is the same for the same seed, and different for another seed', async () => {
    const predictionsOf = async (randomState: number): Promise<string> => {
      const { predictions, split } = await executeWorkflow(CONFIG, WAGES, { ...OPTIONS, randomState });
      return JSON.stringify([[...predictions.final], [...split.test]]);
    };
    const [first, again, other] = [await predictionsOf(1), await predictionsOf(1), await predictionsOf(2)];
    expect(first).to.equal(again);
    expect(first).not.to.equal(other);
  });

  it('has the same baseline as runBaselineMeasurement', async () => {
    const { baselineMetrics } = await executeWorkflow(CONFIG, WAGES, OPTIONS);
    const alone = await runBaselineMeasurement(CONFIG, WAGES, OPTIONS);
    expect(JSON.stringify(alone.baselineMetrics)).to.equal(JSON.stringify(baselineMetrics));
    const { training: _, ...without } = CONFIG;
    expect(await runBaselineMeasurement(without, WAGES)).to.include({ baselineMetrics: null, split: null });
  });

  it('learns nothing from held-out rows: other values there do not change the fit', async () => {
    const config: PipelineConfigInput = {
      ...CONFIG,
      pipeline: [
        { name: 'weigh', transformer: 'ReweighingTransformer' },
        { name: 'repair', transformer: 'DisparateImpactRemover', params: { features: ['education', 'experience'] } },
        { name: 'residuals', transformer: 'CorrelationRemover', params: { features: ['education', 'experience'] } },
        { name: 'drop', transformer: 'ProxyDropper' },
      ],
    };
    const first = await executeWorkflow(config, WAGES, OPTIONS);
    const held = new Set(first.split.test);
    const changed = ['education', 'experience'].reduce(
      (table, name) => withColumn(table, name, (row, old) => (held.has(row) ? 3 * Number(old) + 7 : old)),
      withColumn(WAGES, 'union', (row, old) => (held.has(row) ? row % 2 : old)),
    );
    const second = await executeWorkflow(config, changed, OPTIONS);
    expect([...second.split.test]).to.deep.equal([...first.split.test]);
    expect(JSON.stringify(second.pipeline)).to.equal(JSON.stringify(first.pipeline));
    expect(JSON.stringify(second.model)).to.equal(JSON.stringify(first.model));
    const trainingRows = (table: Table): unknown => table.take(first.split.train).toColumns();
    expect(trainingRows(second.transformedData)).to.deep.equal(trainingRows(first.transformedData));
  });

  it('trains on the columns that remain after a ProxyDropper, in the encoding of the baseline', async () => {
    const proxied = withColumn(WAGES, 'experience', (row) => (WAGES.toColumns()['gender']?.[row] === 'female' ? 1 : 0));
    const config: PipelineConfigInput = {
      ...CONFIG,
      pipeline: [{ name: 'drop', transformer: 'ProxyDropper', params: { threshold: 0.9 } }],
    };
    const result = await executeWorkflow(config, proxied, OPTIONS);
    expect(result.features).to.deep.equal({
      baseline: ['education', 'experience', 'union'],
      final: ['education', 'union'],
    });
    expect(result.transformedData.has('experience')).to.equal(false);
    expect(result.transformedData.has('gender')).to.equal(true);
    expect(result.predictions.final.length).to.equal(result.split.test.length);
  });

  it('passes the weights of the pipeline to every method, and they change the model', async () => {
    const methods = {
      reductions: { eps: 0.05, T: 5 },
      regularized: { epochs: 3, eta: 0.1 },
      lagrangian: { epochs: 3 },
    };
    for (const [method, params] of Object.entries(methods)) {
      const training = { method, targetColumn: 'wage_above_median', params } as PipelineConfigInput['training'];
      const plain = await executeWorkflow({ ...CONFIG, training }, WAGES, OPTIONS);
      const step = {
        name: 'weigh',
        transformer: 'InstanceReweighting',
        params: { benchmarks: { gender: { female: 0.9, male: 0.1 } } },
      } as const;
      const weighed = await executeWorkflow({ ...CONFIG, training, pipeline: [step] }, WAGES, OPTIONS);
      expect(weighed.sampleWeight, method).not.to.equal(null);
      expect([...(weighed.predictions.finalScores ?? [])], method).not.to.deep.equal([
        ...(plain.predictions.finalScores ?? []),
      ]);
      expect([...(weighed.predictions.baselineScores ?? [])], method).to.deep.equal([
        ...(plain.predictions.baselineScores ?? []),
      ]);
    }
  });

  it('warns if weights or class weights affect the comparison, and not otherwise', async () => {
    const warningsOf = async (config: PipelineConfigInput, options: WorkflowOptions = {}): Promise<string> =>
      (await executeWorkflow(config, WAGES, { ...OPTIONS, ...options })).warnings.join();
    const ofWeights = /the weights of the pipeline also affect the constraint/;
    const steps = (transformer: 'InstanceReweighting' | 'ReweighingTransformer'): PipelineConfigInput => ({
      ...CONFIG,
      pipeline: [{ transformer }],
    });
    expect(await warningsOf(steps('ReweighingTransformer'))).to.match(ofWeights);
    expect(await warningsOf(steps('InstanceReweighting'))).not.to.match(ofWeights);
    const network: PipelineConfigInput = { ...CONFIG, training: { ...CONFIG.training, method: 'regularized', params: { epochs: 1 } } }; // prettier-ignore
    expect(await warningsOf(network)).to.match(
      /class weights are used by the baseline but not by regularized training/,
    );
    expect(await warningsOf(network, { classWeight: null })).not.to.match(/class weights/);
    expect(await warningsOf(CONFIG)).not.to.match(/class weights/);
  });

  it('applies a threshold on probabilities to baseline and final', async () => {
    const { predictions } = await executeWorkflow(CONFIG, WAGES, { ...OPTIONS, decisionThreshold: 0.7 });
    const decided = (scores: Float64Array | null): number[] =>
      Array.from(scores ?? [], (score) => Number(score >= 0.7));
    expect([...predictions.baseline]).to.deep.equal(decided(predictions.baselineScores));
    expect([...predictions.final]).to.deep.equal(decided(predictions.finalScores));
  });

  it('applies class weights in the baseline: balanced weights select more of the less frequent class', async () => {
    const rare = withColumn(WAGES, 'wage_above_median', (row, old) => (row % 3 === 0 ? old : 0));
    const selected = async (classWeight: WorkflowOptions['classWeight']): Promise<number> => {
      const { predictions } = await executeWorkflow(CONFIG, rare, { ...OPTIONS, classWeight });
      return [...predictions.baseline].reduce((sum, value) => sum + value, 0);
    };
    expect(await selected('balanced')).to.be.above(await selected(null));
  });

  it('prefers a class weight in the parameters of reductions over that of the run', async () => {
    const withParams = (params: object): PipelineConfigInput => ({
      ...CONFIG,
      training: { ...CONFIG.training, params: { ...CONFIG.training.params, ...params } },
    });
    const scoresOf = async (
      config: PipelineConfigInput,
      classWeight: WorkflowOptions['classWeight'],
    ): Promise<number[]> => [
      ...((await executeWorkflow(config, WAGES, { ...OPTIONS, classWeight })).predictions.finalScores ?? []),
    ];
    const heavy = { 0: 1, 1: 3 };
    expect(await scoresOf(withParams({ classWeight: heavy }), 'balanced')).to.deep.equal(await scoresOf(CONFIG, heavy));
    expect(await scoresOf(withParams({ classWeight: null }), heavy)).to.deep.equal(await scoresOf(CONFIG, null));
  });

  it('bounds the error rates of groups', async () => {
    const training = {
      ...CONFIG.training,
      params: { constraint: 'bounded_group_loss', upperBound: 0.4, T: 5 },
    } as const;
    const { finalMetrics } = await executeWorkflow({ ...CONFIG, training }, WAGES, OPTIONS);
    expect(finalMetrics.accuracy).to.be.within(0.5, 1);
  });

  it('predicts numbers under a parity of errors', async () => {
    for (const [method, params] of [
      ['reductions', { upper_bound: 30, range: [0, 45], T: 5 }],
      ['regularized', { epochs: 5 }],
      ['lagrangian', { epochs: 5 }],
    ] as const) {
      const config = {
        sensitive: ['gender'],
        features: ['education', 'experience', 'union'],
        training: { method, target_column: 'wage', params },
        fairness_metric: 'mae_parity_difference',
        validation_threshold: 5,
      };
      const result = await executeWorkflow(config as unknown as PipelineConfigInput, WAGES, OPTIONS);
      expect(result.task, method).to.equal('regression');
      expect(result.finalMetrics, method).to.include({ accuracy: null });
      // Predicting the mean wage has a mean absolute error of 3.9 dollars.
      expect(result.finalMetrics.meanAbsoluteError, method).to.be.within(2, 4.2);
      expect(result.validation.finalMetricValue, method).to.be.within(0, 5);
      expect(result.validation.passed, method).to.equal(true);
    }
  });

  it('clips predicted numbers to the range of the training targets, and warns about a narrower range', async () => {
    const regression = (params: Record<string, unknown>): PipelineConfigInput => ({
      sensitive: ['gender'],
      features: ['education', 'experience', 'union'],
      training: { method: 'reductions', targetColumn: 'wage', params },
      fairnessMetric: 'mae_parity_difference',
    });
    const wide = await executeWorkflow(regression({ upperBound: 30, T: 5 }), WAGES, OPTIONS);
    // Wages are 1 to 44.5 dollars an hour; all predictions are at most 1 if they are clipped to [0, 1].
    expect(wide.finalMetrics.meanAbsoluteError).to.be.below(4.2);
    expect(Math.max(...wide.predictions.final)).to.be.above(5);
    const narrow = await executeWorkflow(regression({ upperBound: 30, T: 5, range: [0, 20] }), WAGES, OPTIONS);
    expect(narrow.warnings.join()).to.match(/training rows have a target outside the range \[0, 20\]/);
  });

  it('reports that a constraint is not met, and how the search ended', async () => {
    const warningsOf = async (
      params: object,
      method = 'reductions',
      metric = 'demographic_parity_difference',
    ): Promise<string> => {
      const training = { method, targetColumn: metric.startsWith('mae') ? 'wage' : 'wage_above_median', params };
      const config = { ...CONFIG, training, fairnessMetric: metric } as PipelineConfigInput;
      return (await executeWorkflow(config, WAGES, OPTIONS)).warnings.join();
    };
    // A single predictor is the unconstrained one, whose rates differ by 0.15.
    expect(await warningsOf({ T: 1 })).to.match(/stopped after 1 iterations at a duality gap of/);
    // No model here is correct for 99 of 100 rows of every group.
    expect(await warningsOf({ constraint: 'bounded_group_loss', upperBound: 0.01 })).to.match(
      /not met on the training rows: the violation is 0\.\d+, but the bound is 0\.0100/,
    );
    expect(await warningsOf({ upperBound: 0.001 }, 'reductions', 'mae_parity_difference')).to.match(/not met/);
    expect(await warningsOf({ dpTol: 0, epochs: 1 }, 'lagrangian')).to.match(/no epoch was within 0/);
    expect(await warningsOf({ differenceBound: 0.3 })).not.to.match(/not met|stopped/);
  });

  it('names groups with few training rows that reductions constrain', async () => {
    const three = withColumn(WAGES, 'gender', (row, old) => (row % 50 === 0 ? 'other' : old));
    expect((await executeWorkflow(CONFIG, three, OPTIONS)).warnings.join()).to.match(
      /fewer than 30 training rows.*'other'/,
    );
    expect((await executeWorkflow(CONFIG, WAGES, OPTIONS)).warnings.join()).not.to.match(/fewer than 30/);
  });

  it('reports which label of a text target counts as 1', async () => {
    const text = withColumn(WAGES, 'wage_above_median', (_, old) => (old === 1 ? 'high' : 'low'));
    const { positiveLabel } = await executeWorkflow(CONFIG, text, OPTIONS);
    // 264 of 534 earn more than the median: the less frequent label.
    expect(positiveLabel).to.equal('high');
    expect((await executeWorkflow(CONFIG, WAGES, OPTIONS)).positiveLabel).to.equal(null);
  });

  it('warns if a model is worse than a constant answer', async () => {
    // About one in six is positive; with a threshold of 0 all decisions are positive.
    const rare = withColumn(WAGES, 'wage_above_median', (row, old) => (row % 3 === 0 ? old : 0));
    const { warnings } = await executeWorkflow(CONFIG, rare, { ...OPTIONS, decisionThreshold: 0 });
    expect(warnings.join()).to.match(
      /correct for 1\d\.\d% of rows; the same answer for all rows would be correct for 8\d\.\d%/,
    );
    expect((await executeWorkflow(CONFIG, WAGES, OPTIONS)).warnings.join()).not.to.match(/same answer for all/);
  });

  it('rejects metrics of probabilities for a mixture, but accepts metrics of ranks', async () => {
    const judged = (fairnessMetric: string): PipelineConfigInput => ({ ...CONFIG, fairnessMetric });
    const error = await rejection(executeWorkflow(judged('calibration_difference'), WAGES, OPTIONS));
    expect(error).to.be.instanceOf(ConfigValidationError);
    expect(error.message).to.match(/probability of a positive decision/);
    const { tradeOff, validation } = await executeWorkflow(judged('roc_auc_difference'), WAGES, OPTIONS);
    expect(validation.finalMetricValue).to.be.within(0, 1);
    expect(tradeOff.map(({ kind }) => kind)).to.deep.equal(['baseline', 'final']);
  });

  it('uses numeric columns as features if none are named, and says so', async () => {
    const { features: _, ...config } = CONFIG;
    const { features, warnings } = await executeWorkflow(
      config,
      WAGES.select(['education', 'experience', 'age', 'gender', 'occupation', 'wage_above_median']),
      OPTIONS,
    );
    expect(features.baseline).to.deep.equal(['education', 'experience', 'age']);
    expect(warnings[0]).to.match(/no features were named.*education, experience, age/);
  });

  it('accepts columns of any name as features if none are named', async () => {
    const { features: _, ...config } = CONFIG;
    const columns = WAGES.toColumns();
    const odd = Table.from({ ...columns, 'two\nlines': columns['education'] ?? [] });
    const { features } = await executeWorkflow(
      config,
      odd.select(['two\nlines', 'gender', 'wage_above_median']),
      OPTIONS,
    );
    expect(features.final).to.deep.equal(['two\nlines']);
  });

  it('excludes and counts rows without target or group, and reports row indices of the input data', async () => {
    const holes = withColumn(
      withColumn(WAGES, 'gender', (row, old) => (row < 10 ? null : old)),
      'wage_above_median',
      (row, old) => (row >= 524 ? null : old),
    );
    const { split, warnings, transformedData } = await executeWorkflow(CONFIG, holes, OPTIONS);
    expect(split.nDropped).to.equal(20);
    expect(transformedData.rowCount).to.equal(514);
    expect(Math.min(...split.train, ...split.test)).to.equal(10);
    expect(Math.max(...split.train, ...split.test)).to.equal(523);
    expect(warnings.join()).to.match(/20 rows without a target or a sensitive attribute/);
  });

  it('lists the predictors of a mixture between baseline and final', async () => {
    const { tradeOff } = await executeWorkflow(CONFIG, WAGES, OPTIONS);
    expect(tradeOff[0]?.kind).to.equal('baseline');
    expect(tradeOff.at(-1)?.kind).to.equal('final');
    for (const { accuracy, unfairness } of tradeOff) {
      expect(accuracy).to.be.within(0, 1);
      expect(unfairness).to.be.within(0, 1);
    }
  });

  it('has frozen results', async () => {
    const result = await executeWorkflow(CONFIG, WAGES, OPTIONS);
    for (const part of [result, result.validation, result.baselineMetrics, result.finalMetrics, result.split]) {
      expect(part).to.be.frozen;
    }
  });
});

describe('a workflow that cannot run', () => {
  const cases: readonly [title: string, config: unknown, table: Table, error: unknown, message: RegExp][] = [
    ['no training section', { sensitive: ['gender'] }, WAGES, ConfigValidationError, /no training section/],
    ['an unknown target', { ...CONFIG, training: { ...CONFIG.training, targetColumn: 'wagee' } }, WAGES, DataValidationError, /no column 'wagee'/],
    ['an unknown attribute', { ...CONFIG, sensitive: ['gendre'] }, WAGES, DataValidationError, /no column 'gendre'/],
    ['an unknown feature', { ...CONFIG, features: ['educatoin'] }, WAGES, DataValidationError, /no column 'educatoin'/],
    ['an unknown metric', { ...CONFIG, fairnessMetric: 'demographic_party_difference' }, WAGES, ConfigValidationError, /demographic_parity_difference/],
    ['a target of many numbers', { ...CONFIG, training: { ...CONFIG.training, targetColumn: 'wage' } }, WAGES, DataValidationError, /values/],
    ['one group', CONFIG, withColumn(WAGES, 'gender', () => 'female'), DataValidationError, /one group only/],
    ['one class', CONFIG, withColumn(WAGES, 'wage_above_median', () => 1), DataValidationError, /one value only/],
    ['no rows', CONFIG, WAGES.take([]), DataValidationError, /./],
    ['no complete row', CONFIG, withColumn(WAGES, 'gender', () => null), DataValidationError, /./],
    ['two rows', CONFIG, WAGES.take([0, 533]), DataValidationError, /./],
    ['text in a target of a regression', { ...CONFIG, fairnessMetric: 'mae_parity_difference', training: { method: 'reductions', targetColumn: 'occupation' } }, WAGES, DataValidationError, /should hold numbers/],
    ['every feature dropped', { ...CONFIG, pipeline: [{ name: 'drop', transformer: 'ProxyDropper', params: { threshold: 0 } }] }, WAGES, TrainingError, /dropped every feature/],
    ['a step on an unknown column', { ...CONFIG, pipeline: [{ name: 'repair', transformer: 'DisparateImpactRemover', params: { features: ['agee'] } }] }, WAGES, PipelineExecutionError, /Step 1, 'repair' \(DisparateImpactRemover\), failed: .*'agee'/],
  ]; // prettier-ignore
  for (const [title, config, table, type, message] of cases) {
    it(`throws an error: ${title}`, async () => {
      const error = await rejection(executeWorkflow(config as PipelineConfigInput, table, OPTIONS));
      expect(error).to.be.instanceOf(type);
      expect(error.message).to.match(message);
    });
  }

  it('reports row numbers of invalid values in the input data', async () => {
    const step = { transformer: 'DisparateImpactRemover', params: { features: ['education'] } } as const;
    const text = withColumn(WAGES, 'education', (row, old) => (row === 499 ? 'abc' : old));
    const first = await rejection(executeWorkflow({ ...CONFIG, pipeline: [step] }, text, OPTIONS));
    expect(first).to.be.instanceOf(DataValidationError);
    expect(first.message).to.equal("Column 'education' should hold numbers, but row 500 holds 'abc'.");
    const infinite = withColumn(WAGES, 'experience', (row, old) => (row === 499 ? Infinity : old));
    const second = await rejection(executeWorkflow(CONFIG, infinite, OPTIONS));
    expect(second.message).to.equal("Column 'experience' must be finite, but row 500 holds Infinity.");
  });

  it('throws an error: an option out of range', async () => {
    for (const options of [{ trainSize: 1 }, { randomState: 0.5 }, { minGroupSize: 0 }, { decisionThreshold: 2 }]) {
      expect(await rejection(executeWorkflow(CONFIG, WAGES, options))).to.be.instanceOf(ValueError);
    }
  });

  it('fails the gate if its metric is undefined, with the reason', async () => {
    const { validation } = await executeWorkflow({ ...CONFIG, validationThreshold: 0.9 }, WAGES, {
      ...OPTIONS,
      minGroupSize: 500,
    });
    expect(validation.passed).to.equal(false);
    expect(validation.message).to.match(/^UNDEFINED: .* has no value \(.+\)/);
  });

  it('stops after a signal', async () => {
    const controller = new AbortController();
    const onProgress: WorkflowOptions['onProgress'] = ({ stage }) => {
      if (stage !== 'baseline') controller.abort();
    };
    const error = await rejection(
      executeWorkflow(CONFIG, WAGES, { ...OPTIONS, signal: controller.signal, onProgress }),
    );
    expect(error.name).to.equal('AbortError');
  });
});
