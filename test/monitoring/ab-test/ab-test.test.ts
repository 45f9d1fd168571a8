import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { FairnessABTestAnalyzer, splitArms } from '../../../src/monitoring/ab-test/index.ts';
import { Table } from '../../../src/table/index.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { armOf } from './made-arms.ts';

type Counts = readonly [successes: number, trials: number];

interface AbCase {
  readonly counts: Readonly<Record<'A' | 'B', { readonly g1: Counts; readonly g2: Counts }>>;
  readonly disparity_A: number;
  readonly disparity_B: number;
  readonly did: number;
  readonly se: number;
  readonly p_two_sided: number;
  readonly ci95: readonly [number, number];
  readonly logit_interaction: number;
  readonly logit_se: number;
  readonly logit_p: number;
  readonly abs_gap_change: number;
}

const bySex = (options: Partial<ConstructorParameters<typeof FairnessABTestAnalyzer>[0]> = {}) =>
  new FairnessABTestAnalyzer({ protected: ['sex'], outcome: 'approved', ...options });

describeWithReference('the analyzer against SciPy', () => {
  const { cases } = readVectors('fairness_ab.json') as { readonly cases: readonly AbCase[] };
  for (const [index, expected] of cases.entries()) {
    it(`case ${index + 1}, from rows`, () => {
      const analyzer = bySex({ referenceGroups: { sex: 'g2' }, minGroupSize: 20 });
      const [row] = analyzer.analyze(armOf(expected.counts.A), armOf(expected.counts.B)).rows;
      const pairs: [number | null | undefined, number][] = [
        [row?.disparity.control, expected.disparity_A],
        [row?.disparity.treatment, expected.disparity_B],
        [row?.fairnessChange, expected.did],
        [row?.standardError, expected.se],
        [row?.pValue, expected.p_two_sided],
        [row?.adjustedPValue, expected.p_two_sided],
        [row?.interval?.[0], expected.ci95[0]],
        [row?.interval?.[1], expected.ci95[1]],
        [row?.logitInteraction?.estimate, expected.logit_interaction],
        [row?.logitInteraction?.standardError, expected.logit_se],
        [row?.logitInteraction?.pValue, expected.logit_p],
        [row?.sizeChange.value, expected.abs_gap_change],
      ];
      for (const [position, [actual, value]] of pairs.entries()) {
        expect(actual ?? NaN, `place ${position}`).to.be.closeTo(value, 1e-9);
      }
    });
  }
});

describe('the finding of the analyzer', () => {
  it('is p = .076 and a minimum detectable difference of 0.14 for 400 rows per cell and a true change of 8.75 points', () => {
    const [row] = bySex().analyze(
      armOf({ female: [180, 400], male: [240, 400] }),
      armOf({ female: [220, 400], male: [245, 400] }),
    ).rows;
    expect(row?.pValue).to.be.closeTo(0.076, 5e-4);
    expect(row?.detectable).to.be.closeTo(2.801585 * 0.0493037, 1e-5);
    expect(row?.finding).to.equal('no_change_shown');
    expect(row?.verdict).to.equal(
      'no change shown (adjusted p = 0.076); minimum detectable difference 0.14 (80% power, unadjusted)',
    );
  });

  const even = armOf({ f: [200, 400], m: [200, 400] });
  const separate = armOf({ f: [140, 400], m: [240, 400] });
  const turned = armOf({ f: [240, 400], m: [140, 400] });

  it('is worse if the gap grows, better if it shrinks, and changed if the groups swap', () => {
    const find = (control: typeof even, treatment: typeof even) => bySex().analyze(control, treatment);
    expect(find(even, separate).finding).to.equal('worse');
    expect(find(even, separate).verdict).to.equal('fairness got worse in the one comparison made');
    expect(find(separate, even).finding).to.equal('better');
    const swapped = find(separate, turned);
    expect(swapped.finding).to.equal('changed');
    expect(swapped.rows[0]?.sizeChange.value).to.be.closeTo(0, 1e-12);
    expect(swapped.rows[0]?.verdict).to.include("'m' minus 'f' in selection rate went from +0.25 to -0.25");
  });

  it('has a change equal to the effect on the group minus the effect on the reference', () => {
    const [row] = bySex().analyze(even, separate).rows;
    const { group, reference, overall } = row?.effect ?? {};
    expect((group?.value ?? NaN) - (reference?.value ?? NaN)).to.be.closeTo(row?.fairnessChange ?? NaN, 1e-12);
    expect(overall?.value).to.be.closeTo(380 / 800 - 0.5, 1e-12);
  });

  it('changes its sign, but no p-value, if the arms are swapped', () => {
    const [there, back] = [bySex().analyze(even, separate).rows[0], bySex().analyze(separate, even).rows[0]];
    expect(back?.fairnessChange).to.be.closeTo(-(there?.fairnessChange ?? NaN), 1e-12);
    expect(back?.pValue).to.be.closeTo(there?.pValue ?? NaN, 1e-12);
  });

  it('is the same for a different order of rows, columns instead of records, and weights of one', () => {
    const weighted = (rows: typeof even) => rows.map((row) => ({ ...row, w: 1 }));
    const expected = JSON.stringify(bySex().analyze(even, separate).rows);
    expect(JSON.stringify(bySex().analyze([...even].reverse(), [...separate].reverse()).rows)).to.equal(expected);
    const columns = Table.from(even).toColumns();
    expect(JSON.stringify(bySex().analyze(columns, Table.from(separate)).rows)).to.equal(expected);
    const analyzer = bySex({ sampleWeight: 'w' });
    expect(JSON.stringify(analyzer.analyze(weighted(even), weighted(separate)).rows)).to.equal(expected);
  });

  it('is the same for equal weights, and unequal weights reduce the effective number: (sum w)^2 / sum w^2', () => {
    const weigh = (rows: typeof even, w: (row: number) => number) => rows.map((row, i) => ({ ...row, w: w(i) }));
    const analyzer = bySex({ sampleWeight: 'w' });
    const twice = analyzer.analyze(
      weigh(even, () => 2),
      weigh(separate, () => 2),
    ).rows[0];
    expect(twice?.pValue).to.be.closeTo(bySex().analyze(even, separate).rows[0]?.pValue ?? NaN, 1e-12);
    const uneven = analyzer.analyze(
      weigh(even, (i) => (i % 2 === 0 ? 1 : 3)),
      weigh(separate, (i) => (i % 2 === 0 ? 1 : 3)),
    );
    expect(uneven.comparisons[0]?.groups[0]?.effective.control).to.be.closeTo(800 ** 2 / 2000, 1e-9);
  });

  it('warns about weights that follow from the outcome, such as an amount that was approved', () => {
    const weigh = (rows: typeof even, approved: number) =>
      rows.map((row) => ({ ...row, w: row['approved'] === 1 ? approved : 1 }));
    const warningsFor = (approved: number) =>
      bySex({ sampleWeight: 'w' }).analyze(weigh(even, approved), weigh(separate, approved)).warnings;
    expect(warningsFor(900).join('\n')).to.match(
      /the mean weight of rows with a positive decision is 900 times that of rows with a negative one\. If the weight follows from the decision/,
    );
    expect(warningsFor(4)).to.deep.equal([]);
  });

  it('is frozen and contains its settings', () => {
    const result = bySex({ seed: 7 }).analyze(even, separate);
    expect(result).to.be.frozen;
    expect(result.rows[0]).to.be.frozen;
    expect(result.settings).to.include({ seed: 7, alpha: 0.05, outcome: 'approved', isSequential: false });
  });
});

describe('metrics', () => {
  const rows = (cells: Readonly<Record<string, readonly [positives: number, negatives: number]>>) =>
    Object.entries(cells).flatMap(([sex, [hits, alarms]]) => [
      ...Array.from({ length: 100 }, (_, row) => ({ sex, repaid: 1, approved: Number(row < hits) })),
      ...Array.from({ length: 80 }, (_, row) => ({ sex, repaid: 0, approved: Number(row < alarms) })),
    ]);
  const [control, treatment] = [rows({ f: [60, 20], m: [70, 24] }), rows({ f: [50, 30], m: [70, 24] })];
  const changes = (
    fairness: 'equalized_odds_difference' | 'equal_opportunity_difference' | 'accuracy_parity_difference',
  ) =>
    bySex({ fairness, yTrue: 'repaid' })
      .analyze(control, treatment)
      .rows.map(({ measure, fairnessChange, n }) => [measure, Number(fairnessChange?.toFixed(9)), n.control.group]);

  it('compare true and false positive rates on rows with those labels', () => {
    // The reference is the first of equally large groups, f.
    expect(changes('equalized_odds_difference')).to.deep.equal([
      ['true_positive_rate', 0.1, 100],
      ['false_positive_rate', -0.125, 80],
    ]);
    expect(changes('equal_opportunity_difference')).to.deep.equal([['true_positive_rate', 0.1, 100]]);
    // f: (60 + 60) / 180 correct under control, (50 + 50) / 180 under treatment.
    expect(changes('accuracy_parity_difference')).to.deep.equal([['accuracy', Number((20 / 180).toFixed(9)), 180]]);
  });

  it('compare means by Welch, on four cells', () => {
    // Values 0, 1, 2 in equal numbers, shifted: mean shift + 1, variance of 90 values 60 / 89.
    const arm = (shifts: Readonly<Record<string, number>>) =>
      Object.entries(shifts).flatMap(([sex, shift]) =>
        Array.from({ length: 90 }, (_, row) => ({ sex, approved: shift + (row % 3) })),
      );
    const [row] = bySex({ fairness: 'mean_prediction_difference' }).analyze(
      arm({ f: 0, m: 1 }),
      arm({ f: 0, m: 1.5 }),
    ).rows;
    expect(row?.fairnessChange).to.be.closeTo(0.5, 1e-12);
    expect(row?.standardError).to.be.closeTo(Math.sqrt((4 * (60 / 89)) / 90), 1e-12);
    // Within a group the squares add up to 60; between two groups of an arm that differ by d, to 45 d^2.
    const squares = 4 * 60 + 45 + 45 * 1.5 ** 2;
    expect(row?.minimumEffect).to.be.closeTo(0.2 * Math.sqrt(squares / (4 * 90 - 2)), 1e-9);
    expect(row?.logitInteraction).to.equal(null);
  });

  it('of business are adjusted separately and do not affect the finding', () => {
    const arm = (effect: number) =>
      ['f', 'm'].flatMap((sex) =>
        Array.from({ length: 200 }, (_, row) => ({
          sex,
          approved: row % 2,
          revenue: (row % 5) + (sex === 'm' ? effect : 0),
        })),
      );
    const result = bySex({ business: 'revenue' }).analyze(arm(0), arm(2));
    expect(result.finding).to.equal('no_change_shown');
    expect(result.business[0]?.overall.value).to.be.closeTo(1, 1e-12);
    expect(result.business[0]?.groups.map(({ value }) => value)).to.deep.equal([0, 2]);
    expect(result.business[0]?.rows[0]?.verdict).to.match(/^the effect on 'm' is 2\.0 above that on 'f'/);
    expect(result.nTests).to.deep.equal({ fairness: 1, business: 1 });
  });

  it('are adjusted over attributes, metrics and pairs by Benjamini and Hochberg', () => {
    const arm = (shift: number) =>
      Array.from({ length: 1200 }, (_, row) => ({
        sex: row % 2 ? 'f' : 'm',
        race: ['x', 'y', 'z'][row % 3] ?? '',
        approved: Number((row * 7919) % 100 < 40 + (row % 3) * shift),
      }));
    const result = new FairnessABTestAnalyzer({
      protected: ['sex', 'race'],
      intersections: [['sex', 'race']],
      outcome: 'approved',
    }).analyze(arm(0), arm(9));
    const p = result.rows.map(({ pValue }) => pValue ?? NaN);
    expect(p).to.have.length(1 + 2 + 5);
    const sorted = [...p].sort((a, b) => a - b);
    const adjustedOf = (value: number) =>
      Math.min(1, ...sorted.map((q, rank) => (q >= value ? (q * p.length) / (rank + 1) : 1)));
    result.rows.forEach((row, index) => {
      expect(row.adjustedPValue, `row ${index}`).to.be.closeTo(adjustedOf(p[index] ?? NaN), 1e-12);
    });
  });
});

describe('more than two groups', () => {
  const control = armOf({ a: [50, 100], b: [100, 200], c: [150, 300] });
  const treatment = armOf({ a: [30, 100], b: [100, 200], c: [180, 300] });

  it('are each compared with the largest, and the change of the largest gap has an interval', () => {
    const [comparison] = bySex().analyze(control, treatment).comparisons;
    expect(comparison?.reference).to.equal('c');
    expect(comparison?.rows.map(({ group }) => group)).to.deep.equal(['a', 'b']);
    expect(comparison?.gap?.change).to.be.closeTo(0.3, 1e-12);
    const [low, high] = comparison?.gap?.interval ?? [NaN, NaN];
    expect(low).to.be.within(-0.3, 0.3);
    expect(high).to.be.within(0.3, 0.7);
    expect(comparison?.gap?.method).to.equal('difference-of-simultaneous');
  });

  it('give the same result for the same seed', () => {
    const gap = () => bySex({ seed: 3 }).analyze(control, treatment).comparisons[0]?.gap;
    expect(gap()).to.deep.equal(gap());
  });

  it('can be compared with a given reference group, and an unknown group is rejected', () => {
    const groups = (sex: string) =>
      bySex({ referenceGroups: { sex } })
        .analyze(control, treatment)
        .rows.map(({ group }) => group);
    expect(groups('a')).to.deep.equal(['b', 'c']);
    expect(() => groups('aa')).to.throw(DataValidationError, "'sex' has no group 'aa'.");
  });
});

describe('guard rails', () => {
  const fair = armOf({ f: [50, 100], m: [50, 100] });

  it('report a group that is too small or in only one arm, and compare the others', () => {
    const treatment = [...fair, ...armOf({ x: [6, 12] })];
    const small = bySex().analyze([...fair, ...armOf({ x: [20, 40] })], treatment);
    const verdicts = small.rows.map(({ group, verdict }) => [group, verdict]);
    expect(verdicts[1]).to.deep.equal([
      'x',
      "inconclusive: group 'x' has 12 rows in the treatment arm; at least 30 are needed",
    ]);
    expect(small.rows[0]?.finding).to.equal('no_change_shown');
    expect(small.rows[1]).to.include({ pValue: null, detectable: null, finding: 'cannot_tell' });
    const absent = bySex().analyze(fair, treatment);
    expect(absent.rows[1]?.verdict).to.equal("inconclusive: group 'x' has no rows in the control arm");
    expect(absent.warnings.join()).to.include("group 'x' has no rows in the control arm");
  });

  it('warn if the assignment differs by group, at p < 0.001', () => {
    const result = bySex().analyze(armOf({ f: [50, 100], m: [100, 200] }), armOf({ f: [100, 200], m: [50, 100] }));
    // Pearson's chi-square of [[100, 200], [200, 100]] is 600 (100^2 - 200^2)^2 / 300^4 = 66.67.
    expect(result.checks.byAttribute[0]?.pValue).to.be.below(1e-14);
    expect(result.warnings.join()).to.include("the assignment to arms differs by 'sex'");
    expect(bySex().analyze(fair, fair).warnings).to.deep.equal([]);
  });

  it('warn of a sample ratio mismatch with the intended share', () => {
    const [few, many] = [armOf({ f: [50, 100], m: [50, 100] }), armOf({ f: [150, 300], m: [150, 300] })];
    expect(bySex().analyze(few, many).warnings.join()).to.include('sample ratio mismatch');
    expect(bySex({ treatmentShare: 0.75 }).analyze(few, many).warnings).to.deep.equal([]);
  });

  it('are inconclusive if the outcome is constant, there is only one group, or no row has a group', () => {
    const constant = bySex().analyze(armOf({ f: [100, 100], m: [100, 100] }), armOf({ f: [100, 100], m: [100, 100] }));
    expect(constant.rows[0]?.verdict).to.equal('inconclusive: the outcome is 1 in every included row');
    const one = bySex().analyze(armOf({ f: [50, 100] }), armOf({ f: [40, 100] }));
    expect(one.verdict).to.equal('inconclusive: no attribute has two groups');
    const none = { sex: [null, null], approved: [1, 0] };
    expect(bySex().analyze(none, none).finding).to.equal('cannot_tell');
    expect(bySex().analyze(none, none).toMarkdown()).to.include('No attribute has two groups');
  });

  it('judge changes between rates of 0 and 1, for which a Wald variance would be 0', () => {
    const [row] = bySex().analyze(armOf({ f: [0, 100], m: [100, 100] }), armOf({ f: [100, 100], m: [100, 100] })).rows;
    expect(row?.finding).to.equal('better');
    expect(row?.standardError).to.be.closeTo(Math.sqrt((4 * ((0.5 / 101) * (100.5 / 101))) / 100), 1e-12);
  });

  it('exclude rows without a group or an outcome, and count them by arm', () => {
    const holes = [...fair, { sex: null, approved: 1 }, { sex: 'f', approved: null }, { sex: 'm', approved: null }];
    const [comparison] = bySex().analyze(fair, holes).comparisons;
    expect(comparison?.dropped).to.deep.equal({
      control: { group: 0, outcome: 0, label: 0, weight: 0 },
      treatment: { group: 1, outcome: 2, label: 0, weight: 0 },
    });
    expect(comparison?.groups.map(({ n }) => n.treatment)).to.deep.equal([100, 100]);
  });

  it('count ids in both arms, and rows that repeat an id', () => {
    const ids = (from: number) => fair.map((row, index) => ({ ...row, id: from + (index % 190) }));
    const { checks, warnings } = bySex({ id: 'id' }).analyze(ids(0), ids(100));
    expect(checks.overlap).to.deep.equal({ inBothArms: 90, repeated: { control: 10, treatment: 10 } });
    expect(warnings.join()).to.include('90 ids are in both arms').and.include('20 rows repeat an id');
  });

  it('reject invalid data', () => {
    const analyze =
      (treatment: Parameters<FairnessABTestAnalyzer['analyze']>[1], options = {}) =>
      () =>
        bySex(options).analyze(fair, treatment);
    expect(analyze([])).to.throw(DataValidationError, 'The treatment arm has no rows.');
    expect(analyze([{ sex: 'f' }])).to.throw(DataValidationError, "no column 'approved'");
    expect(analyze([{ sex: 'f', approved: 0.5 }])).to.throw(
      DataValidationError,
      "outcome 'approved' of the treatment arm must be 0 or 1, but holds 0.5 at index 0",
    );
    expect(analyze([{ sex: 'f', approved: 'yes' }])).to.throw(DataValidationError, "'yes'");
    const numbers = { fairness: 'mean_prediction_difference' } as const;
    expect(analyze([{ sex: 'f', approved: Infinity }], numbers)).to.throw(DataValidationError, 'Infinity at index 0');
    expect(analyze([{ sex: 'f', approved: 'much' }], numbers)).to.throw(DataValidationError, "'much'");
    const weights = fair.map((row) => ({ ...row, w: -1 }));
    expect(() => bySex({ sampleWeight: 'w' }).analyze(weights, weights)).to.throw(DataValidationError, 'at least 0');
  });

  it('reject options out of range by name', () => {
    const cases: [object, string][] = [
      [{ alpha: 0 }, 'alpha'],
      [{ minGroupSize: 0.5 }, 'minGroupSize'],
      [{ fairness: 'demographic_parity' }, 'demographic_parity_difference'],
      [{ fairness: [] }, 'fairness'],
      [{ fairness: 'equalized_odds_difference' }, 'needs true labels'],
      [{ outcome: '' }, 'outcome'],
      [{ protected: [] }, 'protected'],
      [{ intersections: [['sex']] }, 'intersections'],
      [{ sequential: { tau: 0 } }, 'sequential.tau'],
      [{ treatmentShare: 1 }, 'treatmentShare'],
      [{ minimumEffect: -1 }, 'minimumEffect'],
      [{ seed: 1.5 }, 'seed'],
      [{ nanPolicy: 'drop' }, 'nanPolicy'],
    ];
    for (const [options, text] of cases) {
      expect(() => bySex(options), JSON.stringify(options)).to.throw(ValueError, text);
    }
  });
});

describe('reports', () => {
  const labels = armOf({ '<b>f</b>': [50, 100], 'm|*x*': [50, 100], çé: [40, 100] });
  const other = armOf({ '<b>f</b>': [20, 100], 'm|*x*': [70, 100], çé: [40, 100] });

  it('as Markdown and HTML show labels unchanged, have charts, and never claim no bias', async () => {
    const result = bySex({ business: 'approved', sequential: true }).analyze(labels, other);
    const [markdown, html] = [result.toMarkdown(), await result.toHtml()];
    expect(markdown).to.include('\\<b\\>f\\</b\\>').and.include('m\\|\\*x\\*');
    expect(html).to.include('&lt;b&gt;f&lt;/b&gt;').and.not.include('<b>f');
    expect(html.match(/<svg/g)).to.have.length(4);
    for (const text of [markdown, html]) {
      expect(text).to.not.match(/NaN|undefined|no bias|\[object/);
    }
  });

  it('as JSON are complete, with snake_case keys and only valid JSON numbers', () => {
    const json = JSON.parse(JSON.stringify(bySex().analyze(labels, other))) as Record<string, unknown>;
    const keys = new Set<string>();
    JSON.stringify(json, (key, value: unknown) => {
      keys.add(key);
      return value;
    });
    expect([...keys].filter((key) => !/^([a-z_]*|\d+)$/.test(key))).to.deep.equal([]);
    expect([...keys]).to.include.members(['fairness_change', 'adjusted_p_value', 'detectable', 'power', 'verdict']);
    expect(json['finding']).to.equal(bySex().analyze(labels, other).finding);
  });
});

describe('splitting one table into its arms', () => {
  const table = (arms: readonly (string | number | null)[]) => Table.from({ arm: arms, x: arms.map((_, i) => i) });

  it('uses the label that means control, or the given one, and counts the other rows', () => {
    const split = splitArms(table(['new', 'Control', 'new', null]), 'arm');
    expect([split.control.rowCount, split.treatment.rowCount, split.nLeftOut]).to.deep.equal([1, 2, 1]);
    expect(splitArms(table([1, 0, 1]), 'arm').labels).to.deep.equal({ control: '0', treatment: '1' });
    const three = splitArms(table(['x', 'y', 'z']), 'arm', { control: 'y', treatment: 'z' });
    expect([three.labels.control, three.labels.treatment, three.nLeftOut]).to.deep.equal(['y', 'z', 1]);
  });

  it('rejects ambiguous arms', () => {
    const split =
      (arms: readonly string[], labels = {}) =>
      () =>
        splitArms(table(arms), 'arm', labels);
    expect(split(['x', 'y'])).to.throw(DataValidationError, 'unclear which arm is the control');
    expect(split(['a', 'control', 'y'])).to.throw(DataValidationError, 'unclear which arm is the control');
    expect(split(['a', 'y', 'z'])).to.throw(DataValidationError, 'unclear which arm is the treatment');
    expect(split(['a'])).to.throw(DataValidationError, 'unclear which arm is the treatment');
    expect(split(['a', 'b'], { control: 'c' })).to.throw(DataValidationError, "no label 'c'");
    expect(split(['a', 'b'], { control: 'b', treatment: 'b' })).to.throw(DataValidationError, "both 'b'");
  });
});
