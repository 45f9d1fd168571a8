import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { CLUSTER_SETTINGS, clusterCoverage } from '../../scripts/study/clusters.ts';
import { DataValidationError } from '../../src/exceptions/index.ts';
import { createRandom, type Random } from '../../src/internal/random.ts';
import {
  clusterErrorBetween,
  clusterFamily,
  clusterInterval,
  clusterWarnings,
  errorsOf,
} from '../../src/metrics/compare/cluster-evidence.ts';
import {
  computeMetric,
  mergeStats,
  metricOf,
  type GroupStats,
  reduceClassification,
  reduceRegression,
  reduceScores,
  statsFromJson,
  statsToJson,
} from '../../src/metrics/index.ts';
import { metricDefinition, metricKind } from '../../src/metrics/metric-definitions.ts';
import { reduceRows } from '../../src/metrics/compute-metric.ts';
import { type GroupMeasure, type MeasureName, measureDefinition } from '../../src/metrics/measures/index.ts';
import type { MetricRows } from '../../src/metrics/row-options.ts';
import { groupPicker, regroup } from '../../src/metrics/statistics/regroup-stats.ts';
import type { ClusterErrors, ClusterFamily } from '../../src/stats/cluster-gap.ts';
import { CLUSTERED_METRICS } from '../helpers/stats.ts';

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

  /** Rows of three groups in clusters of unequal size: some clusters have one group, others two or three. */
  function surveyRows(random: Random, strataCount: number) {
    const rows = Array.from({ length: 24 }, (_, cluster) => cluster).flatMap((cluster) => {
      // The first stratum has one cluster, and the last has no rows of group c.
      const stratum = cluster === 0 ? 0 : 1 + (cluster % (strataCount - 1));
      const groups = stratum === strataCount - 1 ? 'ab' : 'abc'.slice(cluster % 3);
      return Array.from({ length: 2 + random.integer(5) }, () => {
        const truth = random.integer(2);
        const group = groups[random.integer(groups.length)] as string;
        return { cluster, stratum, group, truth, score: random.next(), weight: 0.5 + random.next() };
      });
    });
    return rows;
  }
  type SurveyRow = ReturnType<typeof surveyRows>[number];

  function reduceSurvey(
    kind: 'classification' | 'regression' | 'scores',
    rows: readonly SurveyRow[],
    hasStrata: boolean,
  ): GroupStats {
    const column = <Name extends keyof SurveyRow>(name: Name) => rows.map((row) => row[name]);
    const given = {
      ...{ yTrue: column('truth'), yScore: column('score'), sensitive: column('group') },
      yPred: kind === 'regression' ? column('score') : column('truth'),
      ...{ sampleWeight: column('weight'), cluster: column('cluster') },
      ...(hasStrata ? { strata: column('stratum') } : {}),
    };
    return { classification: reduceClassification, regression: reduceRegression, scores: reduceScores }[kind](given);
  }

  /** Means over the rows of a group: the value of a row, and the statistics that the measure is computed from. */
  const MEANS = {
    selection_rate: ['classification', ({ truth }: SurveyRow) => truth],
    mean_prediction: ['regression', ({ score }: SurveyRow) => score],
    brier_score: ['scores', ({ score, truth }: SurveyRow) => (score - truth) ** 2],
  } as const;

  for (const [name, [kind, valueOf]] of Object.entries(MEANS)) {
    for (const hasStrata of [true, false]) {
      it(`have the covariances and degrees of freedom of the linearised mean, by its formula: ${name}, ${hasStrata ? 'with' : 'without'} strata`, () => {
        const rows = surveyRows(createRandom(3), 5);
        const labels = ['a', 'b', 'c'];
        const stats = reduceSurvey(kind, rows, hasStrata);
        const found = errorsOf(measureDefinition(name as MeasureName).measure(stats));
        if (found === undefined) throw new Error(`${name} has no errors of clusters`);
        const weightOf = (own: readonly SurveyRow[]): number => own.reduce((sum, { weight }) => sum + weight, 0);
        const of = labels.map((label) => rows.filter(({ group }) => group === label));
        const means = of.map((own) => own.reduce((sum, row) => sum + row.weight * valueOf(row), 0) / weightOf(own));
        /** The influence of each cluster on the mean of a group. */
        const influence = (group: number, cluster: number): number =>
          (of[group] ?? [])
            .filter((row) => row.cluster === cluster)
            .reduce(
              (sum, row) => sum + (row.weight * (valueOf(row) - (means[group] ?? NaN))) / weightOf(of[group] ?? []),
              0,
            );
        const clustersOf = (own: readonly SurveyRow[]): number[] => [...new Set(own.map(({ cluster }) => cluster))];
        const strataOf = (own: readonly SurveyRow[]): number =>
          hasStrata ? new Set(own.map(({ stratum }) => stratum)).size : 1;
        const factor = (count: number): number => count / (count - 1);
        const covariance = (first: number, second: number): number => {
          const products = (clusters: readonly number[], centre: (group: number) => number): number =>
            clusters.reduce(
              (sum, cluster) =>
                sum + (influence(first, cluster) - centre(first)) * (influence(second, cluster) - centre(second)),
              0,
            );
          const all = clustersOf(rows);
          if (!hasStrata) {
            const counts = [first, second].map((group) => factor(clustersOf(of[group] ?? []).length));
            return Math.sqrt((counts[0] ?? NaN) * (counts[1] ?? NaN)) * products(all, () => 0);
          }
          const strata = [...new Set(rows.map(({ stratum }) => stratum))];
          return strata.reduce((sum, stratum) => {
            const own = clustersOf(rows.filter((row) => row.stratum === stratum));
            const centre = (group: number): number =>
              own.reduce((total, cluster) => total + influence(group, cluster), 0) / own.length;
            return sum + (own.length === 1 ? products(own, () => 0) : factor(own.length) * products(own, centre));
          }, 0);
        };
        for (const group of labels.keys()) {
          const own = of[group] ?? [];
          const sizes = clustersOf(own).map((cluster) => weightOf(own.filter((row) => row.cluster === cluster)));
          const effective = weightOf(own) ** 2 / sizes.reduce((sum, size) => sum + size ** 2, 0);
          expect(found.variances[group], `variance ${String(group)}`).to.be.closeTo(covariance(group, group), 1e-12);
          expect(found.clusters[group], `clusters ${String(group)}`).to.be.closeTo(effective, 1e-9);
          expect(found.degrees[group], `degrees ${String(group)}`).to.be.closeTo(
            Math.max(1, effective - strataOf(own)),
            1e-9,
          );
        }
        const pairs = found.pairs.map(({ first, second }) => `${String(first)} ${String(second)}`);
        expect([...pairs].sort()).to.deep.equal(['0 1', '0 2', '1 2']);
        for (const { first, second, covariance: own, maxDegrees } of found.pairs) {
          expect(own, `covariance ${String(first)} ${String(second)}`).to.be.closeTo(covariance(first, second), 1e-12);
          const [one, other] = [of[first] ?? [], of[second] ?? []];
          const different = new Set([...clustersOf(one), ...clustersOf(other)]).size;
          expect(maxDegrees).to.equal(Math.max(1, different - Math.max(strataOf(one), strataOf(other))));
        }
        expect(stats.clusters?.lonely).to.equal(hasStrata ? 1 : 0);
      });
    }
  }

  it('of groups without a common cluster are correlated if they share a stratum, since its clusters have one mean', () => {
    // A stratum of clusters 1, 2 in group a and 3, 4 in group b, with 1, 0 and 1, 0 positives of one row each. The
    // influences are (1/2, -1/2) / 2 each. Both sums in the stratum are 0, so that the covariance is 0.
    const rows = { yPred: [1, 0, 1, 0], sensitive: Array.from('aabb'), cluster: [1, 2, 3, 4], strata: [1, 1, 1, 1] };
    const { variances, pairs, degrees } = errorsOfMeasure('selection_rate', rows);
    // n / (n - 1) = 4 / 3 times two squares of 1 / 4.
    for (const variance of variances) expect(variance).to.be.closeTo((4 / 3) * 2 * (1 / 4) ** 2, 1e-15);
    expect([...degrees]).to.deep.equal([1, 1]);
    expect(pairs.map(({ first, second, maxDegrees }) => [first, second, maxDegrees])).to.deep.equal([[0, 1, 3]]);
    expect(pairs[0]?.covariance).to.be.closeTo(0, 1e-15);
  });

  describe('in other groups', () => {
    const rows = surveyRows(createRandom(5), 5);
    const relabelled = (names: Readonly<Record<string, string>>): SurveyRow[] =>
      rows.map((row) => ({ ...row, group: names[row.group] ?? '' }));

    /** Rounds numbers to 10 digits, and lists blocks in one order. */
    function comparable({ totals, shared, strata }: NonNullable<GroupStats['clusters']>): unknown {
      const near = (values: ArrayLike<number>): number[] =>
        Array.from(values, (value) => Number(value.toFixed(10)) + 0);
      if (totals.kind === 'entries') return { ...totals, weights: near(totals.weights) };
      const blocks = totals.blocks.map(({ first, second, values }) => [first, second, near(values)] as const);
      return {
        ...{ sums: near(totals.sums), strata: [...strata], blocks: blocks.sort(([a, b], [c, d]) => a - c || b - d) },
        shared: shared.map(({ first, second }) => [first, second]).sort(),
      };
    }

    for (const kind of ['classification', 'regression', 'scores'] as const) {
      it(`have the sums of rows with the labels of the new groups, if groups are pooled within strata: ${kind}`, () => {
        const whole = reduceSurvey(kind, rows, true);
        for (const [positions, labels, names] of [
          [[0, 0, 1], ['y', 'z'], { a: 'y', b: 'y', c: 'z' }],
          [[1, 1, 0], ['y', 'z'], { a: 'z', b: 'z', c: 'y' }],
          [[1, 0, 2], ['x', 'y', 'z'], { a: 'y', b: 'x', c: 'z' }],
          [[0, 0, 0], ['all'], { a: 'all', b: 'all', c: 'all' }],
        ] as const) {
          const found = regroup(whole, positions, labels).clusters;
          const direct = reduceSurvey(kind, relabelled(names), true).clusters;
          if (found === undefined || direct === undefined) throw new Error('no clusters');
          // The shifts of regression are the means of all rows, which are the same.
          expect(comparable(found)).to.deep.equal(comparable(direct));
        }
      });

      it(`are those of the rows of the groups that remain: ${kind}`, () => {
        const whole = reduceSurvey(kind, rows, false);
        const expected = reduceSurvey(
          kind,
          rows.filter(({ group }) => group !== 'b'),
          false,
        );
        const names = {
          classification: 'selection_rate',
          regression: 'mean_prediction',
          scores: 'brier_score',
        } as const;
        const errors = (stats: GroupStats): ReturnType<typeof errorsOf> =>
          errorsOf(measureDefinition(names[kind]).measure(stats));
        const wanted = errors(expected);
        for (const stats of [regroup(whole, [0, -1, 1], ['a', 'c']), groupPicker(whole)([0, 2], ['a', 'c'])]) {
          expect(stats.labels).to.deep.equal(['a', 'c']);
          const found = errors(stats);
          for (const name of ['variances', 'degrees', 'clusters'] as const)
            for (const group of [0, 1])
              expect(found?.[name][group], name).to.be.closeTo(wanted?.[name][group] ?? NaN, 1e-12);
          expect(found?.pairs.map(({ first, second, maxDegrees }) => [first, second, maxDegrees])).to.deep.equal(
            wanted?.pairs.map(({ first, second, maxDegrees }) => [first, second, maxDegrees]),
          );
          expect(found?.pairs[0]?.covariance).to.be.closeTo(wanted?.pairs[0]?.covariance ?? NaN, 1e-12);
        }
      });
    }

    it('have at least the clusters and strata of each part', () => {
      const stats = reduceSurvey('classification', rows, true);
      const { clusters, strata } = regroup(stats, [0, 0, 1], ['y', 'z']).clusters ?? {};
      const [a = 0, b = 0, c = 0] = stats.clusters?.clusters ?? [];
      expect([...(clusters ?? [])]).to.deep.equal([Math.max(a, b), c]);
      const [x = 0, y = 0, z = 0] = stats.clusters?.strata ?? [];
      expect([...(strata ?? [])]).to.deep.equal([Math.max(x, y), z]);
      expect(regroup(stats, [0, -1, -1], ['a']).clusters?.shared).to.deep.equal([]);
    });
  });

  it('rows that repeat k times in their cluster give the intervals of the single rows', () => {
    const [first] = cases;
    const { decision = [], truth = [], score = [], group = [] } = (first as Case).rows;
    const own = decision.map((_, row) => row);
    const repeat = <T>(values: readonly T[]): T[] => values.flatMap((value) => [value, value, value, value, value]);
    for (const metric of CLUSTERED_METRICS) {
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
      for (const metric of CLUSTERED_METRICS) {
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
      const without = reduceClassification(two);
      for (const [a, b] of [
        [stats, stats],
        [stats, without],
        [without, stats],
      ] as const) {
        expect(() => mergeStats(a, b))
          .to.throw(DataValidationError, /Statistics with clusters cannot be combined/)
          .with.property('code', 'invalid-data');
      }
    });
  });

  describe('one group, a comparison and its warnings, from given errors', () => {
    /** Errors of groups with the given variances; two groups share clusters if a covariance is given. */
    const given = (variances: number[], more: { clusters?: number[]; covariance?: number } = {}): ClusterErrors => ({
      variances: Float64Array.from(variances),
      degrees: new Float64Array(variances.length).fill(7),
      clusters: Float64Array.from(more.clusters ?? variances.map(() => 8)),
      pairs: more.covariance === undefined ? [] : [{ first: 0, second: 1, covariance: more.covariance, maxDegrees: 5 }],
    });
    const measureOf = (values: number[], sampling: object): GroupMeasure => ({
      ...{ name: 'm', values: Float64Array.from(values), denominatorName: 'rows' },
      ...{ denominatorCounts: new Float64Array(values.length), sampling: sampling as GroupMeasure['sampling'] },
    });
    const expectEnds = (found: readonly number[] | null, expected: readonly number[], tolerance = 1e-9): void => {
      expect(found).to.have.length(expected.length);
      expected.forEach((end, index) => {
        expect(found?.[index]).to.be.closeTo(end, tolerance);
      });
    };
    /** Wallace's approximation of Student's t is 0.1% too large at 7 degrees of freedom. */
    const WALLACE = 0.0015;

    it("a mean has Student's t interval, within 0 and its ceiling; by SciPy's quantile", () => {
      const T = 2.364624251592784; // scipy.stats.t.ppf(0.975, 7)
      const free = measureOf([2, 0.1], { kind: 'means' });
      expectEnds(clusterInterval(free, given([0.25, 0.04]), 0, 0.95), [2 - T * 0.5, 2 + T * 0.5], WALLACE);
      expectEnds(clusterInterval(free, given([0.25, 0.04]), 1, 0.95), [0.1 - T * 0.2, 0.1 + T * 0.2], WALLACE);
      const bounded = measureOf([0.9, 0.1, 0.5], { kind: 'means', ceiling: 1 });
      const errors = given([0.04, 0.04, 0.0001]);
      expectEnds(clusterInterval(bounded, errors, 0, 0.95), [0.9 - T * 0.2, 1], WALLACE);
      expectEnds(clusterInterval(bounded, errors, 1, 0.95), [0, 0.1 + T * 0.2], WALLACE);
      expectEnds(clusterInterval(bounded, errors, 2, 0.95), [0.5 - T * 0.01, 0.5 + T * 0.01], WALLACE);
    });

    it("a rate has Wilson's interval with R (1 - R) / variance rows, times (z / t)^2; by SciPy's quantiles", () => {
      const rates = measureOf([0.3, 0.5], { kind: 'rates' });
      // 0.21 / 0.002 * (1.95996 / 2.36462)^2 = 72.1375 rows.
      expectEnds(
        clusterInterval(rates, given([0.002, 0.002]), 0, 0.95),
        [0.2065756995232514, 0.41364809882594067],
        WALLACE,
      );
      // The rate is the same in all 12 clusters, so each counts as one row.
      expectEnds(clusterInterval(rates, given([0, 0], { clusters: [9, 12] }), 1, 0.95), [0.21810890857508686, 0.7818910914249131], WALLACE); // prettier-ignore
    });

    it('no interval without errors, with one cluster, or at a level without a critical value', () => {
      expect(clusterInterval(measureOf([0.3], { kind: 'none' }), given([0.01]), 0, 0.95)).to.equal(null);
      expect(clusterInterval(measureOf([0.3], { kind: 'means' }), given([NaN]), 0, 0.95)).to.equal(null);
      expect(clusterInterval(measureOf([0.3], { kind: 'rates' }), given([NaN]), 0, 0.95)).to.equal(null);
      expect(clusterInterval(measureOf([0.3], { kind: 'means' }), given([0.01]), 0, 1 - 2 ** -60)).to.equal(null);
    });

    it('means are compared by their differences or logarithms, by the delta method', () => {
      const errors = given([0.04, 0.09, 0.16], { covariance: 0.02 });
      const means = measureOf([2, 4, 8], { kind: 'means', ceiling: 10 });
      const difference = clusterFamily(means, errors, [0, 1], 'difference') as ClusterFamily;
      expect(Array.from(difference.values)).to.deep.equal([2, 4]);
      expect(Array.from(difference.variances)).to.deep.equal([0.04, 0.09]);
      expect([difference.ceiling, difference.pairs[0]?.covariance]).to.deep.equal([10, 0.02]);
      const open = measureOf([2, 4], { kind: 'means' });
      expect((clusterFamily(open, given([1, 1]), [0, 1], 'difference') as ClusterFamily).ceiling).to.equal(Infinity);
      const ratio = clusterFamily(means, errors, [0, 1, 2], 'ratio') as ClusterFamily;
      expectEnds(Array.from(ratio.values), [Math.log(2), Math.log(4), Math.log(8)]);
      expectEnds(Array.from(ratio.variances), [0.04 / 4, 0.09 / 16, 0.16 / 64]);
      expect(ratio.pairs[0]?.covariance).to.be.closeTo(0.02 / 8, 1e-12);
      expect(ratio.ceiling).to.equal(Infinity);
    });

    it('rates are compared with a success and a failure added', () => {
      const rates = measureOf([0.3, 0.5], { kind: 'rates' });
      const errors = given([0.002, 0], { clusters: [8, 12] });
      // 0.21 / 0.002 = 105 rows with 31.5 successes, and 12 clusters with 6: (x + 1) / (n + 2) = p, p (1 - p) / (n + 2).
      const [p, q] = [32.5 / 107, 7 / 14];
      const variances = [(p * (1 - p)) / 107, (q * (1 - q)) / 14];
      const difference = clusterFamily(rates, errors, [0, 1], 'difference') as ClusterFamily;
      expect([Array.from(difference.values), difference.ceiling]).to.deep.equal([[0.3, 0.5], 1]);
      expectEnds(Array.from(difference.variances), variances);
      // The logarithms are those of (x + 1/2) / (n + 1).
      const ratio = clusterFamily(rates, errors, [0, 1], 'ratio') as ClusterFamily;
      const values = [32 / 106, 6.5 / 13];
      expectEnds(Array.from(ratio.values), values.map(Math.log));
      expectEnds(
        Array.from(ratio.variances),
        variances.map((variance, group) => variance / (values[group] ?? NaN) ** 2),
      );
      // Covariances are scaled like the standard errors, so that correlations stay.
      const shared = clusterFamily(rates, given([0.002, 0.002], { covariance: 0.001 }), [0, 1], 'difference') as ClusterFamily; // prettier-ignore
      const [first = NaN, second = NaN] = shared.variances;
      expect((shared.pairs[0]?.covariance ?? NaN) / Math.sqrt(first * second)).to.be.closeTo(0.5, 1e-9);
      expect(clusterErrorBetween(rates, errors, 1, 0)).to.be.closeTo(Math.hypot(...variances.map(Math.sqrt)), 1e-12);
    });

    it('a comparison that is not possible has a reason', () => {
      const reasonOf = (values: number[], sampling: object, variances = [0.1, 0.1]): unknown => {
        const family = clusterFamily(measureOf(values, sampling), given(variances), [0, 1], 'ratio');
        return typeof family === 'string' ? family : 'possible';
      };
      expect(reasonOf([1, 2], { kind: 'means', whyNoErrors: 'sums overflow' })).to.equal('sums overflow');
      expect(reasonOf([1, 2], { kind: 'means' }, [0.1, NaN])).to.equal(
        'the rows that a group needs are all in one cluster',
      );
      expect(reasonOf([1, 0], { kind: 'means' })).to.equal('a ratio of numbers that are not all positive');
      expect(reasonOf([1, -2], { kind: 'means' })).to.equal('a ratio of numbers that are not all positive');
      expect(reasonOf([1, 2], { kind: 'means' })).to.equal('possible');
      expect(reasonOf([1, 0], { kind: 'rates' })).to.equal('possible');
    });

    it('the standard error of a difference of means is that of their covariance', () => {
      const errors = given([0.04, 0.09, NaN], { covariance: 0.02 });
      const means = measureOf([1, 2, 3], { kind: 'means' });
      expect(clusterErrorBetween(means, errors, 1, 0)).to.be.closeTo(Math.sqrt(0.13 - 0.04), 1e-12);
      expect(clusterErrorBetween(means, errors, 2, 0)).to.equal(null);
    });

    it('groups with fewer than 20 clusters, and strata with one cluster, have a warning', () => {
      const warningsOf = (clusters: number[], lonely: number, others = clusters): string[] => {
        const sampling = (own: number[]): object => ({ kind: 'means', clusters: given([1, 1], { clusters: own }) });
        const compared = [clusters, others].map((own) => ({
          measure: measureOf([1, 2], sampling(own)),
          groups: [0, 1],
        }));
        return clusterWarnings(compared as never, { labels: ['a', 'b'], clusters: { lonely } as never });
      };
      expect(warningsOf([20, 20], 0)).to.deep.equal([]);
      expect(warningsOf([20, 19.9], 0)).to.deep.equal([
        'the rows of b count as about 19 clusters of equal size, so that its intervals may be too narrow',
      ]);
      expect(warningsOf([20, 19], 0, [20, 1.5])).to.deep.equal([
        'the rows of b count as about 1 cluster of equal size, so that its intervals may be too narrow',
      ]);
      expect(warningsOf([30, 30], 1)).to.deep.equal([
        '1 stratum has only one cluster; it is compared with the mean of all clusters',
      ]);
      expect(warningsOf([30, 30], 2)).to.deep.equal([
        '2 strata have only one cluster; it is compared with the mean of all clusters',
      ]);
      expect(clusterWarnings([], { labels: [] })).to.deep.equal([]);
      const none = { measure: measureOf([1], { kind: 'none' }), groups: [0] };
      expect(clusterWarnings([none] as never, { labels: ['a'], clusters: { lonely: 0 } as never })).to.deep.equal([]);
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
