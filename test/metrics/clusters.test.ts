import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { CLUSTER_SETTINGS, clusterCoverage } from '../../scripts/study/clusters.ts';
import { createRandom } from '../../src/internal/random.ts';
import { loadData, openDuckDb } from '../../src/io/index.ts';
import { errorsOf } from '../../src/metrics/compare/cluster-evidence.ts';
import {
  computeMetric,
  FairnessAnalyzer,
  mergeStats,
  metricOf,
  reduceClassification,
  statsFromJson,
  statsToJson,
} from '../../src/metrics/index.ts';
import { metricDefinition, metricKind } from '../../src/metrics/metric-definitions.ts';
import { reduceRows } from '../../src/metrics/compute-metric.ts';
import { type MeasureName, measureDefinition } from '../../src/metrics/measures/index.ts';
import type { MetricRows } from '../../src/metrics/row-options.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/** The covariance of group values by statsmodels, without correction for the number of clusters. */
interface Robust {
  readonly values: readonly number[];
  readonly covariance: readonly (readonly number[])[];
  readonly clusters: readonly number[];
}
interface Case {
  readonly name: string;
  readonly weighted: boolean;
  readonly measures: Readonly<Record<string, Robust>>;
  readonly survey?: Readonly<Record<string, readonly number[]>>;
  readonly rows: Readonly<Record<string, (number | string)[]>>;
}
const { cases } = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../golden/clusters.json'), 'utf8')) as {
  readonly cases: readonly Case[];
};

/** Returns the errors of a measure of rows with clusters. */
function errorsOfMeasure(name: MeasureName, rows: MetricRows): NonNullable<ReturnType<typeof errorsOf>> {
  const { kind, measure } = measureDefinition(name);
  const errors = errorsOf(measure(reduceRows(kind, rows, name)));
  if (errors === undefined) throw new Error(`${name} has no errors of clusters`);
  return errors;
}

function rowsOf({ rows, weighted }: Case, name: string): MetricRows {
  const { decision, truth, score, group = [], cluster, weight } = rows;
  const isNumber = name.startsWith('mean_');
  return {
    ...{ yPred: isNumber ? score : decision, yTrue: truth, yScore: score, sensitive: group, cluster },
    sampleWeight: weighted ? weight : undefined,
  };
}

describe('clusters of dependent rows', () => {
  for (const one of cases) {
    it(`have the cluster-robust covariances of statsmodels 0.15: ${one.name}`, () => {
      for (const [name, { covariance, clusters }] of Object.entries(one.measures)) {
        const { variances, pairs } = errorsOfMeasure(name as MeasureName, rowsOf(one, name));
        const factor = (group: number): number => Math.sqrt((clusters[group] ?? 0) / ((clusters[group] ?? 0) - 1));
        for (let first = 0; first < 3; first++) {
          for (let second = first; second < 3; second++) {
            const expected = (covariance[first]?.[second] ?? NaN) * factor(first) * factor(second);
            const pair = pairs.find((each) => each.first === first && each.second === second);
            const found = first === second ? variances[first] : (pair?.covariance ?? 0);
            expect(found, `${name} ${String(first)} ${String(second)}`).to.be.closeTo(expected, 1e-9);
          }
        }
      }
    });
  }

  for (const one of cases.filter(({ survey }) => survey !== undefined)) {
    it(`with strata and weights have the standard errors of samplics 0.6: ${one.name}`, () => {
      for (const [name, expected] of Object.entries(one.survey ?? {})) {
        const rows = rowsOf({ ...one, weighted: true }, name);
        const { variances } = errorsOfMeasure(name as MeasureName, { ...rows, strata: one.rows['stratum'] ?? [] });
        expected.forEach((error, group) => {
          expect(Math.sqrt(variances[group] as number), `${name} ${String(group)}`).to.be.closeTo(error, 1e-9);
        });
      }
    });
  }

  const METRICS = [
    'demographic_parity_difference',
    'demographic_parity_ratio',
    'equalized_odds_difference',
    'balanced_accuracy_difference',
    'f1_difference',
    'mean_prediction_difference',
    'mae_parity_difference',
    'rmse_parity_difference',
    'roc_auc_difference',
    'brier_score_difference',
    'log_loss_difference',
  ];

  it('rows that repeat k times in their cluster give the intervals of the single rows', () => {
    const [first] = cases;
    const { decision = [], truth = [], score = [], group = [] } = (first as Case).rows;
    const own = decision.map((_, row) => row);
    const repeat = <T>(values: readonly T[]): T[] => values.flatMap((value) => [value, value, value, value, value]);
    for (const metric of METRICS) {
      const isNumber = /mean_|mae|rmse/.test(metric);
      const yPred = isNumber ? score : decision;
      const single = computeMetric(metric, { yPred, yTrue: truth, yScore: score, sensitive: group, cluster: own }); // prettier-ignore
      const repeated = computeMetric(metric, {
        ...{ yPred: repeat(yPred), yTrue: repeat(truth), yScore: repeat(score as number[]) },
        ...{ sensitive: repeat(group), cluster: repeat(own) },
      });
      expect(repeated.value, metric).to.be.closeTo(single.value, 1e-12);
      for (const end of [0, 1]) expect(repeated.ci?.[end], metric).to.be.closeTo(single.ci?.[end] ?? NaN, 1e-9);
      expect(repeated.nClusters, metric).to.deep.equal(single.nClusters);
    }
  });

  it('each row by itself gives about the interval of independent rows', () => {
    const random = createRandom(4);
    const yPred = Array.from({ length: 4000 }, () => Number(random.next() < 0.3));
    const sensitive = yPred.map((_, row) => 'ab'[row % 2] as string);
    const cluster = yPred.map((_, row) => row);
    const rows = computeMetric('demographic_parity_difference', { yPred, sensitive }, { ciSamples: 20_000 });
    const alone = computeMetric('demographic_parity_difference', { yPred, sensitive, cluster });
    expect(alone.ci?.[1]).to.be.closeTo(rows.ci?.[1] ?? NaN, 0.001);
    expect([alone.ciMethod, alone.seed]).to.deep.equal(['cluster-t', null]);
  });

  it('clusters that are in both groups make the interval of their difference shorter', () => {
    const random = createRandom(8);
    const rows = Array.from({ length: 200 }, (_, cluster) => ({ cluster, level: random.next() })).flatMap(
      (one) =>
      ['a', 'b'].flatMap((group) => Array.from({ length: 10 }, () => ({ ...one, group, y: Number(random.next() < one.level) }))), // prettier-ignore
    );
    const columns = { yPred: rows.map(({ y }) => y), sensitive: rows.map(({ group }) => group) };
    const width = (cluster: (row: (typeof rows)[number]) => string | number): number =>
      computeMetric('demographic_parity_difference', { ...columns, cluster: rows.map(cluster) }).ci?.[1] ?? NaN;
    // The same clusters, with another name in each group, are taken as independent.
    expect(width(({ cluster }) => cluster)).to.be.below(
      0.6 * width(({ cluster, group }) => `${group}${String(cluster)}`),
    );
  });

  describe('in files and tables', () => {
    const folder = useTemporaryFolder();
    const SOURCES = [
      { clusterCol: 'c' },
      { clusterCol: 'c', strataCol: 'h' },
      { strataCol: 'h' },
      { clusterCol: 'c', strataCol: 'h', sampleWeightCol: 'w' },
      { clusterCol: 'c', nanPolicy: 'include' },
      { clusterCol: 'c', sensitiveCol: ['g', 'k'] },
    ] as const;

    function write(): string {
      const random = createRandom(21);
      const lines = ['y,t,s,g,k,c,h,w'];
      for (let cluster = 0; cluster < 300; cluster++) {
        const level = random.next();
        const size = 1 + Math.floor(12 * random.next());
        for (let row = 0; row < size; row++) {
          const truth = random.next() < 0.1 ? '' : Number(random.next() < 0.5);
          const group = random.next() < 0.03 ? '' : 'abc'[Math.floor(random.next() * 3)];
          const score = (0.5 * level + 0.5 * random.next()).toFixed(3);
          const weight = random.next() < 0.02 ? '' : (0.5 + random.next()).toFixed(2);
          lines.push([Number(random.next() < level), truth, score, group, 'xy'[row % 2], `p${String(cluster)}`, `h${String(cluster % 7)}`, weight].join()); // prettier-ignore
        }
      }
      const file = path.join(folder(), 'rows.csv');
      writeFileSync(file, `${lines.join('\n')}\n`);
      return file;
    }

    for (const source of SOURCES) {
      it(`are counted by DuckDB as in arrays: ${JSON.stringify(source)}`, async () => {
        const file = write();
        const columns = {
          yPredCol: 'y',
          yTrueCol: 't',
          yScoreCol: 's',
          sensitiveCol: 'g',
          minGroupSize: 10,
          ...source,
        };
        const engine = openDuckDb();
        const table = FairnessAnalyzer.fromDataFrame(await loadData(file), columns);
        const analyzers = {
          file: FairnessAnalyzer.fromFile(file, columns),
          query: FairnessAnalyzer.fromSql(engine, { query: `SELECT * FROM '${file}' ORDER BY hash(c, y, s)` }, columns),
          danfo: FairnessAnalyzer.fromDataFrame(await loadData(file), { ...columns, backend: 'danfo' }),
        };
        for (const metric of METRICS) {
          const expected = await table.metric(metric);
          expect(expected.ci, metric).to.not.equal(null);
          for (const [name, analyzer] of Object.entries(analyzers)) {
            const { value, ci, nClusters } = await analyzer.metric(metric);
            expect(value, `${name} ${metric}`).to.be.closeTo(expected.value, 1e-12);
            for (const end of [0, 1])
              expect(ci?.[end], `${name} ${metric}`).to.be.closeTo(expected.ci?.[end] ?? NaN, 1e-9);
            expect(nClusters, `${name} ${metric}`).to.deep.equal(expected.nClusters);
          }
        }
        await engine.close();
      });
    }
  });

  describe('when they are few or wrong', () => {
    const two = { yPred: [1, 0, 1, 0, 1, 1, 0, 0], sensitive: Array.from('aaaabbbb') };

    it('one cluster in a group is no interval, with the reason', () => {
      const { value, ci, warnings } = computeMetric('demographic_parity_difference', { ...two, cluster: Array.from('pppprrst') }, { minGroupSize: 1 }); // prettier-ignore
      expect([value, ci]).to.deep.equal([0, null]);
      expect(warnings.join()).to.contain('no interval: the rows that a group needs are all in one cluster');
    });

    it('positives that are all in one cluster give no interval of the true positive rate', () => {
      const yTrue = [1, 1, 0, 0, 1, 0, 1, 0];
      const rows = { ...two, yTrue, cluster: Array.from('ppqqrstt') };
      const { ci, warnings } = computeMetric('true_positive_rate_difference', rows, { minGroupSize: 1 });
      expect(ci).to.equal(null);
      expect(warnings.join()).to.contain('all in one cluster');
    });

    it('few clusters give a warning', () => {
      const cluster = Array.from('ppqqrrss');
      const { ci, warnings } = computeMetric('demographic_parity_difference', { ...two, cluster }, { minGroupSize: 1 });
      expect(ci).to.not.equal(null);
      expect(warnings.join()).to.contain('the rows of a count as about 2 clusters of equal size');
    });

    it('a stratum with one cluster gives a warning', () => {
      const rows = { ...two, cluster: Array.from('pqrstuvw'), strata: Array.from('xxxxxxxy') };
      const { warnings } = computeMetric('demographic_parity_difference', rows, { minGroupSize: 1 });
      expect(warnings.join()).to.contain('1 stratum has only one cluster');
    });

    it('a rate that is 0 in every cluster has an interval of its number of clusters', () => {
      const yPred = Array.from({ length: 400 }, () => 0);
      const sensitive = yPred.map((_, row) => 'ab'[Math.floor(row / 200)] as string);
      const cluster = yPred.map((_, row) => Math.floor(row / 10));
      const { ci, perGroupCi } = computeMetric('demographic_parity_difference', { yPred, sensitive, cluster });
      // 20 clusters: (z^2 / 20) / (1 + z^2 / 20) by Wilson with z = t of 19 degrees of freedom, 2.093.
      expect(perGroupCi?.['a']?.selection_rate?.[1]).to.be.closeTo(2.093 ** 2 / (20 + 2.093 ** 2), 0.002);
      expect(ci?.[1]).to.be.within(0.1, 0.25);
    });

    it('a missing cluster is one clear error', () => {
      expect(() => reduceClassification({ ...two, cluster: ['p', null, 'q', 'q', 'r', 'r', 's', 's'] })).to.throw(/cluster must hold a value in every row, but has none at index 1/); // prettier-ignore
      expect(() => reduceClassification({ ...two, cluster: ['p'] })).to.throw(/differ in length/);
    });

    it('statistics with clusters are the same after JSON', () => {
      const [one] = cases;
      for (const metric of METRICS) {
        const rows = rowsOf(one as Case, metric.startsWith('m') || metric.startsWith('rmse') ? 'mean_' : '');
        const kind = metricKind(metricDefinition(metric));
        for (const strata of [undefined, (one as Case).rows['stratum']]) {
          const stats = reduceRows(kind, { ...rows, strata }, metric);
          const read = statsFromJson(JSON.parse(JSON.stringify(statsToJson(stats))));
          const [before, after] = [metricOf(metric, stats), metricOf(metric, read)];
          expect(after.ci, metric).to.deep.equal(before.ci).and.not.equal(null);
          expect(after.nClusters, metric).to.deep.equal(before.nClusters);
        }
      }
      const broken = { ...statsToJson(reduceClassification({ ...two, cluster: Array.from('ppqqrrss') })), clusters: { clusters: [2] } }; // prettier-ignore
      expect(() => statsFromJson(broken)).to.throw(/'clusters' must be a list of 2 numbers/);
    });

    it('statistics with clusters are not merged', () => {
      const stats = reduceClassification({ ...two, cluster: Array.from('ppqqrrss') });
      expect(() => mergeStats(stats, stats)).to.throw(/Statistics with clusters cannot be combined/);
    });
  });

  describe('in simulated data (scripts/study/clusters.ts) @slow', () => {
    for (const index of [1, 4, 7]) {
      const setting = CLUSTER_SETTINGS[index] as (typeof CLUSTER_SETTINGS)[number];
      it(`intervals cover equal rates in 93% to 97% of data sets: ${setting.what}, ${String(setting.clustersPerGroup)} clusters`, () => {
        const { equal, equalIndependent } = clusterCoverage(setting, 2000, 7);
        expect(equal).to.be.within(0.93, 0.97);
        if (!setting.isCrossed) expect(equalIndependent).to.be.below(0.7);
      }).timeout(120_000);
    }
  });
});
