import { expect } from 'chai';

import { judgeLlmEval } from '../../../src/integration/llm-eval-gate.ts';
import { logLlmEvalResults, trackLlmEval } from '../../../src/integration/tracking/log-llm-eval-results.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { MlflowStub, type StoredRun } from '../../helpers/mlflow-stub.ts';
import { madeResult } from '../../llm-evals/report/made-results.ts';

describe('tracking an evaluation of a language model', () => {
  const warnings = useLoggedWarnings();
  let server: MlflowStub;
  let trackingUri = '';
  beforeEach(async () => {
    server = new MlflowStub();
    trackingUri = await server.start();
  });
  afterEach(() => server.stop());

  const numbers = (run: StoredRun | undefined): Record<string, unknown> =>
    Object.fromEntries((run?.metrics ?? []).map(({ key, value }) => [key, value]));
  const texts = (entries: StoredRun['tags'] | undefined): Record<string, unknown> =>
    Object.fromEntries((entries ?? []).map(({ key, value }) => [key, value]));
  const fileNames = (): string[] => [...server.artifacts.keys()].map((name) => name.replace(/^.*\/artifacts\//, ''));

  it('logs the parameters, each metric, the spending and the verdict', async () => {
    const result = madeResult();
    const verdict = judgeLlmEval(result.metrics, { metric: 'sentiment_gap', threshold: 0.1 });
    expect(await logLlmEvalResults(result, { trackingUri, verdict }), warnings().join()).to.equal(true);
    const [run] = server.runs;
    expect(texts(run?.params)).to.deep.equal({
      provider: 'compatible',
      model: 'test-model',
      base_url: 'http://127.0.0.1:9',
      evaluators: 'counterfactual, refusal',
      repeats: '1',
      control_dimension: 'weekday',
      seed: '42',
      plan_digest: result.dryRun.planDigest,
      'params.temperature': '0.7',
    });
    expect(numbers(run)).to.include({
      'sentiment_gap.gender': 0.21,
      'sentiment_gap.gender.ci_low': 0.11,
      'sentiment_gap.gender.ci_high': 0.31,
      'sentiment_gap.gender.p_value': 0.0002,
      'sentiment_gap.gender.adjusted_p_value': 0.0008,
      'sentiment_gap.gender.noise_floor': 0.03,
      'sentiment_gap.gender.null_quantile_95': 0.08,
      'sentiment_gap.gender.minimum_detectable_gap': 0.12,
      'sentiment_gap.gender.n': 40,
      'sentiment_gap.gender.excluded.error': 3,
      'refusal_gap.gender.woman.refusal_rate': 0.15,
      'spending.requests': 83,
      'spending.requests.planned': 80,
      'spending.cost_usd': 0.0307,
      passed: 0,
    });
    const tags = texts(run?.tags);
    expect(tags).to.include({ 'toxic_fraction.undefined': 'fewer than 5 answers' });
    expect(tags['evenhand.verdict']).to.include('FAIL: sentiment_gap.gender 0.2100 > 0.1.');
    expect(tags['evenhand.warnings']).to.include('repeats is 1');
    expect(numbers(run)).not.to.have.property('toxic_fraction');
  });

  it('uploads the report and the JSON, but no transcripts', async () => {
    await logLlmEvalResults(madeResult(), { trackingUri });
    expect(fileNames()).to.deep.equal(['llm_eval_report.md', 'llm_eval.json']);
    const [report, body] = [...server.artifacts.values()].map(String);
    expect(report).to.include('# Language model evaluation');
    expect(JSON.parse(body ?? '')).to.include({ passed: null });
    expect(numbers(server.runs[0])).not.to.have.property('passed');
  });

  it('uploads no files if reports are turned off', async () => {
    await logLlmEvalResults(madeResult(), { trackingUri, withReports: false });
    expect(fileNames()).to.deep.equal([]);
  });

  it('logs an unknown cost and an early end as tags', async () => {
    const { actual, planned } = madeResult();
    const result = madeResult({
      actual: { ...actual, costUsd: null },
      planned: { ...planned, costUsd: null },
      stopped: 'cost',
    });
    await logLlmEvalResults(result, { trackingUri });
    expect(numbers(server.runs[0])).not.to.have.property('spending.cost_usd');
    expect(texts(server.runs[0]?.tags)).to.include({
      'spending.cost_usd.undefined': 'the price of the model is not known',
      'evenhand.stopped': 'cost',
    });
  });

  it('returns the reason of a failure and does not throw', async () => {
    await server.stop();
    const outcome = await trackLlmEval(madeResult(), { trackingUri, totalTimeoutMillis: 500 });
    expect(outcome).to.include({ logged: false, runId: null });
    expect(outcome.reason).to.be.a('string');
  });
});
