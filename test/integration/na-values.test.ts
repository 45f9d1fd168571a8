import { expect } from 'chai';

import { validateRows } from '../../src/integration/validate-rows.ts';
import { validationToHtml } from '../../src/integration/validation-html.ts';
import { validationToMarkdown } from '../../src/integration/validation-report.ts';
import { readWorkflowRows } from '../../src/integration/workflow/workflow-rows.ts';
import { FairnessAnalyzer } from '../../src/metrics/analyzer/fairness-analyzer.ts';
import { demographicParityDifference, equalOpportunityDifference, metricFrame } from '../../src/metrics/index.ts';
import { FairnessABTestAnalyzer } from '../../src/monitoring/ab-test/index.ts';
import { parsePipelineConfig } from '../../src/pipeline/index.ts';
import { parseConfigText } from '../../src/pipeline/index.ts';
import { MISSING_TEXTS, Table } from '../../src/table/index.ts';
import { readTrainingData } from '../../src/training/data/training-data.ts';
import { readScoreTable } from '../../src/training/postprocessing/calibrator/read-score-table.ts';

const times = <T>(value: T, count: number): T[] => new Array<T>(count).fill(value);

// Of the 12 rows, 2 have no target and 1 has no feature; each group has 6 rows.
const TABLE = {
  age: ['20', '30', 'NA', '40', '50', '60', '20', '30', '40', '50', '60', '70'],
  kind: ['x', 'y', 'x', 'None', 'y', 'x', 'x', 'y', 'x', 'y', 'x', 'y'],
  repaid: ['yes', 'no', 'yes', 'no', 'null', 'yes', 'no', 'yes', 'no', 'n/a', 'yes', 'no'],
  religion: [...times('None', 6), ...times('Jain', 6)],
};

describe('texts that are missing values', () => {
  it("are those of pandas' read_csv", () => {
    // pandas 2.2, io/parsers/readers.py, STR_NA_VALUES (pandas._libs.parsers), in sorted order.
    expect([...MISSING_TEXTS].sort()).to.deep.equal(
      [
        '',
        '#N/A',
        '#N/A N/A',
        '#NA',
        '-1.#IND',
        '-1.#QNAN',
        '-NaN',
        '-nan',
        '1.#IND',
        '1.#QNAN',
        '<NA>',
        'N/A',
        'NA',
        'NULL',
        'NaN',
        'None',
        'n/a',
        'nan',
        'null',
      ].sort(),
    );
  });

  it('are missing values in metric functions, which warn about them', async () => {
    const decisions = ['1', '0', 'NA', '1', '0', '0'];
    const groups = ['a', 'a', 'a', 'b', 'b', 'None'];
    const result = demographicParityDifference(decisions, groups, { minGroupSize: 1 });
    expect(result.nDropped).to.equal(1);
    expect(result.nPerGroup).to.deep.equal({ a: 2, b: 2, None: 1 });
    expect(result.warnings.slice(0, 2)).to.deep.equal([
      "the predictions are missing where they hold one of these texts: 'NA' (1 row); --na-values (naValues) lists these texts",
      "groups of 'sensitive' have names that often mean a missing value: 'None' (1 row); they are measured as groups; use --na-values (naValues) to exclude their rows",
    ]);
    const analyzed = await new FairnessAnalyzer({ minGroupSize: 1 }).demographicParityDifference(decisions, groups, {
      naValues: ['NA', 'None'],
    });
    expect(analyzed.nPerGroup).to.deep.equal({ a: 2, b: 2 });
    expect(analyzed.nDropped).to.equal(2);
  });

  it('are missing values in weights, scores and numbers, also if they are numbers', () => {
    const rows = { yPred: [1, 'NA', 3, -999], yTrue: [1, 1, 2, 1], sensitive: ['a', 'a', 'b', 'b'] };
    const frame = metricFrame(
      { ...rows, metrics: ['mean_absolute_error'], naValues: ['NA', '-999'] },
      { minGroupSize: 1 },
    );
    expect(frame.byGroup).to.deep.equal({ a: { mean_absolute_error: 0 }, b: { mean_absolute_error: 1 } });
    expect(frame.nDropped).to.equal(2);
    expect(frame.warnings.join()).to.include("'-999' (1 row), 'NA' (1 row)");
    expect(() => metricFrame({ ...rows, yPred: [1, 'many', 3, 4], metrics: ['mean_absolute_error'] })).to.throw(
      /holds/,
    );
  });

  it('are missing values in training: rows without a target are excluded, and numbers stay numbers', () => {
    const data = readTrainingData({ table: TABLE, target: 'repaid', sensitive: 'religion', positiveLabel: 'yes' });
    expect(data.rows.nDropped).to.equal(2);
    expect(data.rows.table.column('age').kind).to.equal('numeric');
    expect(data.rows.groups.labels).to.deep.equal(['Jain', 'None']);
    const warnings = data.warnings.join('\n');
    expect(warnings).to.include(
      "the true labels of 'repaid' are missing where they hold one of these texts: 'n/a' (1 row), 'null' (1 row)",
    );
    expect(warnings).to.include("the features of 'age' are missing where they hold one of these texts: 'NA' (1 row)");
    expect(warnings).to.include("groups of 'religion' have names that often mean a missing value: 'None' (6 rows)");
    const other = readTrainingData({
      table: TABLE,
      target: 'repaid',
      sensitive: 'kind',
      features: ['age'],
      naValues: ['NA', 'null', 'n/a', 'None'],
    });
    expect(other.rows.groups.labels).to.deep.equal(['x', 'y']);
    expect(other.rows.nDropped).to.equal(3);
  });

  it('are missing values in calibration, and its scores stay numbers', () => {
    const scores = ['0.1', 'NA', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9', '0.2', '0.1', '0.5'];
    const read = readScoreTable({
      table: { ...TABLE, scores },
      score: 'scores',
      target: 'repaid',
      group: 'religion',
      positiveLabel: 'yes',
    });
    expect(read.nDropped).to.equal(3);
    expect(read.warnings.join('\n')).to.include(
      "of 'scores' are missing where they hold one of these texts: 'NA' (1 row)",
    );
  });

  it('are missing values in a workflow, by a key of its configuration', async () => {
    const text =
      'sensitive: [kind]\nfeatures: [age]\nna_values: [NA, None, "null", n/a]\ntraining: { method: regularized, target_column: repaid, positive_label: yes }\n';
    const { config } = { config: await parseConfigText(text) };
    expect(config.naValues).to.deep.equal(['NA', 'None', 'null', 'n/a']);
    const rows = readWorkflowRows(config, Table.from(TABLE));
    expect(rows.nDropped).to.equal(3);
    expect(rows.attributes['kind']?.labels).to.deep.equal(['x', 'y']);
    const usual = readWorkflowRows(
      parsePipelineConfig({
        sensitive: 'religion',
        training: { method: 'regularized', targetColumn: 'repaid', positiveLabel: 'yes' },
      }),
      Table.from(TABLE),
    );
    expect(usual.features).to.deep.equal(['age']);
    expect(usual.nDropped).to.equal(2);
  });

  it('are missing values in an A/B test, named with their arm', () => {
    const arm = { bought: ['1', '0', 'NA', '1', '0', '1'], sex: ['f', 'm', 'f', 'm', 'f', 'm'] };
    const analyzer = new FairnessABTestAnalyzer({ outcome: 'bought', protected: ['sex'], minGroupSize: 1 });
    const { warnings } = analyzer.analyze(arm, { ...arm, bought: ['1', '0', '1', '1', '0', '1'] });
    expect(warnings.filter((text) => text.includes("'NA' (1 row)"))).to.have.length(1);
  });
});

describe('labels in reports', () => {
  it('are listed with the value that they count as, in Markdown and HTML', async () => {
    const validation = await validateRows({
      yPred: ['yes', 'no', 'denied', 'yes', 'no', 'NA'],
      sensitive: { sex: ['f', 'f', 'f', 'm', 'm', 'm'] },
      positiveLabel: 'yes',
      minGroupSize: 1,
    });
    const markdown = validationToMarkdown(validation, 'rows');
    for (const cells of [
      ['yes', 'positive', '2'],
      ['denied', 'negative', '1'],
      ['no', 'negative', '2'],
      ['NA', 'missing', '1'],
    ]) {
      expect(markdown).to.match(new RegExp(['predictions', ...cells].join(' *\\| *')));
    }
    const html = await validationToHtml(validation, 'rows', { draw: () => Promise.resolve('<svg></svg>') });
    expect(html).to.match(/Labels[\s\S]*denied[\s\S]*negative/);
    expect(html).to.include('2 labels of the predictions count as negative');
  });
});

describe('positive labels of functions', () => {
  it('may differ between truth and predictions', () => {
    const [truth, decisions] = [
      ['good', 'good', 'bad', 'good', 'good'],
      ['accept', 'reject', 'accept', 'accept', 'accept'],
    ];
    const groups = ['a', 'a', 'a', 'b', 'b'];
    const labels = { positiveLabel: 'accept', yTruePositiveLabel: 'good' };
    const result = equalOpportunityDifference(truth, decisions, groups, { ...labels, minGroupSize: 1 });
    // One of the two good applicants of group a is accepted, and both of group b.
    expect(result.value).to.equal(0.5);
    const wrong = () =>
      equalOpportunityDifference(truth, decisions, groups, { positiveLabel: 'accept', minGroupSize: 1 });
    expect(wrong).to.throw(/No row of yTrue holds the positive label 'accept'/);
    expect(() =>
      equalOpportunityDifference(truth, decisions, groups, { ...labels, yTruePositiveLabel: 'Good' }),
    ).to.throw(/positive label 'Good'/);
  });

  it('are required with the column, its role and its values named', () => {
    const call = () => equalOpportunityDifference([1, -1, 1], [1, 0, 1], ['a', 'b', 'a'], { minGroupSize: 1 });
    expect(call)
      .to.throw(/yTrue must be 0 or 1, but holds -1 at index 1/)
      .with.property('suggestion')
      .that.matches(/positiveLabel, for example 1.*yTrue \(the true labels\) holds -1, 1\./);
  });
});
