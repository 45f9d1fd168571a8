import { expect } from 'chai';

import { DependencyError } from '../../src/exceptions/index.ts';
import { judge } from '../../src/integration/assertions.ts';
import type { ReportedValidation } from '../../src/integration/validation-document.ts';
import { validationToHtml } from '../../src/integration/validation-html.ts';
import { VERSION } from '../../src/internal/version.ts';
import { computeMetric } from '../../src/metrics/compute-metric.ts';
import { metricFrame } from '../../src/metrics/frame/index.ts';
import type { MetricOptions } from '../../src/metrics/options.ts';
import { tableNumber, tableValue } from '../../src/internal/format.ts';
import { unitOf } from '../../src/metrics/metric-markdown.ts';
import type { MetricRows } from '../../src/metrics/row-options.ts';

/** Rows of decisions: the given share of each group is selected; every second row has a positive true label. */
function decisions(groups: Readonly<Record<string, readonly [n: number, selected: number]>>): MetricRows {
  const rows = Object.entries(groups).flatMap(([label, [n, selected]]) =>
    Array.from({ length: n }, (_, row) => ({ label, decided: row < selected ? 1 : 0, truth: row % 2 })),
  );
  return {
    yTrue: rows.map(({ truth }) => truth),
    yPred: rows.map(({ decided }) => decided),
    sensitive: rows.map(({ label }) => label),
  };
}

function validationOf(
  attributes: Readonly<Record<string, MetricRows>>,
  threshold?: number,
  metrics: readonly string[] = ['demographic_parity_difference', 'equalized_odds_difference'],
  options: MetricOptions = {},
): ReportedValidation {
  const measured = Object.entries(attributes).map(
    ([name, rows]) =>
      [name, Object.fromEntries(metrics.map((metric) => [metric, computeMetric(metric, rows, options)]))] as const,
  );
  const verdicts = measured.map(
    ([name, results]) => [name, judge(Object.values(results)[0] as never, threshold)] as const,
  );
  return {
    passed: threshold === undefined ? null : verdicts.every(([, { passed }]) => passed === true),
    threshold: threshold ?? null,
    gates:
      threshold === undefined
        ? []
        : verdicts.map(([attribute, verdict]) => ({ attribute, metric: metrics[0] as string, ...verdict })),
    attributes: Object.fromEntries(measured),
    verdicts: Object.fromEntries(verdicts),
  };
}

const HOSTILE = [
  '<script>alert(1)</script>',
  '"&\'',
  '\u{1F600} emoji',
  'x'.repeat(500),
  '</svg><img src=x onerror=y>',
];

// '__proto__' as a computed key makes a property of its own.
const hostileRows = decisions({
  ...Object.fromEntries(HOSTILE.map((label, index) => [label, [40, 10 + 5 * index]] as const)),
  ['__proto__']: [50, 25],
  '<i>tiny</i>': [7, 3],
});
const sex = decisions({ female: [100, 30], male: [200, 100] });

/** Elements that have no end tag. */
const VOID = new Set(['meta', 'br']);

/** Returns errors in the nesting of the tags of a page. */
function unbalanced(html: string): string[] {
  const open: string[] = [];
  const body = html.replace(/^<!doctype html>\n/, '').replace(/<style>.*?<\/style>/s, '');
  for (const [, slash, name = ''] of body.matchAll(
    /<(\/?)([a-z][a-z0-9]*)(?: [a-z:A-Z-]+="[^"<>]*"| [a-z:A-Z-]+='[^']*')*>/g,
  )) {
    if (VOID.has(name)) continue;
    if (slash !== '/') open.push(name);
    else if (open.at(-1) === name) open.pop();
    else return [`</${name}> inside ${open.join(' ')}`];
  }
  return open;
}

/** Returns the cells of the tables of a page, row by row, as text. */
function tablesOf(html: string): string[][] {
  return Array.from(html.matchAll(/<tr>(.*?)<\/tr>/gs), ([, row = '']) =>
    Array.from(row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs), ([, text = '']) => text.replaceAll(/<[^>]*>/g, '')),
  );
}

describe('validationToHtml', () => {
  const options = { withPValue: true };
  const cases = {
    'a validation that fails': validationOf({ sex, both: sex }, 0.1, undefined, options),
    'one without threshold': validationOf({ sex }),
    'hostile labels': validationOf({ '<b>"a"&</b>': hostileRows, ['__proto__']: sex }, 0.5),
    'an undefined metric': validationOf({ sex: decisions({ only: [100, 40] }) }, 0.1),
    'no groups': validationOf({ sex: decisions({ a: [5, 1], b: [5, 1] }) }, 0.1),
    'sixty groups': validationOf({
      county: decisions(
        Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`c${String(index)}`, [60, index]])),
      ),
    }),
  };

  for (const [title, validation] of Object.entries(cases)) {
    describe(title, () => {
      let html = '';
      before(async () => {
        html = await validationToHtml(validation, '</title><script>source.csv');
      });

      it('is a complete page with correctly nested tags', () => {
        expect(html).to.match(/^<!doctype html>\n<html lang="en">\n/);
        expect(html).to.match(/<\/html>\n$/);
        expect(unbalanced(html)).to.deep.equal([]);
        for (const tag of ['title', 'header', 'main', 'footer', 'h1']) {
          expect(html.split(`</${tag}>`), tag).to.have.length(2);
        }
      });

      it('loads no external resource and runs no script', () => {
        expect(html).to.not.match(/<script|<link|<iframe|<object|<img|@import|url\(|https?:/i);
        const attributes = html.replaceAll(/="[^"]*"/g, '=""');
        expect(attributes).to.not.match(/<[^>]* (?:src|srcset|on[a-z]+|xlink:href)=/i);
        expect(Array.from(html.matchAll(/ href="([^"]*)"/g), ([, target]) => target?.charAt(0))).to.satisfy(
          (starts: string[]) => starts.every((start) => start === '#'),
        );
        expect(html).to.include(
          '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; img-src data:;',
        );
      });

      it('gives the same bytes again', async () => {
        expect(await validationToHtml(validation, '</title><script>source.csv')).to.equal(html);
      });

      it('has unique ids, and a target for every link and label', () => {
        const ids = Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id);
        expect(new Set(ids).size).to.equal(ids.length);
        for (const [, target] of html.matchAll(/(?:aria-labelledby="|href="#)([^"]*)"/g))
          expect(ids).to.include(target);
      });

      it('has a name for every chart, and a scope for every table header', () => {
        for (const [svg] of html.matchAll(/<svg[^>]*>/g)) expect(svg).to.match(/^<svg role="img" aria-label="[^"]+"/);
        for (const [header] of html.matchAll(/<th[ >][^>]*>/g)) expect(header).to.match(/ scope="(?:row|col)"/);
      });

      it('makes every scrollable box focusable by keyboard, with a name', () => {
        const boxes = html.match(/<div class="(?:picture|scroll)"[^>]*>/g) ?? [];
        for (const box of boxes) expect(box).to.match(/ role="group" aria-label="[^"]+" tabindex="0">$/);
        expect(boxes.length).to.be.at.least(html.split('<svg').length - 1);
      });

      it('shows no NaN or Infinity', () => {
        expect(html.match(/.{0,200}(?:NaN|Infinity|\[object|>null<).{0,40}/g) ?? []).to.deep.equal([]);
      });
    });
  }

  it('shows the verdict first, in words, with the message of the gate', async () => {
    const html = await validationToHtml(cases['a validation that fails'], 'a.csv');
    expect(html.indexOf('FAIL')).to.be.below(html.indexOf('By <bdi>sex</bdi>'));
    expect(html).to.match(/class="verdict fail".*FAIL <small>at threshold 0\.1<\/small>/s);
    expect(html).to.include('FAIL: demographic_parity_difference 0.2000 &gt; 0.1.');
    expect(await validationToHtml(validationOf({ sex }, 0.5), 'a.csv')).to.match(/class="verdict pass".*PASS/s);
    expect(await validationToHtml(cases['one without threshold'], 'a.csv')).to.match(
      /class="verdict none".*No threshold, no verdict/s,
    );
  });

  it('shows every number of a metric in text and tables', async () => {
    // 30 of 100 and 100 of 200; Wilson's intervals from R: prop.test(30, 100, correct = FALSE).
    const html = await validationToHtml(
      validationOf({ sex }, 0.1, ['demographic_parity_difference'], options),
      'a.csv',
    );
    expect(tablesOf(html)).to.deep.equal([
      ['Group', 'n', 'Selection rate', '95% interval'],
      ['female', '100', '30.00%', '21.89% to 39.58%'],
      ['male', '200', '50.00%', '43.14% to 56.86%'],
    ]);
    for (const fact of ['0.2000', '20.00 percentage points', '1.67', 'risk ratio', 'permutation', 'simultaneous']) {
      expect(html).to.include(fact);
    }
    expect(html.match(/<svg/g)).to.have.length(1);
  });

  it('lists excluded groups with numerator, denominator and reason, and excluded rows', async () => {
    const html = await validationToHtml(cases['hostile labels'], 'a.csv');
    expect(tablesOf(html)).to.deep.include(['&lt;i&gt;tiny&lt;/i&gt;', '7', '3', '7', 'fewer than 30 rows']);
    expect(html).to.include('No rows were excluded because of missing values.');
    const rows = { yPred: [...(sex.yPred as number[]), null], sensitive: [...(sex.sensitive as string[]), 'male'] };
    const dropped = validationOf({ sex: rows }, 0.1, ['demographic_parity_difference']);
    expect(await validationToHtml(dropped, 'a.csv')).to.include('1 row was excluded because of missing values.');
  });

  it('shows labels unchanged, in full length in the tables', async () => {
    const html = await validationToHtml(cases['hostile labels'], 'a.csv');
    const cells = tablesOf(html).map(([first]) => first);
    expect(cells).to.include.members([
      '&lt;script&gt;alert(1)&lt;/script&gt;',
      '&quot;&amp;&#39;',
      '\u{1F600} emoji',
      '__proto__',
      'x'.repeat(500),
    ]);
    expect(html).to.include('By <bdi>&lt;b&gt;&quot;a&quot;&amp;&lt;/b&gt;</bdi>');
  });

  it('says why a metric is undefined, and warns if a rate has few rows', async () => {
    expect(await validationToHtml(cases['an undefined metric'], 'a.csv')).to.include(
      '<strong>Undefined:</strong> only one group with at least 30 rows; two are needed, or a smaller minimum group size.',
    );
    const thin = validationOf({ sex: decisions({ a: [12, 6], b: [40, 10] }) }, 0.9, undefined, { minGroupSize: 2 });
    expect(await validationToHtml(thin, 'a.csv')).to.match(
      /Before you quote this value:.*<li>the true positive rate of a/s,
    );
  });

  it('draws both ends of 60 groups and lists all in the table', async () => {
    const html = await validationToHtml(cases['sixty groups'], 'a.csv');
    expect(html).to.include('Shows the 20 groups with the lowest and the 20 with the highest values, of 60 groups.');
    expect(tablesOf(html).filter(([label]) => /^c\d+$/.test(label ?? ''))).to.have.length(120);
  });

  it('ends with explanations and what is needed to reproduce it', async () => {
    const settings = { minGroupSize: 30, comparator: undefined, attributes: ['sex', 'race'] };
    const html = await validationToHtml(cases['a validation that fails'], 'a.csv', { settings });
    expect(html).to.include('equal rates over the groups compared. It says nothing about excluded groups');
    const made = html.slice(html.indexOf('How this was made')).replaceAll(/<[^>]*>/g, ' ');
    for (const [name, value] of [
      ['evenhand', VERSION],
      ['Seed', '42'],
      ['Interval method', 'simultaneous'],
      ['p-value method', 'permutation'],
      ['minGroupSize', '30'],
      ['attributes', 'sex, race'],
    ]) {
      expect(made.replaceAll(/\s+/g, ' ')).to.include(`${String(name)} ${String(value)}`);
    }
    expect(made).to.not.include('comparator');
  });

  it('shows the levels of a control feature with reversals', async () => {
    const level = (name: string, n: number) => Array.from({ length: n }, () => name);
    const frame = metricFrame(
      {
        // In each department b is selected more often, over both a is: 80/100 + 1/40 against 36/40 + 10/100.
        yPred: [
          [100, 80],
          [40, 1],
          [40, 36],
          [100, 10],
        ].flatMap(([n = 0, selected = 0]) => Array.from({ length: n }, (_, row) => (row < selected ? 1 : 0))),
        sensitive: [...level('a', 140), ...level('b', 140)],
        control: [...level('<X>', 100), ...level('Y', 40), ...level('<X>', 40), ...level('Y', 100)],
        metrics: ['selection_rate'],
      },
      { minGroupSize: 10 },
    );
    const html = await validationToHtml({ ...validationOf({ sex }), frames: { sex: frame } }, 'a.csv');
    expect(html).to.include('Within each level of the control feature').and.include('<span>Level: &lt;X&gt;</span>');
    expect(tablesOf(html)).to.deep.include(['b', '40', '90.00%']);
    // 0.9 - 0.8 within <X> and 0.1 - 0.025 within Y, and 81/140 - 46/140 over both, with the intervals of the metric.
    const rows = tablesOf(html).filter(([first, , difference]) => ['&lt;X&gt;', 'Y', 'All levels'].includes(first ?? '') && difference !== undefined); // prettier-ignore
    expect(rows.map((row) => [row[0], row[1], row[2], row[4]])).to.deep.equal([
      ['&lt;X&gt;', '140', '0.1000', 'b and a'],
      ['Y', '140', '0.0750', 'b and a'],
      ['All levels', '280', '0.2500', 'a and b'],
    ]);
    for (const row of rows) expect(row[3]).to.match(/^0\.\d{4} to 0\.\d{4}$/);
    expect(frame.warnings).to.have.length(1);
    expect(unbalanced(html)).to.deep.equal([]);
  });

  it('has tables, and one sentence on why there are no charts, without echarts', async () => {
    const draw = () =>
      Promise.reject(new DependencyError("The package 'echarts' is missing.", { suggestion: 'Install it.' }));
    const html = await validationToHtml(validationOf({ sex, both: sex }, 0.1), 'a.csv', { draw });
    expect(html).to.not.include('<svg');
    expect(html.split('This report has tables but no charts')).to.have.length(2);
    expect(html).to.include('The package &#39;echarts&#39; is missing. Install it.');
    expect(tablesOf(html)).to.deep.include(['female', '100', '30.00%', '21.89% to 39.58%']);
  });

  it('rethrows any other error of a chart', async () => {
    const failure = new Error('no');
    const caught: unknown = await validationToHtml(validationOf({ sex }), 'a.csv', {
      draw: () => Promise.reject(failure),
    }).catch((error: unknown) => error);
    expect(caught).to.equal(failure);
  });
});

describe('numbers of a report', () => {
  for (const [value, unit, text] of [
    [0.12345, 'share', '12.35%'],
    [0.12345, 'number', '0.1235'],
    [0.00001234, 'number', '1.234e-5'],
    [0.0007757, 'number', '0.0008'],
    [0, 'number', '0.0000'],
    [1e20, 'number', '1.000e+20'],
    [null, 'share', 'undefined'],
    [NaN, 'share', 'undefined'],
  ] as const) {
    it(`${String(value)} as a ${unit} is ${text}`, () => {
      expect(tableValue(value, unit)).to.equal(text);
    });
  }

  it('have no bound if a ratio has none, and a unit by their measure', () => {
    expect(tableNumber(Infinity)).to.equal('no bound');
    expect(['selection_rate', "precision of 'a\nb'", 'roc_auc', 'selection_rate_disparity'].map(unitOf)).to.deep.equal([
      'share',
      'share',
      'number',
      'number',
    ]);
  });
});
