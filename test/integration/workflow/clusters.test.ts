import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import {
  executeWorkflow,
  runBaselineMeasurement,
  workflowToJson,
  workflowToMarkdown,
} from '../../../src/integration/index.ts';
import { validateFile } from '../../../src/integration/validate-file.ts';
import { writeCsv } from '../../../src/io/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { loadConfig, type PipelineConfigInput } from '../../../src/pipeline/index.ts';
import { Table } from '../../../src/table/index.ts';
import { runCli, useTemporaryFolder } from '../../helpers/run-cli.ts';

/** Customers with one to twelve visits each. The outcomes of a customer resemble each other. */
function visits(): Table {
  const random = createRandom(5);
  const customers = Array.from({ length: 260 }, (_, customer) => ({
    customer: 1000 + customer,
    sex: customer % 3 === 0 ? 'f' : 'm',
    region: ['north', 'south'][customer % 2] as string,
    level: random.next(),
    count: 1 + Math.floor(12 * random.next()),
  }));
  const rows = customers.flatMap((one) => Array.from({ length: one.count }, () => one));
  // Some customers see two sales persons, whose sex also counts: clusters with rows of several groups.
  const column = <T>(valueOf: (row: (typeof rows)[number]) => T): T[] => rows.map(valueOf);
  const income = column(({ level }) => level + 0.3 * random.next());
  return Table.from({
    customer: column(({ customer }) => customer),
    region: column(({ region }) => region),
    sex: column(({ sex }) => sex),
    seller: column(() => (random.next() < 0.4 ? 'a' : 'b')),
    income,
    age: column(({ customer }) => (customer * 37) % 50),
    bought: income.map((value, row) => Number(value + 0.3 * random.next() + (rows[row]?.sex === 'm' ? 0.1 : 0) > 0.85)),
    spent: income.map((value) => 10 * value + random.next()),
  });
}

const CONFIG = {
  sensitive: ['sex', 'seller'],
  intersections: [['sex', 'seller']],
  features: ['income', 'age'],
  training: { method: 'reductions', targetColumn: 'bought', params: { T: 3 } },
  fairnessMetric: 'demographic_parity_difference',
  validationThreshold: 0.2,
  cluster: 'customer',
} as const satisfies PipelineConfigInput;

const CASES: readonly (readonly [name: string, changes: Readonly<Record<string, unknown>>])[] = [
  ['clusters', {}],
  ['clusters in strata', { strata: 'region' }],
  ['strata of rows', { cluster: undefined, strata: 'region' }],
  ['scores', { fairnessMetric: 'roc_auc_difference' }],
  [
    'numbers',
    {
      fairnessMetric: 'mae_parity_difference',
      validationThreshold: 5,
      training: { method: 'reductions', targetColumn: 'spent', params: { upperBound: 25 } },
    },
  ],
];

describe('a workflow on rows that belong together', () => {
  const folder = useTemporaryFolder();
  const inFolder = (name: string): string => path.join(folder(), name);
  const data = visits();

  for (const [name, changes] of CASES) {
    it(`has the results of validate --cluster on its held-out rows: ${name}`, async () => {
      const config = { ...CONFIG, ...changes };
      const { cluster, strata } = config as { cluster?: string; strata?: string };
      const { predictions, split, finalMetrics, baselineMetrics } = await executeWorkflow(config, data);
      const held = data.take(split.test);
      const target: string = config.training.targetColumn;
      for (const [outputs, scores, metrics] of [
        [predictions.final, predictions.finalScores, finalMetrics],
        [predictions.baseline, predictions.baselineScores, baselineMetrics],
      ] as const) {
        const one = held.rowCount;
        const columns = held.toColumns() as Record<string, never>;
        await writeCsv(
          inFolder('held.csv'),
          Table.from({ ...columns, p: [...outputs], s: [...(scores ?? outputs)], one: Array<string>(one).fill('x') }),
        );
        const attributes = [...CONFIG.sensitive.map((own) => [own]), ['sex', 'seller'], ['one']];
        for (const metric of Object.keys(finalMetrics.metrics)) {
          const outcome = metric === 'roc_auc_difference' ? { score: 's' } : { yPred: 'p' };
          const validation = await validateFile(inFolder('held.csv'), {
            ...{ attributes, ...outcome, yTrue: target, metric, cluster, strata },
          });
          for (const [attribute, results] of Object.entries(metrics.attributes)) {
            const found = results[metric];
            const expected = validation.attributes[attribute]?.[metric];
            expect(found?.value, metric).to.be.closeTo(expected?.value ?? NaN, 1e-12);
            for (const end of [0, 1]) expect(found?.ci?.[end], metric).to.be.closeTo(expected?.ci?.[end] ?? NaN, 1e-12);
            expect(found?.nClusters).to.deep.equal(expected?.nClusters);
            expect([found?.ciMethod, found?.nPerGroup]).to.deep.equal([expected?.ciMethod, expected?.nPerGroup]);
          }
        }
        if (target === 'spent') continue;
        const { attributes: found } = await validateFile(inFolder('held.csv'), {
          ...{ attributes: [['one']], yPred: 'p', yTrue: target, metric: 'accuracy_difference', cluster, strata },
        });
        const expected = found['one']?.['accuracy_difference']?.perGroupCi?.['x']?.['accuracy'];
        for (const end of [0, 1]) expect(metrics.accuracyCi?.[end]).to.be.closeTo(expected?.[end] ?? NaN, 1e-12);
      }
    });
  }

  it('tests models on clusters that they have not seen, about a fifth of them, with all groups and targets', async () => {
    const { split, yTest, groupsTest } = await executeWorkflow(CONFIG, data);
    const ids = (rows: Int32Array): Set<number> => new Set([...data.take(rows).numeric('customer').values]);
    const [train, test] = [ids(split.train), ids(split.test)];
    expect([...test].filter((id) => train.has(id))).to.deep.equal([]);
    expect([train.size + test.size, split.train.length + split.test.length]).to.deep.equal([260, data.rowCount]);
    expect(test.size / 260).to.be.closeTo(0.2, 0.02);
    const share = [...yTest].reduce((sum, y) => sum + y, 0) / yTest.length;
    const all = [...data.numeric('bought').values];
    expect(share).to.be.closeTo(all.reduce((sum, y) => sum + y, 0) / all.length, 0.06);
    expect(groupsTest['sex']?.labels).to.deep.equal(['f', 'm']);
  });

  it('has wider intervals than with independent rows, and shows the clusters in its reports and its JSON', async () => {
    const clustered = await executeWorkflow(CONFIG, data);
    const { metrics } = clustered.finalMetrics;
    const plain = await executeWorkflow({ ...CONFIG, cluster: undefined }, data);
    const width = (ci: readonly [number, number] | null | undefined): number => (ci?.[1] ?? NaN) - (ci?.[0] ?? NaN);
    expect(width(metrics['demographic_parity_difference']?.ci)).to.be.above(
      1.2 * width(plain.finalMetrics.metrics['demographic_parity_difference']?.ci),
    );
    expect(plain.finalMetrics).not.to.have.property('accuracyCi');
    expect(workflowToMarkdown(clustered)).to.match(
      /\| Clusters +\| customer, whose rows are all trained on or all held out/,
    );
    expect(workflowToMarkdown(clustered)).to.match(/\| Group +\| +n:? +\| +Clusters +\|/);
    const json = workflowToJson(clustered);
    expect(json.final_metrics.attributes['sex']?.['demographic_parity_difference']?.n_clusters).to.have.keys('f', 'm');
    expect(json.final_metrics.accuracy_ci).to.have.length(2);
    expect(json.config).to.include({ cluster: 'customer' });
    const { baselineMetrics } = await runBaselineMeasurement(CONFIG, data);
    expect(baselineMetrics?.metrics['demographic_parity_difference']?.ci).to.deep.equal(
      clustered.baselineMetrics.metrics['demographic_parity_difference']?.ci,
    );
  });

  it('does not learn from the numbers of clusters', async () => {
    const { features } = await executeWorkflow({ ...CONFIG, features: undefined }, data);
    expect(features.baseline).to.deep.equal(['income', 'age', 'spent']);
  });

  it('rejects a row without a cluster, also if its target is missing', async () => {
    const columns = data.toColumns();
    const without = (name: string): Record<string, unknown> => ({
      ...columns,
      [name]: columns[name]?.map((value, row) => (row === 6 ? null : value)),
      bought: columns['bought']?.map((value, row) => (row === 6 ? null : value)),
    });
    for (const [name, config] of [
      ['customer', CONFIG],
      ['region', { ...CONFIG, strata: 'region' }],
    ] as const) {
      const error = await executeWorkflow(config, without(name) as never).catch(String);
      expect(error).to.contain(`Column '${name}' must hold a value in every row, but has none in row 7.`);
    }
  });

  it('names the line of a column that the data do not have', async () => {
    await writeCsv(inFolder('visits.csv'), data);
    const lines = [
      'sensitive: [sex]',
      'features: [income, ages]',
      'training: { method: reductions, target_column: bougth }',
      'cluster: custommer',
      'strata: regoin',
    ];
    writeFileSync(inFolder('c.yml'), lines.join('\n'));
    const { code, stderr } = await runCli(['run-pipeline', '--config', 'c.yml', '--csv', 'visits.csv'], {
      cwd: folder(),
    });
    expect(code).to.equal(2);
    expect(stderr).to.contain("c.yml:2:20: features[1]: the data have no column 'ages'. Did you mean 'age'?");
    expect(stderr).to.contain(
      "c.yml:3:48: training.target_column: the data have no column 'bougth'. Did you mean 'bought'?",
    );
    expect(stderr).to.contain("c.yml:4:10: cluster: the data have no column 'custommer'. Did you mean 'customer'?");
    expect(stderr).to.contain("c.yml:5:9: strata: the data have no column 'regoin'. Did you mean 'region'?");
    const found = await loadConfig(inFolder('c.yml'), { columns: ['sex'] }).catch(String);
    expect(found).to.contain('c.yml:4:10: cluster');
  });
});
