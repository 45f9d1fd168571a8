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
const { cases } = JSON.parse(readFileSync(path.join(projectRoot, 'test/golden/clusters.json'), 'utf8')) as {
  readonly cases: readonly Case[];
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
