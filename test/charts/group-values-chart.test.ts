import { expect } from 'chai';

import { type Chart, countLabel, labelWidth, shortenLabel } from '../../src/charts/chart.ts';
import { type ChartedGroup, groupValuesChart } from '../../src/charts/group-values-chart.ts';
import { chartValue as axisLabel, formatCompact as compactNumber } from '../../src/internal/format.ts';
import { renderChart } from '../../src/charts/render-chart.ts';

const group = (label: string, value: number, ci: [number, number] | null = null, n = 100): ChartedGroup => ({
  label,
  n,
  value,
  ci,
});
const groups = [group('b', 0.5, [0.4, 0.6], 1234), group('a', 0.2, [0.1, 0.3]), group('c', 0.3, [0.25, 0.35])];
const measure = { title: 'Selection rate', unit: 'share', groups } as const;

const svgOf = async (chart: Chart): Promise<string> => String(await renderChart(chart, 'svg'));

/** Returns the texts of a chart, in drawing order. */
const textsOf = (svg: string): string[] =>
  Array.from(svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g), ([, text = '']) => text.trimEnd());

interface DrawnOption {
  readonly yAxis: readonly { readonly data: readonly string[] }[];
  readonly xAxis: { readonly scale: boolean };
  readonly title: { readonly subtext: string };
  readonly series: readonly [
    { readonly data: readonly (readonly number[])[]; readonly markLine: { readonly data: readonly unknown[] } },
    {
      readonly data: readonly { readonly name: string; readonly value: readonly number[] }[];
      readonly markArea: { readonly data: readonly unknown[] };
    },
  ];
}
const optionOf = (chart: Chart): DrawnOption => chart.option as unknown as DrawnOption;

describe('the chart of a value per group', () => {
  it('has a row for each group, from the smallest at the bottom to the largest on top', () => {
    const { yAxis, series } = optionOf(groupValuesChart(measure));
    expect(yAxis.map(({ data }) => data)).to.deep.equal([
      ['a', 'c', 'b'],
      ['n = 100', 'n = 100', 'n = 1,234'],
      ['20.0%', '30.0%', '50.0%'],
    ]);
    expect(series[1].data).to.deep.equal([
      { name: 'a', value: [20, 0] },
      { name: 'c', value: [30, 1] },
      { name: 'b', value: [50, 2] },
    ]);
  });

  it('draws each interval in the row of its group, and a band from the smallest to the largest value', () => {
    const { series } = optionOf(groupValuesChart(measure));
    expect(series[0].markLine.data).to.deep.equal([
      [{ coord: [10, 0] }, { coord: [30, 0] }],
      [{ coord: [25, 1] }, { coord: [35, 1] }],
      [{ coord: [40, 2] }, { coord: [60, 2] }],
    ]);
    expect(series[1].markArea.data).to.deep.equal([[{ xAxis: 20 }, { xAxis: 50 }]]);
  });

  it('names groups, counts, the gap and what it shows in SVG', async () => {
    const svg = await svgOf(groupValuesChart(measure));
    expect(svg).to.match(
      /^<svg role="img" aria-label="Selection rate of 3 groups, from 20\.0% \(a\) to 50\.0% \(b\)\." /,
    );
    expect(textsOf(svg)).to.include.members(['Selection rate', 'a', 'b', 'c', 'n = 1,234', '50.0%', '0%']);
    expect(textsOf(svg)).to.include('From a to b: a gap of 30 percentage points');
  });

  it('does not depend on the order of the groups', async () => {
    const tied = [...groups, group('e', 0.3), group('d', 0.3)];
    const svg = await svgOf(groupValuesChart({ ...measure, groups: tied }));
    expect(await svgOf(groupValuesChart({ ...measure, groups: tied.toReversed() }))).to.equal(svg);
  });

  for (const [title, shown, scale] of [
    ['starts at 0 if values differ much', groups, false],
    ['starts near the values if they are close together', [group('a', 0.95), group('b', 0.97)], true],
    ['starts at 0 if all values are equal', [group('a', 0.95), group('b', 0.95)], false],
  ] as const) {
    it(`the axis ${title}`, () => {
      const option = optionOf(groupValuesChart({ ...measure, groups: shown }));
      expect(option.xAxis.scale).to.equal(scale);
      expect(option.title.subtext.includes('The axis does not start at 0.')).to.equal(scale);
    });
  }

  it('ends the axis of shares at 100%, but not that of numbers', () => {
    const near = [group('a', 1, [0.98, 1]), group('b', 0.995, [0.98, 0.999])];
    expect(optionOf(groupValuesChart({ ...measure, groups: near })).xAxis).to.include({ scale: true, max: 100 });
    const numbers = optionOf(groupValuesChart({ ...measure, unit: 'number', groups: near })).xAxis;
    expect(numbers).to.include({ scale: true }).and.not.to.have.property('max');
  });

  it('grows with the groups, and draws both ends of more than 40 and says so', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => group(`g${String(index)}`, index / 100));
    const [few, forty, sixty] = [2, 40, 60].map((count) => groupValuesChart({ ...measure, groups: many(count) }));
    expect((forty as Chart).height - (few as Chart).height).to.equal(38 * 24);
    expect(optionOf(forty as Chart).title.subtext).to.not.include('Drawn are');
    const [labels] = optionOf(sixty as Chart).yAxis;
    expect(labels?.data).to.have.length(41);
    expect([0, 19, 20, 21, 40].map((row) => labels?.data[row])).to.deep.equal([
      'g0',
      'g19',
      '\u22EE 20 more groups',
      'g40',
      'g59',
    ]);
    expect(textsOf(await svgOf(sixty as Chart))).to.include(
      'Shows the 20 groups with the lowest and the 20 with the highest values, of 60 groups.',
    );
  });

  it('shows hostile and unusual labels as text, and draws each once', async () => {
    const labels = ['<script>alert(1)</script>', '"&\'', '__proto__', 'a{b|c}{value}', '\u202Eevil', '\uD800', ''];
    const svg = await svgOf(
      groupValuesChart({ ...measure, groups: labels.map((label, index) => group(label, index / 10)) }),
    );
    expect(svg).to.not.match(/<script/i);
    expect(svg).to.not.match(/\p{Surrogate}/u);
    expect(textsOf(svg)).to.include.members([
      '&lt;script&gt;alert(1)&lt;/script&gt;',
      '&quot;&amp;&#39;',
      '__proto__',
      'a{b|c}{value}',
      'evil',
      '(blank)',
    ]);
  });

  it('does not change Object.prototype for any labels and titles', async () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    const shown = before.map((label, index) => group(label, index / 100));
    for (let round = 0; round < 2; round += 1) {
      const svg = await svgOf(groupValuesChart({ ...measure, title: '__proto__', groups: shown }));
      expect(textsOf(svg)).to.include.members(before);
      expect(svg).to.not.match(/NaN|undefined/);
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).to.deep.equal(before);
  });

  it('draws values of any size, equal values and groups without intervals, and omits NaN values', async () => {
    for (const shown of [
      [group('a', 0), group('b', 0)],
      [group('a', -1e300, [-2e300, 0]), group('b', 1e300)],
      [group('a', 0.1), group('b', NaN), group('c', 0.2, [0, Infinity])],
      [],
    ]) {
      const svg = await svgOf(groupValuesChart({ title: 'Mean error', unit: 'number', groups: shown }));
      expect(svg).to.not.match(/NaN|Infinity|undefined/);
    }
  });

  it('names the measure, with the subtitle below', async () => {
    const svg = await svgOf(groupValuesChart(measure, { subtitle: '1978' }));
    expect(textsOf(svg)).to.include.members([measure.title, '1978']);
  });
});

describe('labels in charts', () => {
  it('are cut between characters', () => {
    const family = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}';
    expect(shortenLabel(family.repeat(20))).to.equal(`${family.repeat(13)}\u2026`);
    expect(shortenLabel('short')).to.equal('short');
    expect(shortenLabel('two\n lines\t')).to.equal('two lines');
    expect(labelWidth(shortenLabel('W'.repeat(1e5)))).to.be.at.most(28);
  });

  for (const [value, text] of [
    [0, '0'],
    [0.000012345, '1.23e-5'],
    [0.012345, '0.0123'],
    [11, '11'],
    [999.6, '1000'],
    [-14300.4, '-14,300'],
    [1e300, '1.00e+300'],
  ] as const) {
    it(`the number ${String(value)} is ${text}`, () => {
      expect(compactNumber(value)).to.equal(text);
    });
  }

  it('keep trailing zeros next to a row, and shorten large counts', () => {
    expect([11, 0.5, 123.456].map((value) => axisLabel(value, 'number'))).to.deep.equal(['11.0', '0.500', '123']);
    expect(axisLabel(0.4237, 'share')).to.equal('42.4%');
    expect([999, 1e6, 12_345_678].map(countLabel)).to.deep.equal(['n = 999', 'n = 1,000,000', 'n = 12.35M']);
  });
});
