import { expect } from 'chai';

import { workflowToJson } from '../../../src/integration/workflow-report/workflow-to-json.ts';
import { findingsOf, hostileFindings } from './findings.ts';

/** The JSON as it is read from the file. */
const reread = (value: unknown): Record<string, unknown> =>
  JSON.parse(JSON.stringify(value)) as Record<string, unknown>;

describe('workflowToJson', () => {
  it('has the keys of the file format', () => {
    expect(Object.keys(workflowToJson(findingsOf()))).to.deep.equal([
      'validation',
      'baseline_metrics',
      'final_metrics',
      'config',
      'seed',
      'transformers_applied',
      'task',
      'method',
      'target',
      'positive_label',
      'constraint',
      'class_weight',
      'decision_threshold',
      'min_group_size',
      'split',
      'features',
      'trade_off',
      'warnings',
    ]);
  });

  it('gives the verdict with both values: rates by hand 12/60 to 36/70 before, 17/50 to 25/70 after', () => {
    const json = reread(workflowToJson(findingsOf({ metrics: ['demographic_parity_difference'] })));
    const validation = json['validation'] as Record<string, unknown>;
    // The worst intersections: male||white 36/70 and female||white or female||black 12/60 = 8/40; after, 25/70 and 18/60 = 12/40.
    expect(validation['baseline_metric_value']).to.be.closeTo(36 / 70 - 12 / 60, 1e-12);
    expect(validation['final_metric_value']).to.be.closeTo(25 / 70 - 18 / 60, 1e-12);
    expect(validation['improvement_percent']).to.be.closeTo(
      (100 * (25 / 70 - 18 / 60 - (36 / 70 - 12 / 60))) / (36 / 70 - 12 / 60),
      1e-9,
    );
    expect(validation).to.include({
      passed: true,
      status: 'pass',
      metric: 'demographic_parity_difference',
      attribute: 'sex||race',
      threshold: 0.1,
      comparator: '<=',
      straddles: true,
      baseline_undefined_reason: null,
      final_undefined_reason: null,
    });
  });

  it('gives each metric of each attribute as MetricResult.toJSON does', () => {
    const findings = findingsOf();
    const json = reread(workflowToJson(findings));
    const final = json['final_metrics'] as Record<string, Record<string, Record<string, unknown>>>;
    expect(Object.keys(final)).to.deep.equal(['n', 'accuracy', 'mean_absolute_error', 'metrics', 'attributes']);
    expect(final['attributes']?.['race']?.['equalized_odds_difference']).to.deep.equal(
      reread(findings.finalMetrics.attributes['race']?.['equalized_odds_difference']),
    );
    expect(final['metrics']).to.have.all.keys('demographic_parity_difference', 'equalized_odds_difference');
    expect(final['mean_absolute_error']).to.equal(null);
  });

  it('gives the sizes of the split and not its rows', () => {
    expect(workflowToJson(findingsOf()).split).to.deep.equal({
      n_train: 928,
      n_test: 232,
      n_dropped: 5,
      train_size: 0.8,
      seed: 42,
    });
  });

  it('gives the configuration with the keys of a file, and the class weights', () => {
    const weighed = workflowToJson(findingsOf({ changes: { classWeight: { 0: 1, 1: 2.5 }, decisionThreshold: 0.4 } }));
    expect(reread(weighed)).to.deep.include({
      class_weight: { '0': 1, '1': 2.5 },
      decision_threshold: 0.4,
      method: 'regularized',
      target: 'income',
      positive_label: '>50K',
      transformers_applied: ['repair', 'weights'],
    });
    const config = reread(weighed)['config'] as Record<string, unknown>;
    expect(config).to.deep.include({
      sensitive: ['sex', 'race'],
      intersections: [['sex', 'race']],
      validation_threshold: 0.1,
      training: { method: 'regularized', target_column: 'income', positive_label: '>50K', params: { eta: 0.5 } },
    });
    expect(JSON.stringify(config)).to.include('"repair_level":0.8');
  });

  it('has null and the reason if a value is undefined', () => {
    const json = reread(workflowToJson(findingsOf({ minGroupSize: 500 })));
    const validation = json['validation'] as Record<string, unknown>;
    expect(validation).to.include({
      passed: false,
      status: 'undefined',
      baseline_metric_value: null,
      final_metric_value: null,
      improvement_percent: null,
    });
    expect(validation['final_undefined_reason']).to.be.a('string').that.is.not.empty;
    expect(JSON.stringify(json['trade_off'])).to.include('"unfairness":null');
  });

  it('has no verdict without a threshold', () => {
    const { validation } = workflowToJson(findingsOf({ threshold: undefined }));
    expect(validation).to.include({ passed: null, status: null, threshold: null, comparator: null });
  });

  it('keeps labels and names of inherited properties', () => {
    const json = reread(workflowToJson(hostileFindings()));
    const attributes = (json['baseline_metrics'] as Record<string, object>)['attributes'] ?? {};
    expect(Object.keys(attributes)).to.include('__proto__');
  });

  it('is the same text twice', () => {
    expect(JSON.stringify(workflowToJson(findingsOf()))).to.equal(JSON.stringify(workflowToJson(findingsOf())));
  });
});
