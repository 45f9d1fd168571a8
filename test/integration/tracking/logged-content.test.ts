import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { logFairnessMetrics, logWorkflowResults, trackWorkflow } from '../../../src/integration/tracking/index.ts';
import { VERSION } from '../../../src/internal/version.ts';
import { demographicParityDifference, equalizedOddsDifference } from '../../../src/metrics/index.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { MlflowStub, type StoredRun } from '../../helpers/mlflow-stub.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { findingsOf, hostileFindings } from '../workflow-report/findings.ts';

describe('tracked content', () => {
  const warnings = useLoggedWarnings();
  const folder = useTemporaryFolder();
  const now = (): number => 1_700_000_000_000;
  // Selected: 1 of 2 in group a, 3 of 4 in b; c has one row.
  const Y_PRED = [1, 0, 1, 1, 1, 0, 1];
  const GROUPS = ['a', 'a', 'b/1', 'b/1', 'b/1', 'b/1', 'c'];
  const RESULT = demographicParityDifference(Y_PRED, GROUPS, { minGroupSize: 2, withCi: false, withEffectSize: false });

  let server: MlflowStub;
  let trackingUri = '';
  beforeEach(async () => {
    server = new MlflowStub();
    trackingUri = await server.start();
  });
  afterEach(() => server.stop());

  function metricsOf(run: StoredRun | undefined): Record<string, unknown> {
    return Object.fromEntries((run?.metrics ?? []).map(({ key, value }) => [key, value]));
  }

  function textsOf(entries: StoredRun['tags'] | undefined): Record<string, unknown> {
    return Object.fromEntries((entries ?? []).map(({ key, value }) => [key, value]));
  }

  describe('logFairnessMetrics', () => {
    it('logs the value, the rows and each group, and why a group is excluded', async () => {
      expect(await logFairnessMetrics(RESULT, { trackingUri, now })).to.equal(true);
      const [run] = server.runs;
      expect(metricsOf(run)).to.deep.equal({
        demographic_parity_difference: 0.25,
        'demographic_parity_difference.n': 6,
        'demographic_parity_difference.a.n': 2,
        'demographic_parity_difference.b_1.n': 4,
        'demographic_parity_difference.a.selection_rate': 0.5,
        'demographic_parity_difference.b_1.selection_rate': 0.75,
      });
      const tags = textsOf(run?.tags);
      expect(tags['demographic_parity_difference.c.excluded']).to.match(/\S/);
      expect(tags).to.include({ 'evenhand.version': VERSION, 'mlflow.source.name': 'evenhand' });
      expect(run).to.include({ status: 'FINISHED', startTime: now(), endTime: now() });
      expect(run?.metrics.map(({ timestamp, step }) => [timestamp, step])).to.deep.equal(
        Array.from({ length: 6 }, () => [now(), 0]),
      );
      expect(server.experiments.map(({ name }) => name)).to.deep.equal(['evenhand']);
      expect(warnings()).to.deep.equal([]);
    });

    it('logs the interval, the p-value and the effect size if they are known', async () => {
      const options = { minGroupSize: 2, withCi: true, withPValue: true, seed: 1 };
      const result = demographicParityDifference(Y_PRED, GROUPS, options);
      await logFairnessMetrics(result, { trackingUri });
      const name = 'demographic_parity_difference';
      expect(metricsOf(server.runs[0])).to.include({
        [`${name}.ci_low`]: result.ci?.[0],
        [`${name}.ci_high`]: result.ci?.[1],
        [`${name}.p_value`]: result.pValue,
        // The risk ratio of 3/4 to 1/2.
        [`${name}.effect_size`]: 1.5,
      });
      expect(textsOf(server.runs[0]?.tags)).to.include({ [`${name}.ci_level`]: '0.95' });
    });

    it('logs an undefined metric as a tag with its reason', async () => {
      const result = demographicParityDifference([1, 0], ['a', 'a'], { minGroupSize: 1 });
      expect(await logFairnessMetrics(result, { trackingUri })).to.equal(true);
      expect(metricsOf(server.runs[0])).not.to.have.property('demographic_parity_difference');
      expect(textsOf(server.runs[0]?.tags)['demographic_parity_difference.undefined']).to.equal(result.undefinedReason);
    });

    it('accepts a list and a record, and prefixes their names', async () => {
      const odds = equalizedOddsDifference([1, 0, 1, 0], [1, 1, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 1 });
      await logFairnessMetrics([RESULT, odds], { trackingUri, prefix: 'val/' });
      await logFairnessMetrics({ sex: RESULT, race: odds }, { trackingUri });
      expect(metricsOf(server.runs[0])).to.include({
        'val/demographic_parity_difference': 0.25,
        'val/equalized_odds_difference': 1,
        'val/equalized_odds_difference.a.false_positive_rate': 1,
      });
      expect(metricsOf(server.runs[1])).to.include({ sex: 0.25, race: 1, 'race.b.false_positive_rate': 0 });
    });

    it('keeps two results with the same name separate', async () => {
      const other = demographicParityDifference([1, 0], ['x', 'y'], { minGroupSize: 1 });
      await logFairnessMetrics([RESULT, other], { trackingUri });
      expect(metricsOf(server.runs[0])).to.include({
        demographic_parity_difference: 0.25,
        demographic_parity_difference_2: 1,
      });
    });

    it('names the run and its experiment, and adds parameters, tags and the step', async () => {
      const options = {
        experiment: 'credit',
        runName: 'tuesday',
        params: { depth: 3, loss: 'log' },
        tags: { team: 'A' },
      };
      await logFairnessMetrics(RESULT, { trackingUri, step: 7, ...options });
      const [run] = server.runs;
      expect(server.experiments.map(({ name }) => name)).to.deep.equal(['credit']);
      expect(run?.name).to.equal('tuesday');
      expect(textsOf(run?.params)).to.deep.equal({ depth: '3', loss: 'log' });
      expect(textsOf(run?.tags)).to.include({ team: 'A' });
      expect(run?.metrics.every(({ step }) => step === 7)).to.equal(true);
    });

    it('adds to an existing run, and leaves it open', async () => {
      await logFairnessMetrics(RESULT, { trackingUri });
      (server.runs[0] as StoredRun).status = 'RUNNING';
      const { length } = server.runs[0]?.metrics ?? [];
      expect(await logFairnessMetrics(RESULT, { trackingUri, runId: 'run1', step: 1 })).to.equal(true);
      expect(server.runs).to.have.length(1);
      expect(server.runs[0]).to.include({ status: 'RUNNING' });
      expect(server.runs[0]?.metrics).to.have.length(2 * length);
    });

    it('uses an existing experiment, and the path before the API', async () => {
      server.experiments.push({ id: '5', name: 'evenhand', stage: 'active' });
      await logFairnessMetrics(RESULT, { trackingUri: `${trackingUri}/behind/a proxy/` });
      expect(server.runs[0]?.experimentId).to.equal('5');
      expect(server.requests[0]?.path).to.match(/^\/behind\/a%20proxy\/api\/2\.0\/mlflow\/experiments\//);
    });

    it('splits many groups over calls that the server accepts', async () => {
      const groups = Array.from({ length: 3000 }, (_, row) => `group ${Math.floor(row / 2)}`);
      const result = demographicParityDifference(
        groups.map((_, row) => row % 2),
        groups,
        { minGroupSize: 2, withCi: false, withEffectSize: false },
      );
      expect(await logFairnessMetrics(result, { trackingUri }), warnings().join()).to.equal(true);
      // 1,500 groups with a count and a rate each, the value and the number of rows.
      expect(server.runs[0]?.metrics).to.have.length(3002);
      expect(server.count('runs/log-batch')).to.equal(4);
    });

    for (const options of [
      { timeoutMillis: 0 },
      { totalTimeoutMillis: NaN },
      { step: 1.5 },
      { timeoutMillis: 2 ** 31 },
    ]) {
      const [[name] = []] = Object.entries(options);
      it(`says that ${JSON.stringify(options)} is out of range`, async () => {
        expect(await logFairnessMetrics(RESULT, { trackingUri, ...options })).to.equal(false);
        expect(warnings()[0]).to.include(`the ${name} parameter must be a whole number`);
      });
    }
  });

  describe('logging a workflow', () => {
    it('logs its configuration, both models and the verdict', async () => {
      const findings = findingsOf();
      const outcome = await trackWorkflow(findings, { trackingUri, experiment: 'x' });
      expect(outcome).to.deep.equal({
        logged: true,
        reason: null,
        runId: 'run1',
        url: `${trackingUri}/#/experiments/1/runs/run1`,
      });
      const [run] = server.runs;
      expect(textsOf(run?.params)).to.deep.equal({
        method: 'regularized',
        target: 'income',
        sensitive: 'sex, race',
        intersections: '[["sex","race"]]',
        transformers: 'repair, weights',
        task: 'binary',
        fairness_metric: 'demographic_parity_difference',
        threshold: '0.1',
        seed: '42',
        train_size: '0.8',
        min_group_size: '30',
        class_weight: 'balanced',
        n_train: '928',
        n_test: '232',
        n_dropped: '5',
        n_features_baseline: '3',
        n_features_final: '2',
        'constraint.penalty': 'covariance',
        'constraint.eta': '0.5',
        'training.eta': '0.5',
      });
      const metrics = metricsOf(run);
      expect(metrics).to.include({
        'baseline.n': 232,
        'baseline.accuracy': findings.baselineMetrics.accuracy,
        'baseline.sex.demographic_parity_difference.female.selection_rate': 20 / 100,
        'baseline.sex.demographic_parity_difference.male.selection_rate': 64 / 132,
        'final.sex.demographic_parity_difference.female.selection_rate': 30 / 100,
        'final.sex.demographic_parity_difference.male.n': 132,
        'final.sex__race.demographic_parity_difference.male__white.selection_rate': 25 / 70,
        improvement_percent: findings.validation.improvementPercent,
        passed: Number(findings.validation.passed),
      });
      expect(metrics['baseline.sex.demographic_parity_difference']).to.be.closeTo(64 / 132 - 20 / 100, 1e-12);
      expect(metrics['final.demographic_parity_difference']).to.equal(findings.validation.finalMetricValue);
      expect(textsOf(run?.tags)).to.include({
        'evenhand.verdict': findings.validation.message,
        'evenhand.version': VERSION,
        'evenhand.warnings': 'no column was named as a feature, so every numeric one is',
      });
    });

    it('works without a threshold, and logs undefined values as tags', async () => {
      const plain = findingsOf({ threshold: undefined });
      const findings = { ...plain, validation: { ...plain.validation, improvementPercent: null } };
      expect(await logWorkflowResults(findings, { trackingUri })).to.equal(true);
      const [run] = server.runs;
      expect(metricsOf(run)).not.to.have.any.keys('passed', 'improvement_percent');
      expect(textsOf(run?.params)).not.to.have.property('threshold');
      expect(textsOf(run?.tags)['improvement_percent.undefined']).to.include('the baseline is 0');
    });

    it('accepts any names', async () => {
      const outcome = await trackWorkflow(hostileFindings(), { trackingUri });
      expect(outcome.reason).to.equal(null);
      expect(outcome.logged).to.equal(true);
    });

    it('uploads its files and folders, byte for byte', async () => {
      const model = path.join(folder(), 'model');
      mkdirSync(path.join(model, 'deep'), { recursive: true });
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
      writeFileSync(path.join(model, 'deep/weights.bin'), bytes);
      writeFileSync(path.join(model, 'card.json'), '{}');
      const report = path.join(folder(), 'réport #1 50%.md');
      writeFileSync(report, '# title');
      expect(await logWorkflowResults(findingsOf(), { trackingUri, artifacts: [model, report] })).to.equal(true);
      expect([...server.artifacts.keys()]).to.deep.equal([
        '1/run1/artifacts/model/card.json',
        '1/run1/artifacts/model/deep/weights.bin',
        '1/run1/artifacts/réport _1 50_.md',
      ]);
      expect(server.artifacts.get('1/run1/artifacts/model/deep/weights.bin')?.equals(bytes)).to.equal(true);
      expect(server.runs[0]?.status).to.equal('FINISHED');
    });

    it('logs a warning and no files if the server does not accept them', async () => {
      server.artifactScheme = 's3://bucket';
      const file = path.join(folder(), 'a.md');
      writeFileSync(file, 'a');
      expect(await logWorkflowResults(findingsOf(), { trackingUri, artifacts: [file] })).to.equal(true);
      expect(server.artifacts.size).to.equal(0);
      expect(warnings()).to.deep.equal(['no files were sent: MLflow stores the files of this run outside the server']);
    });

    it('fails before creating a run if a file is missing or two have the same name', async () => {
      const one = path.join(folder(), 'one');
      const two = path.join(folder(), 'two');
      for (const location of [one, two]) {
        mkdirSync(location);
        writeFileSync(path.join(location, 'same.md'), '');
      }
      for (const [artifacts, reason] of [
        [[path.join(one, 'none.md')], /none\.md' cannot be read$/],
        [[path.join(one, 'same.md'), path.join(two, 'same.md')], /two of the artifacts have the name 'same\.md'$/],
      ] as const) {
        const outcome = await trackWorkflow(findingsOf(), { trackingUri, artifacts });
        expect(outcome).to.include({ logged: false, runId: null, url: null });
        expect(outcome.reason).to.match(reason);
      }
      expect(server.requests).to.deep.equal([]);
    });

    it('marks the run as failed if a file cannot be uploaded', async () => {
      server.behave = ({ method }, response) => {
        if (method !== 'PUT') return 'pass';
        response.writeHead(507).end();
        return undefined;
      };
      const file = path.join(folder(), 'b.md');
      writeFileSync(file, 'b');
      const outcome = await trackWorkflow(findingsOf(), { trackingUri, artifacts: [file] });
      expect(outcome.reason).to.equal('the server answered HTTP 507');
      expect(server.runs[0]?.status).to.equal('FAILED');
    });
  });
});
