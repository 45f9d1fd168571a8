import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom, type Random } from '../../../src/internal/random.ts';
import { FairnessABTestAnalyzer } from '../../../src/monitoring/index.ts';
import { projectRoot } from '../../helpers/project-files.ts';

interface Case {
  readonly measures: Readonly<
    Record<string, { readonly covariance: readonly (readonly number[])[]; readonly clusters: readonly number[] }>
  >;
  readonly rows: Readonly<Record<string, (number | string)[]>>;
}

/** An experiment whose clusters have rows in both arms and all groups: the covariance of its cell means by statsmodels. */
interface Experiment {
  readonly cells: readonly string[];
  readonly clusters: readonly number[];
  readonly rows: Readonly<Record<string, (number | string)[]>>;
}
type CellMeans = Readonly<
  Record<string, { readonly values: readonly number[]; readonly covariance: readonly (readonly number[])[] }>
>;

const { cases, experiment } = JSON.parse(readFileSync(path.join(projectRoot, 'test/golden/clusters.json'), 'utf8')) as {
  readonly cases: readonly Case[];
  readonly experiment: Experiment & CellMeans;
};

/** Draws customers with ten visits each; the rate of a customer varies, and no rate depends on arm or sex. */
function drawArm(random: Random, arm: string): { sex: string[]; approved: number[]; customer: string[] } {
  const rows = Array.from({ length: 120 }, (_, customer) => ({ customer, rate: random.next() < 0.5 ? 0.15 : 0.75 }));
  const visits = rows.flatMap((one) => Array.from({ length: 10 }, () => one));
  return {
    sex: visits.map(({ customer }) => 'fm'[customer % 2] as string),
    approved: visits.map(({ rate }) => Number(random.next() < rate)),
    customer: visits.map(({ customer }) => `${arm}${String(customer)}`),
  };
}

/** Draws customers with five visits in each arm. The rate of a customer varies, and no rate depends on arm or sex. */
function drawCrossover(random: Random): Record<'control' | 'treatment', Record<string, (number | string)[]>> {
  const rows = Array.from({ length: 120 }, (_, customer) => ({ customer, rate: random.next() < 0.5 ? 0.15 : 0.75 }));
  const visits = rows.flatMap((one) => Array.from({ length: 5 }, () => one));
  const arm = (): Record<string, (number | string)[]> => ({
    sex: visits.map(({ customer }) => 'fm'[customer % 2] as string),
    approved: visits.map(({ rate }) => Number(random.next() < rate)),
    customer: visits.map(({ customer }) => customer),
  });
  return { control: arm(), treatment: arm() };
}

describe('A/B tests with clusters', () => {
  it('have the cluster-robust standard errors of statsmodels 0.15 for means', () => {
    const { rows, measures } = cases[0] as Case;
    const armOf = (group: string) => {
      const kept = (rows['group'] ?? []).flatMap((own, row) => (own === group ? [row] : []));
      const column = (name: string) => kept.map((row) => (rows[name] ?? [])[row] as number);
      return { all: kept.map(() => 'x'), score: column('score'), cluster: column('cluster') };
    };
    const analyzer = new FairnessABTestAnalyzer({
      ...{ protected: ['all'], outcome: 'score', fairness: 'mean_prediction_difference', cluster: 'cluster' },
    });
    const { comparisons } = analyzer.analyze(armOf('a'), armOf('b'));
    const { covariance, clusters } = measures['mean_prediction'] as Case['measures'][string];
    const variance = [0, 1].reduce((sum, group) => {
      const m = clusters[group] as number;
      return sum + ((covariance[group]?.[group] ?? NaN) * m) / (m - 1);
    }, 0);
    expect(comparisons[0]?.overall.standardError).to.be.closeTo(Math.sqrt(variance), 1e-9);
  });

  for (const outcome of ['decision', 'score']) {
    for (const weights of ['plain', 'weighted']) {
      it(`whose clusters have rows in both arms have the standard errors of statsmodels 0.15: ${outcome}, ${weights}`, () => {
        const { cells, clusters, rows } = experiment;
        const { values, covariance } = experiment[`${outcome} ${weights}`] as CellMeans[string];
        const armOf = (arm: number): Record<string, (number | string)[]> => {
          const kept = (rows['arm'] ?? []).flatMap((own, row) => (own === arm ? [row] : []));
          return Object.fromEntries(
            Object.entries(rows).map(([name, all]) => [name, kept.map((row) => all[row] ?? '')]),
          );
        };
        const analyzer = new FairnessABTestAnalyzer({
          ...{ protected: ['group'], outcome, fairness: 'mean_prediction_difference', cluster: 'cluster' },
          ...{ minGroupSize: 10, sampleWeight: weights === 'weighted' ? 'weight' : undefined },
        });
        const [comparison] = analyzer.analyze(armOf(0), armOf(1)).comparisons;
        /** The standard error of sum c_i x_i over cells, with the correction m / (m - 1) of each cell. */
        const errorOf = (terms: Readonly<Record<string, number>>): number => {
          const factor = (cell: number): number => Math.sqrt((clusters[cell] ?? 0) / ((clusters[cell] ?? 0) - 1));
          const own = Object.entries(terms).map(([name, c]) => [cells.indexOf(name), c] as const);
          const all = own.flatMap(([i, a]) =>
            own.map(([j, b]) => a * b * (covariance[i]?.[j] ?? NaN) * factor(i) * factor(j)),
          );
          return Math.sqrt(all.reduce((sum, one) => sum + one, 0));
        };
        for (const { group, treatment, standardError } of comparison?.groups ?? []) {
          expect(treatment).to.be.closeTo(values[cells.indexOf(`treatment ${group}`)] ?? NaN, 1e-12);
          expect(standardError).to.be.closeTo(errorOf({ [`treatment ${group}`]: 1, [`control ${group}`]: -1 }), 1e-9);
        }
        expect(comparison?.rows).to.have.length(2);
        const { interval, change = NaN, groups } = comparison?.gap ?? {};
        expect([groups, interval?.[0] ?? NaN, interval?.[1] ?? NaN]).to.satisfy(([n, low, high]: number[]) => n === 3 && (low ?? NaN) < change && change < (high ?? NaN)); // prettier-ignore
        for (const { group, reference, standardError } of comparison?.rows ?? []) {
          const change = { [`treatment ${group}`]: 1, [`treatment ${reference}`]: -1, [`control ${group}`]: -1, [`control ${reference}`]: 1 }; // prettier-ignore
          expect(standardError).to.be.closeTo(errorOf(change), 1e-9);
        }
      });
    }
  }

  for (const fairness of ['demographic_parity_difference', 'mean_prediction_difference']) {
    it(`whose customers are in both arms have the error rate of their level, and errors that fit: ${fairness}`, () => {
      const random = createRandom(23);
      const options = { protected: ['sex'], outcome: 'approved', fairness, cluster: 'customer' };
      const [changes, errors, effects, effectErrors]: number[][] = [[], [], [], []];
      let [found, foundOverall] = [0, 0];
      for (let experimentIndex = 0; experimentIndex < 400; experimentIndex++) {
        const { control, treatment } = drawCrossover(random);
        const { comparisons } = new FairnessABTestAnalyzer(options as never).analyze(control, treatment);
        const [row] = comparisons[0]?.rows ?? [];
        changes?.push(row?.fairnessChange ?? NaN);
        errors?.push(row?.standardError ?? NaN);
        effects?.push(comparisons[0]?.overall.value ?? NaN);
        effectErrors?.push(comparisons[0]?.overall.standardError ?? NaN);
        found += Number((row?.pValue ?? 1) < 0.05);
        const [low, high] = comparisons[0]?.overall.interval ?? [NaN, NaN];
        foundOverall += Number(low > 0 || high < 0);
      }
      expect(found / 400).to.be.within(0.015, 0.085);
      expect(foundOverall / 400).to.be.within(0.015, 0.085);
      for (const [values, own] of [
        [changes, errors],
        [effects, effectErrors],
      ] as [number[], number[]][]) {
        const spread = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
        expect(own.reduce((sum, value) => sum + value, 0) / own.length / spread).to.be.within(0.9, 1.15);
      }
    });
  }

  it('find a change where there is none in about 5% of experiments, and without clusters in a quarter or more', () => {
    const random = createRandom(11);
    const options = { protected: ['sex'], outcome: 'approved' };
    const share = (cluster: string | undefined): number => {
      let found = 0;
      for (let experiment = 0; experiment < 300; experiment++) {
        const result = new FairnessABTestAnalyzer({ ...options, cluster }).analyze(
          drawArm(random, 'a'),
          drawArm(random, 'b'),
        );
        found += Number((result.rows[0]?.pValue ?? 1) < 0.05);
      }
      return found / 300;
    };
    expect(share('customer')).to.be.within(0.015, 0.085);
    expect(share(undefined)).to.be.above(0.25);
  });

  it('check the assignment of customers, not of their visits', () => {
    const random = createRandom(3);
    const [control, treatment] = [drawArm(random, 'a'), drawArm(random, 'b')];
    // Fewer visits of the same number of customers.
    const few = { sex: [] as string[], approved: [] as number[], customer: [] as string[] };
    treatment.customer.forEach((customer, row) => {
      if (row % 10 >= 6) return;
      few.sex.push(treatment.sex[row] as string);
      few.approved.push(treatment.approved[row] as number);
      few.customer.push(customer);
    });
    const options = { protected: ['sex'], outcome: 'approved', id: 'customer' };
    const plain = new FairnessABTestAnalyzer(options).analyze(control, few);
    expect(plain.warnings.join()).to.contain('sample ratio mismatch').and.to.contain('rows repeat an id');
    const clustered = new FairnessABTestAnalyzer({ ...options, cluster: 'customer' }).analyze(control, few);
    expect(clustered.warnings.join()).to.equal('');
    expect(clustered.checks.sampleRatio.treatmentShare).to.equal(0.5);
  });

  it('reject a missing cluster', () => {
    const rows = { sex: ['f', 'm'], approved: [1, 0], customer: ['a', null] };
    const analyzer = new FairnessABTestAnalyzer({ protected: ['sex'], outcome: 'approved', cluster: 'customer' });
    expect(() => analyzer.analyze(rows, rows)).to.throw(/cluster must hold a value in every row/);
  });
});
