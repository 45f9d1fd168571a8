import path from 'node:path';

import { expect } from 'chai';

import { loadData } from '../../src/io/index.ts';
import { FairnessAnalyzer, type GapAggregate, type GapMethod, type MetricOptions } from '../../src/metrics/index.ts';
import { describeWithReference, readVectors, referencePath } from '../helpers/reference.ts';

/** Each backend must give the published numbers. */
const BACKENDS = ['native', 'danfo', 'duckdb'];

type Column = (number | string)[];
/** NaN and infinities are written as text. */
type Expected = number | 'NaN' | 'Infinity';

interface SharedCase {
  readonly metric: string;
  readonly groups: string;
  readonly method?: GapMethod;
  readonly agg?: GapAggregate | null;
  readonly weighted: boolean;
  readonly pred?: string;
  readonly expected: number;
}

interface SharedArrays {
  readonly inputs: Record<string, Column>;
  readonly fairness_metrics: SharedCase[];
  readonly base_metrics: Omit<SharedCase, 'groups'>[];
  readonly generated_metrics: SharedCase[];
}

const EXACT = 1e-12;
/** Half a unit in the last of six digits printed. */
const PRINTED = 5e-7;
const bare: MetricOptions = { minGroupSize: 1, withCi: false, withEffectSize: false };

function expectNumber(value: number | undefined, expected: Expected, tolerance = EXACT): void {
  if (expected === 'NaN') expect(value).to.be.NaN;
  else if (expected === 'Infinity') expect(value).to.equal(Infinity);
  else expect(value).to.be.closeTo(expected, tolerance);
}

for (const backend of BACKENDS) {
  // Thousands of statements.
  const slow = backend === 'duckdb' ? ' @slow' : '';
  describeWithReference(`fairlearn, shared arrays of its test suite, ${backend}`, () => {
    const analyzer = new FairnessAnalyzer({ backend, minGroupSize: 1 });
    const shared = readVectors('fairlearn_metrics_shared_arrays.json') as SharedArrays;
    const column = (name: string): Column => shared.inputs[name] ?? [];
    const rowsOf = (weighted: boolean, groups: string | undefined) => ({
      yTrue: column('y_true'),
      yPred: column('y_pred'),
      yScore: column('y_score'),
      sampleWeight: weighted ? column('sample_weight') : undefined,
      sensitive:
        groups === undefined
          ? column('y_true').map(() => 'all')
          : Object.fromEntries(groups.split('x').map((name) => [name, column(name)])),
    });

    it('has all the cases', () => {
      const counts = [shared.fairness_metrics, shared.base_metrics, shared.generated_metrics].map(
        ({ length }) => length,
      );
      expect(counts).to.deep.equal([192, 32, 100]);
    });

    it(`fairness metrics: differences and ratios, between groups and to overall, worst case and mean${slow}`, async () => {
      for (const { metric, groups, method, agg, weighted, expected } of shared.fairness_metrics) {
        const options = {
          ...bare,
          ...(method === undefined ? {} : { method }),
          ...(agg === null || agg === undefined ? {} : { agg }),
        };
        const result = await analyzer.metric(metric, rowsOf(weighted, groups), options);
        expect(result.value, JSON.stringify([metric, groups, method, agg, weighted])).to.be.closeTo(expected, EXACT);
        // None of these cases has a group without a denominator, where this package differs from fairlearn on purpose.
        expect(result.excluded).to.deep.equal({});
      }
    });

    it('base metrics of all rows', async () => {
      for (const { metric, weighted, expected } of shared.base_metrics) {
        const [, measure = ''] = /^(?:sklearn\.)?(\w+)/.exec(metric) ?? [];
        const frame = await analyzer.metricFrame({ ...rowsOf(weighted, undefined), metrics: [measure] });
        expect(Object.values(frame.overall)[0], `${metric} ${String(weighted)}`).to.be.closeTo(expected, EXACT);
      }
    });

    it(`generated metrics: differences, ratios, smallest and largest of groups${slow}`, async () => {
      for (const { metric, groups, weighted, expected } of shared.generated_metrics) {
        const [, measure = '', what = ''] = /^(.+)_(difference|ratio|group_min|group_max)$/.exec(metric) ?? [];
        const frame = await analyzer.metricFrame({ ...rowsOf(weighted, groups), metrics: [measure] });
        const values: Record<string, Readonly<Record<string, number>>> = {
          difference: frame.difference(),
          ratio: frame.ratio(),
          group_min: frame.groupMin(),
          group_max: frame.groupMax(),
        };
        expect(Object.values(values[what] ?? {})[0], `${metric} ${groups}`).to.be.closeTo(expected, EXACT);
      }
    });
  });

  describeWithReference(`fairlearn, examples of its documentation, ${backend}`, () => {
    const analyzer = new FairnessAnalyzer({ backend, minGroupSize: 1 });
    const { examples } = readVectors('fairlearn_docs_metricframe.json') as { examples: Record<string, unknown>[] };
    const SHORT: Record<string, string> = {
      tpr: 'true_positive_rate',
      fpr: 'false_positive_rate',
      sel: 'selection_rate',
      count: 'count',
      accuracy: 'accuracy',
      selection_rate: 'selection_rate',
      precision: 'precision',
      recall: 'recall_score',
    };
    // The caller knows the form of its example.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
    const find = <Example>(text: string): Example => {
      const found = examples.find(({ where }) => String(where).includes(text));
      if (found === undefined) throw new Error(`no example ${text}`);
      return found as Example;
    };
    const expectValues = (values: Record<string, number> | undefined, expected: Record<string, number>): void => {
      for (const [name, number] of Object.entries(expected)) {
        const own = name === 'recall' ? 'true_positive_rate' : (SHORT[name] ?? '');
        expect(values?.[own], name).to.be.closeTo(number, PRINTED);
      }
    };

    it('assessment guide: rates and counts by group, extremes, differences and ratios between groups and to overall', async () => {
      interface Example {
        y_true: number[];
        y_pred: number[];
        sensitive: string[];
        overall: Record<string, number>;
        by_group: Record<string, Record<string, number>>;
        group_min: Record<string, number>;
        group_max: Record<string, number>;
        difference_between: Record<string, number>;
        ratio_between: Record<string, number>;
        difference_to_overall: Record<string, number>;
        ratio_to_overall: Record<string, number>;
      }
      const example = find<Example>('perform_fairness_assessment');
      const metrics = Object.keys(example.overall).map((name) => SHORT[name] ?? '');
      const { y_true: yTrue, y_pred: yPred, sensitive } = example;
      const frame = await analyzer.metricFrame({ yTrue, yPred, sensitive, metrics }, bare);
      expectValues(frame.overall, example.overall);
      for (const [label, rates] of Object.entries(example.by_group)) expectValues(frame.byGroup[label], rates);
      expectValues(frame.groupMin(), example.group_min);
      expectValues(frame.groupMax(), example.group_max);
      expectValues(frame.difference(), example.difference_between);
      expectValues(frame.ratio(), example.ratio_between);
      expectValues(frame.difference('to_overall'), example.difference_to_overall);
      expectValues(frame.ratio('to_overall'), example.ratio_to_overall);
    });

    it('intersecting groups: precision, recall and count', async () => {
      interface Example {
        y_true: number[];
        y_pred: number[];
        sensitive0: string[];
        sensitive1: number[];
        by_group: { key: string[]; precision: number; recall: number; count: number }[];
      }
      const example = find<Example>('intersecting_groups.rst');
      const { y_true: yTrue, y_pred: yPred, sensitive0, sensitive1 } = example;
      const sensitive = { sensitive0, sensitive1 };
      const metrics = ['precision', 'recall', 'count'];
      const frame = await analyzer.metricFrame({ yTrue, yPred, sensitive, metrics }, { compat: 'fairlearn' });
      expect(Object.keys(frame.byGroup)).to.have.length(example.by_group.length);
      for (const { key, ...expected } of example.by_group) expectValues(frame.byGroup[key.join('||')], expected);
    });

    it('docstring of MetricFrame: accuracy and selection rate, their differences and ratios', async () => {
      interface Example {
        y_true: number[];
        y_pred: number[];
        sensitive: string[];
        by_group: Record<string, Record<string, number>>;
        difference: Record<string, number>;
        ratio: Record<string, number>;
      }
      const { y_true: yTrue, y_pred: yPred, sensitive, ...expected } = find<Example>('docstring');
      const metrics = ['accuracy', 'selection_rate'];
      const frame = await analyzer.metricFrame({ yTrue, yPred, sensitive, metrics }, bare);
      for (const [label, rates] of Object.entries(expected.by_group)) expectValues(frame.byGroup[label], rates);
      expectValues(frame.difference(), expected.difference);
      expectValues(frame.ratio(), expected.ratio);
    });

    it('control features: accuracy within each level', async () => {
      interface Example {
        y_true: number[];
        y_pred: number[];
        sensitive: string[];
        control: string[];
        overall: Record<string, number>;
        by_group: Record<string, number>;
        group_max: Record<string, number>;
        group_min: Record<string, number>;
        difference: Record<string, number>;
        ratio: Record<string, number>;
      }
      const { y_true: yTrue, y_pred: yPred, sensitive, control, ...expected } = find<Example>('control features');
      const frame = await analyzer.metricFrame({ yTrue, yPred, sensitive, control, metrics: ['accuracy'] }, bare);
      expect(Object.keys(frame.byLevel)).to.deep.equal(['H', 'L']);
      for (const [level, own] of Object.entries(frame.byLevel)) {
        expect(own.overall['accuracy']).to.be.closeTo(expected.overall[level] ?? NaN, PRINTED);
        expect(own.groupMax()['accuracy']).to.be.closeTo(expected.group_max[level] ?? NaN, PRINTED);
        expect(own.groupMin()['accuracy']).to.be.closeTo(expected.group_min[level] ?? NaN, PRINTED);
        expect(own.difference()['accuracy']).to.be.closeTo(expected.difference[level] ?? NaN, PRINTED);
        expect(own.ratio()['accuracy']).to.be.closeTo(expected.ratio[level] ?? NaN, PRINTED);
        for (const label of ['A', 'B', 'C']) {
          const value = own.byGroup[label]?.['accuracy'];
          expect(value).to.be.closeTo(expected.by_group[`${level}|${label}`] ?? NaN, PRINTED);
        }
      }
    });
  });

  describeWithReference(`fairlearn, what it does in degenerate groups, ${backend} with compat`, () => {
    interface DegenerateCase {
      readonly case: string;
      readonly y_true: number[];
      readonly y_pred: number[];
      readonly g: string[];
      readonly by_group: Record<string, Record<'tpr' | 'fpr' | 'sel', number>>;
      readonly demographic_parity_difference: Expected;
      readonly demographic_parity_ratio: Expected;
      readonly equalized_odds_difference: Expected;
      readonly equalized_odds_ratio: Expected;
    }
    const { cases } = readVectors('fairlearn_degenerate_behaviour.json') as { cases: DegenerateCase[] };
    const analyzer = new FairnessAnalyzer({ backend });
    for (const { case: title, y_true: yTrue, y_pred: yPred, g: sensitive, by_group: byGroup, ...expected } of cases) {
      it(title, async () => {
        const rows = { yTrue, yPred, sensitive };
        for (const metric of [
          'demographic_parity_difference',
          'demographic_parity_ratio',
          'equalized_odds_difference',
          'equalized_odds_ratio',
        ] as const) {
          const result = await analyzer.metric(metric, rows, { compat: 'fairlearn', withCi: false });
          expectNumber(result.value, expected[metric]);
          // Even in this mode an undefined value has its reason.
          expect(Number.isNaN(result.value)).to.equal(result.undefinedReason !== null);
        }
        const metrics = ['true_positive_rate', 'false_positive_rate', 'selection_rate'];
        const frame = await analyzer.metricFrame({ ...rows, metrics }, { compat: 'fairlearn' });
        for (const [label, { tpr, fpr, sel }] of Object.entries(byGroup)) {
          expect(frame.byGroup[label]).to.deep.equal({
            true_positive_rate: tpr,
            false_positive_rate: fpr,
            selection_rate: sel,
          });
        }
      });
    }
  });

  describeWithReference(`AIF360, its sheet of classification metrics, ${backend} with compat`, () => {
    type Sheet = Record<string, Expected | Record<'None' | 'True' | 'False', number>>;
    const vectors = readVectors('aif360_metrics_and_algorithms.json') as {
      dataset: Record<'sex' | 'label' | 'score' | 'weight', number[]>;
      sheet_unweighted: Sheet;
      sheet_weighted: Sheet;
    };
    const { sex, label, score, weight } = vectors.dataset;
    const analyzer = new FairnessAnalyzer({ backend });
    const compat = { compat: 'aif360', referenceGroup: '1', withCi: false } as const;
    const rows = {
      yTrue: label,
      yPred: score.map((value) => Number(value >= 0.5)),
      yScore: score,
      sensitive: sex.map(String),
    };
    for (const [title, sheet, sampleWeight] of [
      ['unweighted', vectors.sheet_unweighted, undefined],
      ['weighted', vectors.sheet_weighted, weight],
    ] as const) {
      it(`differences and ratios, ${title}`, async () => {
        const names = Object.keys(sheet).filter(
          (name) => /_(difference|ratio)$|^disparate_impact$/.test(name) && !name.startsWith('data.'),
        );
        expect(names).to.have.length(18);
        for (const name of names) {
          const { value } = await analyzer.metric(name, { ...rows, sampleWeight }, compat);
          const expected = sheet[name] as Expected;
          if (expected === 'Infinity') expect(value, name).to.equal(Infinity);
          else expect(value, name).to.be.closeTo(expected as number, EXACT);
        }
      });

      it(`an infinite ratio has a reason, so that it passes no gate, ${title}`, async () => {
        const result = await analyzer.metric('false_negative_rate_ratio', { ...rows, sampleWeight }, compat);
        expect(result.undefinedReason).to.match(/privileged group is 0/);
        expect(result.toJSON().value).to.equal(null);
      });

      it(`rates of all rows and of both groups, ${title}`, async () => {
        for (const [name, expected] of Object.entries(sheet)) {
          if (typeof expected !== 'object') continue;
          const frame = await analyzer.metricFrame({ ...rows, sampleWeight, metrics: [name] }, bare);
          expect(frame.overall[name], name).to.be.closeTo(expected.None, EXACT);
          expect(frame.byGroup['1']?.[name], name).to.be.closeTo(expected.True, EXACT);
          expect(frame.byGroup['0']?.[name], name).to.be.closeTo(expected.False, EXACT);
        }
      });

      it(`accuracy, error rate, and the rates of the data set itself, ${title}`, async () => {
        const frame = await analyzer.metricFrame({ ...rows, sampleWeight, metrics: ['accuracy', 'error_rate'] }, bare);
        expect(frame.overall['accuracy']).to.be.closeTo(sheet['accuracy'] as number, EXACT);
        expect(frame.overall['error_rate']).to.be.closeTo(sheet['error_rate'] as number, EXACT);
        const data = { yPred: label, sensitive: rows.sensitive, sampleWeight };
        const difference = await analyzer.metric('demographic_parity_difference', data, compat);
        const ratio = await analyzer.metric('disparate_impact', data, compat);
        expect(difference.value).to.be.closeTo(sheet['data.mean_difference'] as number, EXACT);
        expect(ratio.value).to.be.closeTo(sheet['data.disparate_impact'] as number, EXACT);
      });
    }
  });

  describeWithReference(`real data, ${backend}`, () => {
    interface RealData {
      readonly propublica: { readonly published_confusion: Record<string, Record<string, number>> };
      readonly fairlearn_on_compas: {
        readonly values: Record<string, number>;
        readonly by_group_race_sex_age: {
          key: string[];
          count: Expected;
          sel: Expected;
          tpr: Expected;
          fpr: Expected;
        }[];
      };
      readonly adult_train: Record<string, number>;
      readonly adult_test: Record<string, number>;
      readonly german: Record<string, number>;
    }
    const real = readVectors('real_data_reference_part1.json') as RealData;
    const analyzer = new FairnessAnalyzer({ backend });
    const fairlearn = { compat: 'fairlearn', withCi: false, withEffectSize: false } as const;

    async function compas() {
      const columns = ['race', 'sex', 'age_cat', 'score_text', 'two_year_recid'];
      const table = await loadData(referencePath('data/compas.csv'), { columns });
      const values = table.toColumns();
      return {
        text: (name: string): string[] => values[name]?.map(String) ?? [],
        yPred: values['score_text']?.map((value) => Number(value !== 'Low')) ?? [],
        yTrue: values['two_year_recid']?.map(Number) ?? [],
      };
    }

    it('COMPAS: every value of fairlearn by race, sex and age, including zeros for empty denominators', async () => {
      const { text, yPred, yTrue } = await compas();
      const columns: Record<string, string[]> = { race: text('race'), sex: text('sex'), age_cat: text('age_cat') };
      for (const [name, expected] of Object.entries(real.fairlearn_on_compas.values)) {
        const [metric = '', groups = ''] = name.split('|');
        const twoRaces = groups.includes('only');
        const isPart = text('race').map((race) => !twoRaces || race === 'African-American' || race === 'Caucasian');
        const part = <T>(values: readonly T[]): T[] => values.filter((_, row) => isPart[row]);
        const attributes = groups.replace(/\(.*/, '').split('+');
        const sensitive = Object.fromEntries(attributes.map((one) => [one, part(columns[one] ?? [])]));
        const result = await analyzer.metric(metric, { yTrue: part(yTrue), yPred: part(yPred), sensitive }, fairlearn);
        expect(result.value, name).to.be.closeTo(expected, EXACT);
      }
      const metrics = ['count', 'selection_rate', 'true_positive_rate', 'false_positive_rate'];
      const frame = await analyzer.metricFrame({ yTrue, yPred, sensitive: columns, metrics }, fairlearn);
      for (const { key, count, sel, tpr, fpr } of real.fairlearn_on_compas.by_group_race_sex_age) {
        const own = frame.byGroup[key.join('||')];
        if (count === 'NaN') expect(own).to.equal(undefined);
        else {
          expect(own?.['count']).to.equal(count);
          expectNumber(own?.['selection_rate'], sel);
          expectNumber(own?.['true_positive_rate'], tpr);
          expectNumber(own?.['false_positive_rate'], fpr);
        }
      }
    });

    it('COMPAS: the confusion matrix published by ProPublica, to the printed digits', async () => {
      const { text, yPred, yTrue } = await compas();
      const metrics = ['count', 'false_positive_rate', 'false_negative_rate'];
      const frame = await analyzer.metricFrame({ yTrue, yPred, sensitive: text('race'), metrics });
      for (const [name, label] of [
        ['Black', 'African-American'],
        ['White', 'Caucasian'],
      ] as const) {
        const published = real.propublica.published_confusion[name] ?? {};
        const own = frame.byGroup[label];
        expect(own?.['count']).to.equal(published['n']);
        expect(100 * (own?.['false_positive_rate'] ?? NaN)).to.be.closeTo(published['FPR%'] ?? NaN, 0.005);
        expect(100 * (own?.['false_negative_rate'] ?? NaN)).to.be.closeTo(published['FNR%'] ?? NaN, 0.005);
      }
      const all = real.propublica.published_confusion['All'] ?? {};
      expect(frame.overall['count']).to.equal(all['n']);
      expect(100 * (frame.overall['false_positive_rate'] ?? NaN)).to.be.closeTo(all['FPR%'] ?? NaN, 0.005);
    });

    for (const [name, part] of [
      ['adult_train', 'adult.train.csv'],
      ['adult_test', 'adult.test.csv'],
    ] as const) {
      it(`${name}: base rates by sex, their difference and their ratio`, async () => {
        const table = await loadData(referencePath(path.join('data', part)));
        const columns = table.toColumns();
        const yPred = columns['income-per-year'] ?? [];
        const positiveLabel = String(yPred.find((value) => String(value).includes('>50K')));
        const rows = { yPred, sensitive: columns['sex'] ?? [], positiveLabel };
        const difference = await analyzer.metric('demographic_parity_difference', rows, fairlearn);
        const ratio = await analyzer.metric('disparate_impact', rows, fairlearn);
        const expected = real[name];
        expect(difference.perGroup['Male']?.['selection_rate']).to.be.closeTo(expected['base_rate_male'] ?? NaN, EXACT);
        expect(difference.perGroup['Female']?.['selection_rate']).to.be.closeTo(
          expected['base_rate_female'] ?? NaN,
          EXACT,
        );
        expect(difference.value).to.be.closeTo(-(expected['mean_difference'] ?? NaN), EXACT);
        expect(ratio.value).to.be.closeTo(expected['DI_female_over_male'] ?? NaN, EXACT);
      });
    }

    it('German: the difference of good credit by age over 25', async () => {
      const table = await loadData(referencePath('data/german.csv'), { columns: ['age', 'credit'] });
      const columns = table.toColumns();
      const sensitive = (columns['age'] ?? []).map((age) => (Number(age) > 25 ? 'older' : 'younger'));
      const compat = { compat: 'aif360', referenceGroup: 'older', withCi: false } as const;
      const rows = { yPred: columns['credit'] ?? [], sensitive, positiveLabel: '1' };
      const { value } = await analyzer.metric('statistical_parity_difference', rows, compat);
      expect(value).to.be.closeTo(real.german['mean_difference_age_gt25'] ?? NaN, EXACT);
    });
  });
}
