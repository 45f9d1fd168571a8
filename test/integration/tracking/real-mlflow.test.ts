import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { logFairnessMetrics, trackWorkflow } from '../../../src/integration/tracking/index.ts';
import { demographicParityDifference } from '../../../src/metrics/index.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { describeWithMlflow } from '../../helpers/mlflow-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { findingsOf, hostileFindings } from '../workflow-report/findings.ts';

interface ShownEntry {
  readonly key: string;
  readonly value: string | number;
}

/** A run as the server shows it. */
interface ShownRun {
  readonly info: Readonly<Record<string, string | number>>;
  readonly data: Readonly<Partial<Record<'metrics' | 'params' | 'tags', readonly ShownEntry[]>>>;
}

// Selected: 1 of 2 in group a, 3 of 4 in b.
const RESULT = demographicParityDifference([1, 0, 1, 1, 1, 0], ['a', 'a', 'b', 'b', 'b', 'b'], {
  minGroupSize: 2,
  withCi: false,
  withEffectSize: false,
});

describeWithMlflow('a real tracking server', (address) => {
  const warnings = useLoggedWarnings();
  const folder = useTemporaryFolder();

  /** Queries the server without the code under test. */
  async function ask(call: string, body?: object): Promise<unknown> {
    const response = await fetch(`${address()}/api/2.0/mlflow/${call}`, {
      ...(body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      signal: AbortSignal.timeout(30_000),
    });
    expect(response.status, call).to.equal(200);
    return response.json();
  }

  async function runsOf(experiment: string): Promise<readonly ShownRun[]> {
    const found = (await ask(`experiments/get-by-name?experiment_name=${experiment}`)) as {
      experiment: { experiment_id: string };
    };
    const { runs = [] } = (await ask('runs/search', { experiment_ids: [found.experiment.experiment_id] })) as {
      runs?: readonly ShownRun[];
    };
    return runs;
  }

  function entries(run: ShownRun | undefined, kind: 'metrics' | 'params' | 'tags'): Record<string, string | number> {
    return Object.fromEntries((run?.data[kind] ?? []).map(({ key, value }) => [key, value]));
  }

  it('shows the metrics, parameters and tags of a run that has ended', async () => {
    const logged = await logFairnessMetrics(RESULT, {
      trackingUri: address(),
      experiment: 'plain',
      runName: 'tuesday',
      params: { depth: 3 },
      tags: { team: 'A' },
      now: () => 1_700_000_000_123,
    });
    expect(warnings()).to.deep.equal([]);
    expect(logged).to.equal(true);
    const [run, ...others] = await runsOf('plain');
    expect(others).to.deep.equal([]);
    expect(run?.info).to.include({
      run_name: 'tuesday',
      status: 'FINISHED',
      start_time: 1_700_000_000_123,
      end_time: 1_700_000_000_123,
    });
    expect(entries(run, 'metrics')).to.deep.equal({
      demographic_parity_difference: 0.25,
      'demographic_parity_difference.n': 6,
      'demographic_parity_difference.a.n': 2,
      'demographic_parity_difference.a.selection_rate': 0.5,
      'demographic_parity_difference.b.n': 4,
      'demographic_parity_difference.b.selection_rate': 0.75,
    });
    expect(entries(run, 'params')).to.deep.equal({ depth: '3' });
    expect(entries(run, 'tags')).to.include({ team: 'A', 'mlflow.source.name': 'evenhand' });
  });

  it('shows the steps of one run as a history', async () => {
    const options = { trackingUri: address(), experiment: 'steps' };
    expect(await logFairnessMetrics(RESULT, options)).to.equal(true);
    const [run] = await runsOf('steps');
    const runId = String(run?.info['run_id']);
    for (const step of [1, 2]) {
      expect(await logFairnessMetrics(RESULT, { ...options, runId, step })).to.equal(true);
    }
    const history = (await ask(`metrics/get-history?run_id=${runId}&metric_key=demographic_parity_difference`)) as {
      metrics: { step?: number }[];
    };
    expect(history.metrics.map(({ step }) => step ?? 0)).to.have.members([0, 1, 2]);
    expect(await runsOf('steps')).to.have.length(1);
  });

  it('stores a workflow with its files, and returns them byte for byte', async () => {
    const model = path.join(folder(), 'model');
    mkdirSync(model);
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    writeFileSync(path.join(model, 'weights.bin'), bytes);
    const report = path.join(folder(), "réport #1 50% a&b+c@d=e,(f)[g]{h}~!$'.md");
    writeFileSync(report, '# title');
    const findings = findingsOf();
    const options = { trackingUri: address(), experiment: 'workflow', artifacts: [model, report] };
    const { logged, reason, runId, url } = await trackWorkflow(findings, options);
    expect(reason).to.equal(null);
    expect(logged).to.equal(true);
    const [run] = await runsOf('workflow');
    expect(run?.info).to.include({ run_id: runId, status: 'FINISHED' });
    expect(url).to.equal(`${address()}/#/experiments/${run?.info['experiment_id']}/runs/${runId}`);
    expect(entries(run, 'metrics')).to.include({
      'baseline.sex.demographic_parity_difference.female.selection_rate': 20 / 100,
      'final.sex.demographic_parity_difference.female.selection_rate': 30 / 100,
      passed: Number(findings.validation.passed),
    });
    expect(entries(run, 'params')).to.include({ method: 'regularized', seed: '42', transformers: 'repair, weights' });
    expect(entries(run, 'tags')).to.include({ 'evenhand.verdict': findings.validation.message });
    const root = `${address()}/api/2.0/mlflow-artifacts/artifacts/${run?.info['experiment_id']}/${runId}/artifacts`;
    const weights = await fetch(`${root}/model/weights.bin`);
    expect(Buffer.from(await weights.arrayBuffer()).equals(bytes)).to.equal(true);
    const listed = (await ask(`artifacts/list?run_id=${runId}`)) as { files: { path: string }[] };
    expect(listed.files.map((file) => file.path)).to.have.members([
      'model',
      "réport _1 50_ a&b+c@d=e,(f)[g]{h}~!$'.md",
    ]);
  });

  it('accepts names and labels of every kind', async () => {
    const options = { trackingUri: address(), experiment: 'hostile' };
    const { reason } = await trackWorkflow(hostileFindings(), options);
    expect(reason).to.equal(null);
    const labels = ['..', '.', '/', 'a/b', '', ' ', 'žena', '女', '👩', '𝒜', '½', 'é', 'Age', 'age', 'x'.repeat(400)];
    const result = demographicParityDifference(
      labels.flatMap(() => [1, 0]),
      labels.flatMap((label) => [label, label]),
      { minGroupSize: 2 },
    );
    expect(await logFairnessMetrics(result, options), warnings().join()).to.equal(true);
    expect(await logFairnessMetrics(Object.fromEntries(labels.map((name) => [name, RESULT])), options)).to.equal(true);
    expect(await runsOf('hostile')).to.have.length(3);
  });

  it('accepts more entries than fit in a call, and texts of maximum length', async () => {
    const groups = Array.from({ length: 2400 }, (_, row) => `group ${Math.floor(row / 2)}`);
    const result = demographicParityDifference(
      groups.map((_, row) => row % 2),
      groups,
      { minGroupSize: 2, withCi: false, withEffectSize: false },
    );
    const texts = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`k${index}`, 'ž'.repeat(9000)]));
    const options = { trackingUri: address(), experiment: 'many', params: texts, tags: texts };
    expect(await logFairnessMetrics(result, options), warnings().join()).to.equal(true);
    const [run] = await runsOf('many');
    // 1,200 groups with a count and a rate each, the value and the number of rows.
    expect(run?.data.metrics).to.have.length(2402);
    expect(run?.data.params).to.have.length(150);
    expect(entries(run, 'params')['k149']).to.equal('ž'.repeat(6000));
    expect(entries(run, 'tags')['k149']).to.equal('ž'.repeat(5000));
  });

  it('rejects a changed parameter, and the reason is reported', async () => {
    const options = { trackingUri: address(), experiment: 'params' };
    await logFairnessMetrics(RESULT, { ...options, params: { depth: 3 } });
    const [run] = await runsOf('params');
    const runId = String(run?.info['run_id']);
    expect(await logFairnessMetrics(RESULT, { ...options, runId, params: { depth: 4 } })).to.equal(false);
    expect(warnings().join()).to.match(/HTTP 400, INVALID_PARAMETER_VALUE: .*depth/);
  });

  it('keeps deleted experiments deleted', async () => {
    const options = { trackingUri: address(), experiment: 'gone' };
    await logFairnessMetrics(RESULT, options);
    const [run] = await runsOf('gone');
    await ask('experiments/delete', { experiment_id: run?.info['experiment_id'] });
    expect(await logFairnessMetrics(RESULT, options)).to.equal(false);
    expect(warnings().join()).to.include("the experiment 'gone' is deleted");
  });

  it('reports deleted runs and runs that do not exist', async () => {
    const options = { trackingUri: address(), experiment: 'runs' };
    await logFairnessMetrics(RESULT, options);
    const [run] = await runsOf('runs');
    const runId = String(run?.info['run_id']);
    await ask('runs/delete', { run_id: runId });
    expect(await logFairnessMetrics(RESULT, { ...options, runId })).to.equal(false);
    expect(await logFairnessMetrics(RESULT, { ...options, runId: '0123456789abcdef' })).to.equal(false);
    expect(warnings()[0]).to.include(`the run '${runId}' is deleted`);
    expect(warnings()[1]).to.match(/HTTP 404, RESOURCE_DOES_NOT_EXIST/);
  });
});
