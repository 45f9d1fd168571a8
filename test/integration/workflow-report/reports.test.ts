import { expect } from 'chai';

import { DependencyError } from '../../../src/exceptions/index.ts';
import { workflowToHtml, workflowToMarkdown } from '../../../src/integration/workflow-report/render-report.ts';
import type { WorkflowFindings } from '../../../src/integration/workflow-result.ts';
import { type Cell, findingsOf, HOSTILE_LABELS, hostileFindings } from './findings.ts';
import { columnCounts, headingsOf, tableUnder, unbalancedTags } from './report-checks.ts';

const two = (before: Cell['before'], after: Cell['after']): readonly Cell[] => [
  { groups: { sex: 'female' }, n: 100, positives: 50, before: [20, 10], after: [20, 10] },
  { groups: { sex: 'male' }, n: 100, positives: 50, before, after },
];
const bySex = { attributes: [['sex']], metrics: ['demographic_parity_difference'] } as const;

/** The findings of a regression: errors instead of accuracy, no scores, no trade-off. */
function regressionFindings(): WorkflowFindings {
  const plain = findingsOf();
  return {
    ...plain,
    task: 'regression',
    classWeight: null,
    baselineMetrics: { ...plain.baselineMetrics, accuracy: null, meanAbsoluteError: 2.5 },
    finalMetrics: { ...plain.finalMetrics, accuracy: null, meanAbsoluteError: 2.75 },
    predictions: { ...plain.predictions, baselineScores: null, finalScores: null },
    tradeOff: [],
  };
}

function mixtureFindings(): WorkflowFindings {
  const plain = findingsOf();
  return {
    ...plain,
    config: { ...plain.config, training: { method: 'reductions', targetColumn: 'y', params: {} } },
    tradeOff: [
      ...plain.tradeOff,
      ...Array.from({ length: 60 }, (_, index) => ({
        label: `predictor ${String(index + 1)}`,
        accuracy: 0.7 + index / 1000,
        unfairness: index === 7 ? NaN : index / 200,
        kind: 'candidate' as const,
      })),
    ],
  };
}

/** 5,000 groups; the index of a group determines its rate. */
function manyGroups(): WorkflowFindings {
  return findingsOf({
    cells: Array.from({ length: 5000 }, (_, index) => ({
      groups: { county: `c${String(index).padStart(4, '0')}` },
      n: 2,
      positives: 1,
      before: [1, 0],
      after: [index % 2, 0],
    })),
    attributes: [['county']],
    metrics: ['demographic_parity_difference'],
    minGroupSize: 2,
  });
}

const cases: Readonly<Record<string, WorkflowFindings>> = {
  'a workflow that passes': findingsOf(),
  'one that fails': findingsOf({ threshold: 0.01 }),
  'one without a threshold': findingsOf({ threshold: undefined }),
  'an undefined metric': findingsOf({ minGroupSize: 500 }),
  'a regression': regressionFindings(),
  'a mixture': mixtureFindings(),
  'hostile names and labels': hostileFindings(),
  'no training section, no step, no feature': findingsOf({
    changes: {
      config: { ...findingsOf().config, training: undefined, pipeline: [] },
      transformersApplied: [],
      features: { baseline: [], final: [] },
      constraint: null,
      warnings: [],
      tradeOff: [],
    },
  }),
};

for (const [title, findings] of Object.entries(cases)) {
  describe(`the reports of ${title}`, () => {
    const markdown = workflowToMarkdown(findings);
    let html = '';
    before(async () => {
      html = await workflowToHtml(findings);
    });

    it('have the verdict first, then each step under its name', () => {
      const steps = ['What changed', 'Baseline (Step 1)', 'Pipeline and training (Step 2)', 'Final (Step 3)'];
      expect(headingsOf(markdown).slice(0, 5)).to.deep.equal(['Fairness workflow', ...steps]);
      expect(markdown.indexOf('\n**')).to.be.lessThan(markdown.indexOf('\n## '));
      expect(html.indexOf('class="verdict')).to.be.lessThan(html.indexOf('What changed'));
    });

    it('show no NaN or Infinity', () => {
      for (const text of [markdown, html]) {
        expect(text.match(/.{0,80}(?:NaN|Infinity|\[object|\bnull\b|\bundefined%).{0,40}/g) ?? []).to.deep.equal([]);
      }
    });

    it('are the same twice, without a time', async () => {
      expect(workflowToMarkdown(findings)).to.equal(markdown);
      expect(await workflowToHtml(findings)).to.equal(html);
    });

    it('have tables with rows as wide as their headers, and text without markup', () => {
      for (const counts of columnCounts(markdown)) expect(new Set(counts).size).to.equal(1);
      expect(markdown).to.not.match(/(?<!\\)</);
      expect(unbalancedTags(html)).to.deep.equal([]);
      expect(html).to.not.match(/<script|<link|<iframe|<img|@import|url\((?!#)|https?:/i);
      expect(html.replaceAll(/="[^"]*"/g, '=""')).to.not.match(/<[^>]* (?:src|srcset|on[a-z]+|(?:xlink:)?href)=/i);
    });

    it('never say that a method removes bias', () => {
      expect(markdown).to.not.match(/remov\w* (?:the )?(?:bias|unfairness|discrimination)|\bis fair\b|\bdebias/i);
    });

    it('have unique ids, a name for every chart and a scope for every header in HTML', () => {
      const ids = Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id);
      expect(new Set(ids).size).to.equal(ids.length);
      for (const [, target] of html.matchAll(/aria-labelledby="([^"]*)"/g)) expect(ids).to.include(target);
      for (const [svg] of html.matchAll(/<svg[^>]*>/g)) expect(svg).to.match(/^<svg role="img" aria-label="[^"]+"/);
      for (const [header] of html.matchAll(/<th[ >][^>]*>/g)) expect(header).to.match(/ scope="(?:row|col)"/);
    });
  });
}

describe('workflowToMarkdown', () => {
  it('distinguishes a reduction, an increase and no change; by hand from 30 of 100 and 50, 35 or 30 of 100', () => {
    // |30% - 50%| = 0.2 before; 0.05 after is a change of -75%, 0.3 is +50%.
    const said = (before: Cell['before'], after: Cell['after']): string =>
      workflowToMarkdown(findingsOf({ ...bySex, cells: two(before, after) }));
    expect(said([40, 10], [25, 10])).to.include(
      'Unfairness reduced: Demographic parity difference went from 0.2000 to 0.0500. The gap changed by \u221275.0%.',
    );
    expect(said([40, 10], [45, 15]))
      .to.include('Unfairness increased')
      .and.include('The gap changed by +50.0%.');
    expect(said([40, 10], [40, 10]))
      .to.include('Unfairness unchanged')
      .and.include('The gap changed by 0.0%.');
    expect(said([20, 10], [40, 10])).to.include(
      'The change in percent is not available, because the baseline value is at parity.',
    );
  });

  it('shows the change of the distance of a ratio from 1: 20 of 100 to 40 of 100, then to 25, is 0.5 to 0.2', () => {
    const cells: readonly Cell[] = [
      { groups: { sex: 'female' }, n: 100, positives: 50, before: [15, 5], after: [15, 5] },
      { groups: { sex: 'male' }, n: 100, positives: 50, before: [30, 10], after: [20, 5] },
    ];
    const findings = findingsOf({
      attributes: [['sex']],
      metrics: ['demographic_parity_ratio'],
      cells,
      threshold: 0.7,
    });
    const validation = { ...findings.validation, improvementPercent: (100 * (0.2 - 0.5)) / 0.5 };
    const markdown = workflowToMarkdown({
      ...findings,
      validation,
      tradeOff: [
        { label: 'final', kind: 'final', accuracy: 0.6, unfairness: 0.2 },
        { label: 'baseline', kind: 'baseline', accuracy: 0.7, unfairness: 0.5 },
      ],
    });
    expect(markdown).to.include('PASS at threshold 0.7').and.include('+0.3000, closer to 1');
    expect(markdown).to.include(
      'Unfairness reduced: Demographic parity ratio went from 0.5000 to 0.8000. Its distance from 1 changed by \u221260.0%.',
    );
    expect(tableUnder(markdown, 'Accuracy against unfairness')).to.deep.equal([
      ['baseline', 'baseline', '70.00%', '0.5000'],
      ['final', 'final', '60.00%', '0.2000'],
    ]);
  });

  it('shows the change of accuracy in points: (40 + 40 + 40 + 40) / 200 to 12.5 points less', () => {
    const findings = findingsOf({
      ...bySex,
      cells: [
        { groups: { sex: 'female' }, n: 100, positives: 50, before: [40, 10], after: [40, 10] },
        { groups: { sex: 'male' }, n: 100, positives: 50, before: [40, 10], after: [20, 15] },
      ],
    });
    expect(workflowToMarkdown(findings)).to.include(
      'Accuracy went from 80.00% to 67.50%: \u221212.50 points on the same 200 held-out rows.',
    );
  });

  it('has every metric of every attribute in one table, with the judged one marked', () => {
    const rows = tableUnder(workflowToMarkdown(findingsOf()), 'Baseline, final and change');
    expect(rows.map(([attribute, metric]) => `${attribute}: ${metric}`)).to.deep.equal([
      'All rows: Accuracy',
      'sex: Demographic parity difference',
      'sex: Equalized odds difference',
      'race: Demographic parity difference',
      'race: Equalized odds difference',
      'sex||race: Demographic parity difference (judged)',
      'sex||race: Equalized odds difference',
    ]);
    // Women 20 of 100, men 64 of 132; after 30 of 100 and 46 of 132.
    const [, demographic] = rows;
    expect([demographic?.[2], demographic?.[4], demographic?.[6]]).to.deep.equal([
      '0.2848',
      '0.0485',
      '\u22120.2364, smaller gap',
    ]);
    // 0.125 - 0.0909 has a larger absolute value than 0.1212 - 0.1224, so the regression is named.
    expect(rows.some((row) => row[6]?.endsWith('larger gap'))).to.equal(true);
  });

  it('shows the Wilson interval of accuracy: 8 of 10 is 49.02% to 94.33% (Wilson 1927, z = 1.96)', () => {
    const findings = findingsOf({
      ...bySex,
      cells: [
        { groups: { sex: 'a' }, n: 5, positives: 5, before: [4, 0], after: [4, 0] },
        { groups: { sex: 'b' }, n: 5, positives: 5, before: [4, 0], after: [4, 0] },
      ],
      minGroupSize: 2,
    });
    expect(tableUnder(workflowToMarkdown(findings), 'Baseline, final and change')[0]?.slice(2, 4)).to.deep.equal([
      '80.00%',
      '49.02% to 94.33%',
    ]);
  });

  it("shows each group's rates before and after with its number of rows", () => {
    const rows = tableUnder(workflowToMarkdown(findingsOf()), 'Selection rate by sex');
    expect(rows.map((row) => [row[0], row[1], row[2], row[4], row[6]])).to.deep.equal([
      ['female', '100', '20.00%', '30.00%', '+10.00 points'],
      ['male', '132', '48.48%', '34.85%', '\u221213.64 points'],
    ]);
  });

  it('lists excluded groups, with rows, metrics and reason', () => {
    const [row] = tableUnder(workflowToMarkdown(findingsOf()), 'Excluded groups, or single rates of groups, by race');
    expect(row?.slice(0, 4)).to.deep.equal([
      'other',
      '12',
      'Demographic parity difference, Equalized odds difference',
      'before and after',
    ]);
    expect(row?.[4]).to.include('30');
  });

  it('says why a metric is undefined, and that it does not pass', () => {
    const markdown = workflowToMarkdown(findingsOf({ minGroupSize: 500 }));
    expect(markdown).to.match(/\*\*UNDEFINED at threshold 0\.1\*\*\n\n- UNDEFINED: /);
    expect(markdown).to.match(/Final: Demographic parity difference by sex is undefined: [^.]+/);
    expect(tableUnder(markdown, 'Baseline, final and change')[1]?.slice(2)).to.deep.equal([
      'undefined',
      'none',
      'undefined',
      'none',
      'undefined',
    ]);
  });

  it('warns once if the interval straddles the threshold, and not otherwise', () => {
    const straddling = findingsOf();
    const caution = /another sample could change this verdict/g;
    expect(workflowToMarkdown(straddling).match(caution)).to.have.length(1);
    const bare = { ...straddling, validation: { ...straddling.validation, message: 'PASS: 0.0571 is small.' } };
    expect(workflowToMarkdown(bare).match(caution)).to.have.length(1);
    expect(workflowToMarkdown(findingsOf({ threshold: 0.9 })).match(caution)).to.equal(null);
    expect(workflowToMarkdown(bare)).to.include('Judged by sex\\|\\|race, the worst of 3 attributes.');
    const reported = { ...bare, validation: { ...bare.validation, message: "PASS. Judged by 'sex||race'." } };
    expect(workflowToMarkdown(reported).match(/Judged by/g)).to.have.length(1);
  });

  it('omits the calibration of a mixture, and says why', () => {
    const markdown = workflowToMarkdown(mixtureFindings());
    expect(markdown)
      .to.include('probability of a positive randomised decision')
      .and.not.include('calibration error by');
  });

  it('lists the first 40 points of a trade-off, and counts all', () => {
    const rows = tableUnder(
      workflowToMarkdown(mixtureFindings()),
      'Accuracy against unfairness, the first 40 of 62 points',
    );
    expect(rows).to.have.length(40);
    expect(rows[9]).to.deep.equal(['predictor 8', 'predictor of the mixture', '70.70%', 'undefined']);
  });

  it('omits trade-off and calibration for a regression, and shows its error', () => {
    const markdown = workflowToMarkdown(regressionFindings());
    expect(headingsOf(markdown)).to.not.include.members(['Calibration', 'Accuracy against unfairness']);
    expect(tableUnder(markdown, 'Baseline, final and change')[0]).to.deep.equal([
      'All rows',
      'Mean absolute error',
      '2.5000',
      'none',
      '2.7500',
      'none',
      '+0.2500',
    ]);
  });

  it('shows every hostile label as text', () => {
    const markdown = workflowToMarkdown(hostileFindings());
    const labels = columnCounts(markdown).length;
    expect(labels).to.be.greaterThan(5);
    expect(markdown).to.include('\\<script\\>alert(1)\\</script\\>').and.include('(300 characters)');
    expect(markdown).to.include('a\\|b # c').and.include('\\[link\\](javascript:x)');
    expect(markdown).to.not.match(/^# c|^\s*# c/m);
  });

  it('lists both ends of 5,000 groups, with a count', () => {
    const markdown = workflowToMarkdown(manyGroups());
    const rows = tableUnder(markdown, 'Selection rate by county: the 20 lowest and the 20 highest of 5,000 groups');
    expect(rows).to.have.length(41);
    expect(rows[20]?.[0]).to.equal('\u22EE 4,960 more groups');
    expect(markdown.length).to.be.lessThan(30_000);
  });
});

describe('workflowToHtml', () => {
  it('has a chart of each rate of each attribute, the trade-off and the reliability of scores', async () => {
    const html = await workflowToHtml(findingsOf());
    const names = Array.from(html.matchAll(/<svg role="img" aria-label="([^"]*)"/g), ([, name]) => name ?? '');
    expect(names.map((name) => name.split(/ of | over |\. /)[0])).to.deep.equal([
      ...['Selection rate by sex', 'True positive rate by sex', 'False positive rate by sex'],
      ...['Selection rate by race', 'True positive rate by race', 'False positive rate by race'],
      ...['Selection rate by sex||race', 'True positive rate by sex||race', 'False positive rate by sex||race'],
      'Accuracy',
      'Reliability',
      'Reliability',
    ]);
    expect(html.length).to.be.lessThan(300_000);
  });

  it('stays small with 5,000 groups', async () => {
    const html = await workflowToHtml(manyGroups());
    expect(html).to.include('4,960 more groups');
    expect(html.length).to.be.lessThan(300_000);
  });

  it('shows hostile labels as text and does not change Object.prototype', async () => {
    const own = Object.getOwnPropertyNames(Object.prototype);
    const html = await workflowToHtml(hostileFindings());
    expect(html).to.include('&lt;script&gt;alert(1)&lt;/script&gt;');
    for (const label of HOSTILE_LABELS.filter((text) => /^[a-z_]+$/.test(text) && text.length < 20)) {
      expect(html).to.include(`<bdi>${label}</bdi>`);
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).to.deep.equal(own);
  });

  it('has tables and one warning without echarts', async () => {
    const draw = (): Promise<string> =>
      Promise.reject(
        new DependencyError('echarts is not installed.', { suggestion: 'npm install echarts', context: {} }),
      );
    const html = await workflowToHtml(findingsOf(), { draw });
    expect(html).to.not.include('<svg');
    expect(html.split('This report has tables but no charts')).to.have.length(2);
    expect(html).to.include('npm install echarts').and.include('Selection rate by sex');
  });

  it('rethrows any other error of a chart', async () => {
    const draw = (): Promise<string> => Promise.reject(new RangeError('torn'));
    const failed = await workflowToHtml(findingsOf(), { draw }).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(RangeError);
  });
});
