import { expect } from 'chai';

import {
  computeMetric,
  metricOf,
  type MetricResultJson,
  type MetricRows,
  reduceClassification,
} from '../../src/metrics/index.ts';
import { MetricResult, type MetricResultFields, metricResultFromJson } from '../../src/metrics/metric-result.ts';

/** Rows of groups, each with its decisions as text: `{ a: '110' }`. */
function decisions(groups: Readonly<Record<string, string>>): { yPred: number[]; sensitive: string[] } {
  const entries = Object.entries(groups).flatMap(([group, bits]) =>
    Array.from(bits, (bit) => [group, Number(bit)] as const),
  );
  return { yPred: entries.map(([, bit]) => bit), sensitive: entries.map(([group]) => group) };
}

function groupsOf(metric: string, rows: MetricRows, options: Parameters<typeof computeMetric>[2] = {}): unknown[] {
  const { first, second } = computeMetric(metric, rows, { minGroupSize: 1, withCi: false, ...options });
  return [first, second];
}

describe('the groups of a gap', () => {
  it('are the highest and the lowest group, in this order, for differences and ratios', () => {
    const rows = decisions({ a: '1000', b: '1110', c: '1100' });
    for (const metric of ['demographic_parity_difference', 'demographic_parity_ratio']) {
      expect(groupsOf(metric, rows)).to.deep.equal(['b', 'a']);
    }
  });

  it('are those with the fewest rows if groups tie, then the first by label', () => {
    expect(
      groupsOf('demographic_parity_difference', decisions({ a: '1111', b: '11', c: '0000', d: '0' })),
    ).to.deep.equal(['b', 'd']);
    expect(groupsOf('demographic_parity_difference', decisions({ c: '10', b: '10', a: '10' }))).to.deep.equal([
      'a',
      'b',
    ]);
  });

  it('do not depend on the order of the rows', () => {
    const { yPred, sensitive } = decisions({ a: '1111', b: '1111', c: '0000', d: '0000' });
    const reversed = { yPred: [...yPred].reverse(), sensitive: [...sensitive].reverse() };
    expect(groupsOf('demographic_parity_difference', reversed)).to.deep.equal(['a', 'c']);
  });

  it('are those of the rate with the larger gap in equalized odds', () => {
    // True positive rates 1/2 and 1/2; false positive rates 0 of a, 1 of b.
    const rows = { yTrue: [1, 1, 0, 1, 1, 0], yPred: [1, 0, 0, 1, 0, 1], sensitive: ['a', 'a', 'a', 'b', 'b', 'b'] };
    expect(groupsOf('equalized_odds_difference', rows)).to.deep.equal(['b', 'a']);
  });

  it('are null for a mean of gaps that are between different groups', () => {
    // True positive rates 1, 0, 1/2; false positive rates 0, 1/2, 1.
    const rows = {
      yTrue: [1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0],
      yPred: [1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1],
      sensitive: Array.from('aaaabbbbcccc'),
    };
    expect(groupsOf('equalized_odds_difference', rows, { agg: 'mean' })).to.deep.equal([null, null]);
    expect(groupsOf('equalized_odds_difference', rows)).to.deep.equal(['a', 'b']);
  });

  it('are the reference group and the one farthest from it, by difference or by ratio', () => {
    // Rates 0.9, 0.5 and 0.2: b is 0.4 below a and 0.3 above c; as ratios 0.56 and 0.4.
    const rows = decisions({ a: '1111111110', b: '1111100000', c: '1100000000' });
    const options = { method: 'to_reference', referenceGroup: 'b' } as const;
    expect(groupsOf('demographic_parity_difference', rows, options)).to.deep.equal(['a', 'b']);
    expect(groupsOf('demographic_parity_ratio', rows, options)).to.deep.equal(['b', 'c']);
  });

  it('are a single group if groups are compared with all rows', () => {
    const rows = decisions({ a: '1110', b: '1000', c: '0000' });
    expect(groupsOf('demographic_parity_difference', rows, { method: 'to_overall' })).to.deep.equal(['a', null]);
  });

  it("are in the order of AIF360's signed gap: unprivileged minus privileged", () => {
    const options = { compat: 'aif360', referenceGroup: 'a' } as const;
    const rows = decisions({ a: '1110', b: '1000' });
    expect(groupsOf('demographic_parity_difference', rows, options)).to.deep.equal(['unprivileged', 'privileged']);
  });

  it('are null if the metric is undefined', () => {
    expect(
      groupsOf('demographic_parity_difference', decisions({ a: '10', b: '1' }), { minGroupSize: 2 }),
    ).to.deep.equal([null, null]);
  });

  it('also determine the effect size: for tied means, the groups with the fewest rows', () => {
    const rows = { yPred: [0, 2, 0, 2, 4, 6, 4.5, 5.5, 4.5, 5.5], sensitive: Array.from('aaaabbcccc') };
    const result = computeMetric('mean_prediction_difference', rows, {
      minGroupSize: 1,
      withCi: false,
      withEffectSize: true,
    });
    expect([result.first, result.second]).to.deep.equal(['b', 'a']);
    // Means 5 and 1; sums of squares 2 of b and 4 of a, over 4 degrees of freedom.
    expect(result.effectSize).to.be.closeTo(4 / Math.sqrt(6 / 4), 1e-12);
  });

  it('are written to JSON, read back, and named in the report', () => {
    const result = metricOf(
      'demographic_parity_difference',
      reduceClassification(decisions({ 'group one': '1111', two: '1000' })),
      { minGroupSize: 1 },
    );
    const json = JSON.parse(JSON.stringify(result)) as MetricResultJson;
    expect(json).to.include({ first: 'group one', second: 'two' });
    expect(metricResultFromJson(json)).to.deep.equal(result);
    expect(result.toMarkdown()).to.include('Gap between group one and two.');
  });

  it('are null in results of versions without these fields', () => {
    const {
      first: _,
      second: __,
      missing: ___,
      ...earlier
    } = metricOf('demographic_parity_difference', reduceClassification(decisions({ a: '11', b: '10' })), {
      minGroupSize: 1,
    }).toJSON();
    expect(metricResultFromJson(earlier)).to.include({ first: null, second: null, missing: null });
  });
});

describe('a result as JSON and as Markdown', () => {
  const FIELDS: MetricResultFields = {
    metric: 'demographic_parity_difference',
    value: 0.25,
    ...{ ci: [0.1, 0.4], ciLevel: 0.95, ciMethod: 'simultaneous', effectSize: 1.5, effectSizeName: 'risk_ratio' },
    ...{ pValue: 0.03, pValueMethod: 'permutation', minimumDetectableGap: 0.2, method: 'between_groups' },
    ...{ referenceGroup: null, agg: null, compat: null, nPerGroup: { 'a|b': 40, c: 60 } },
    perGroup: { 'a|b': { selection_rate: 0.5 }, c: { selection_rate: 0.25 } },
    perGroupCi: { 'a|b': { selection_rate: [0.4, 0.6] }, c: { selection_rate: null } },
    excluded: { d: { n: 3, reason: 'fewer than 30 rows', numerator: null, denominator: null } },
    ...{ first: 'a|b', second: 'c', nDropped: 2, undefinedReason: null, warnings: ['few *rows*'], seed: 42 },
    missing: { n: 2, byGroup: { c: 2 }, pValue: 0.5, worstCase: [0.2, 0.3] },
  };
  const markdown = (more: Partial<MetricResultFields> = {}): string =>
    new MetricResult({ ...FIELDS, ...more }).toMarkdown();

  it('has the value, the groups, the table and all notes in Markdown', () => {
    expect(markdown()).to.equal(
      [
        '### Demographic parity difference',
        '',
        '**0.2500**, 95% interval 0.1000 to 0.4000, risk ratio 1.50, p = 0.030, minimum detectable difference 0.200 (80% power)',
        '',
        'Gap between a\\|b and c.',
        '',
        '| group | n   | Selection rate          |',
        '| ----- | --- | ----------------------- |',
        '| a\\|b  | 40  | 0.5000 (0.400 to 0.600) |',
        '| c     | 60  | 0.2500                  |',
        '',
        '- Excluded: d (n = 3): fewer than 30 rows',
        '- 2 rows with missing values excluded',
        '- Worst case over the rows with missing values: 0.2000 to 0.3000',
        '- Note: few \\*rows\\*',
      ].join('\n'),
    );
  });

  it('leaves out in Markdown what it does not have', () => {
    const bare = markdown({
      ...{ value: NaN, undefinedReason: 'only one group', ci: null, ciLevel: null, effectSize: null, pValue: null },
      ...{ minimumDetectableGap: null, perGroup: {}, excluded: {}, first: null, nDropped: 0, missing: null },
      warnings: [],
    });
    expect(bare).to.equal('### Demographic parity difference\n\n**undefined (only one group)**');
  });

  it('says in Markdown how groups were compared', () => {
    expect(markdown({ method: 'to_reference', referenceGroup: 'c' })).to.include('\n\nCompared with c.\n\n');
    expect(markdown({ method: 'to_overall', second: null, agg: 'mean' })).to.include(
      '\n\nCompared with all rows, the mean of the gaps.\n\nGap between a\\|b and all rows.\n\n',
    );
    expect(markdown({ compat: 'aif360' })).to.include(
      '\n\nBy the conventions of aif360.\n\nGap between a\\|b and c, in this order.\n\n',
    );
    expect(markdown({ effectSizeName: 'cohens_d', effectSize: 0.4 })).to.include(", Cohen's d 0.40, p = ");
    expect(markdown({ nDropped: 1 })).to.include('- 1 row with missing values excluded');
    expect(markdown({ missing: { n: 0, byGroup: {}, pValue: null, worstCase: [0.2, 0.2] } })).to.not.include('Worst');
    expect(markdown({ missing: { n: 2, byGroup: {}, pValue: null, worstCase: null } })).to.not.include('Worst');
    const between = markdown({
      perGroup: { c: { selection_rate: null } },
      perGroupBounds: { c: { selection_rate: [0.1, 0.3] } },
    });
    expect(between).to.include('| c     | 60  | 0.100 to 0.300 |');
  });

  it('has null in JSON for an undefined value and an infinite end, and reads them back', () => {
    const result = new MetricResult({
      ...FIELDS,
      ...{ value: NaN, undefinedReason: 'no rows', ci: [0.5, Infinity] },
      bounds: [0.1, 0.3],
      perGroupBounds: { c: { selection_rate: [0, 1] } },
      nClusters: { c: 7 },
    });
    const json = JSON.parse(JSON.stringify(result)) as MetricResultJson;
    expect(json).to.deep.include({
      value: null,
      ci: [0.5, null],
      undefined_reason: 'no rows',
      n_per_group: { 'a|b': 40, c: 60 },
    });
    expect(json).to.deep.include({
      bounds: [0.1, 0.3],
      n_clusters: { c: 7 },
      missing: { n: 2, by_group: { c: 2 }, p_value: 0.5, worst_case: [0.2, 0.3] },
    });
    expect((json as unknown as Record<string, unknown>)['per_group_bounds']).to.deep.equal({
      c: { selection_rate: [0, 1] },
    });
    expect(metricResultFromJson(json)).to.deep.equal(result);
    const plain = new MetricResult({ ...FIELDS, missing: null, ci: null });
    const read = metricResultFromJson(JSON.parse(JSON.stringify(plain)) as MetricResultJson);
    expect(read).to.deep.equal(plain);
    expect(Object.keys(plain.toJSON())).to.not.include.members(['bounds', 'n_clusters', 'per_group_bounds']);
    expect([read.missing, read.ci, 'nClusters' in read]).to.deep.equal([null, null, false]);
  });
});
