import { expect } from 'chai';

import { beforeAfterChart, type ComparedGroup } from '../../src/charts/before-after-chart.ts';
import { renderChart } from '../../src/charts/render-chart.ts';

const side = (value: number, half = 0.1): ComparedGroup['before'] => ({ value, ci: [value - half, value + half] });
const group = (label: string, before: number | null, after: number | null, n = 100): ComparedGroup => ({
  label,
  n,
  before: before === null ? null : side(before),
  after: after === null ? null : side(after),
});
const measure = {
  title: 'Selection rate',
  unit: 'share',
  groups: [group('b', 0.5, 0.4, 1234), group('a', 0.2, 0.3), group('c', 0.3, 0.35)],
} as const;

interface DrawnOption {
  readonly title: { readonly subtext: string };
  readonly xAxis: { readonly scale: boolean };
  readonly yAxis: readonly { readonly data?: readonly string[]; readonly min?: number; readonly max?: number }[];
  readonly series: readonly {
    readonly name: string;
    readonly data: readonly { readonly name: string; readonly value: readonly number[] }[];
    readonly markLine?: { readonly data: readonly { readonly coord: readonly number[] }[][] };
  }[];
}
const optionOf = (groups: readonly ComparedGroup[], unit: 'share' | 'number' = 'share'): DrawnOption =>
  beforeAfterChart({ ...measure, unit, groups }).option as unknown as DrawnOption;
const dotsOf = ({ series }: DrawnOption, name: string): readonly { name: string; value: readonly number[] }[] =>
  series.find((one) => one.name === name)?.data ?? [];

describe('the chart of groups before and after', () => {
  it('uses given names of its sides', () => {
    const chart = beforeAfterChart(measure, {
      sides: [
        { name: 'control', adverb: 'under control' },
        { name: 'treatment', adverb: 'under treatment' },
      ],
    });
    const option = chart.option as unknown as DrawnOption & { readonly legend: { readonly data: readonly string[] } };
    expect(option.legend.data).to.deep.equal(['control', 'treatment']);
    expect(dotsOf(option, 'treatment').map(({ name }) => name)).to.deep.equal(['a', 'c', 'b']);
    expect(option.title.subtext).to.include('30 under control, 10 under treatment');
    expect(`${chart.description} ${option.title.subtext}`).to.not.match(/before|after/);
  });

  it('has a row for each group, the largest value after on top, with count and change', () => {
    expect(
      optionOf(measure.groups)
        .yAxis.slice(1)
        .map(({ data }) => data),
    ).to.deep.equal([
      ['a', 'c', 'b'],
      ['n = 100', 'n = 100', 'n = 1,234'],
      ['20.0% \u2192 30.0%', '30.0% \u2192 35.0%', '50.0% \u2192 40.0%'],
    ]);
  });

  it('draws before above and after below the middle of each row, in percent', () => {
    const option = optionOf(measure.groups);
    expect(
      dotsOf(option, 'before').map(({ name, value }) => [name, value[0], Math.round(value[1] ?? NaN)]),
    ).to.deep.equal([
      ['a', 20, 0],
      ['c', 30, 1],
      ['b', 50, 2],
    ]);
    for (const [row, { value }] of dotsOf(option, 'before').entries()) expect(value[1]).to.be.within(row, row + 0.5);
    for (const [row, { value }] of dotsOf(option, 'after').entries()) expect(value[1]).to.be.within(row - 0.5, row);
    expect([option.yAxis[0]?.min, option.yAxis[0]?.max]).to.deep.equal([-0.5, 2.5]);
  });

  it('draws the interval of each dot at the height of the dot', () => {
    const option = optionOf([group('a', 0.2, 0.3), group('b', 0.5, 0.4)]);
    const [first] = option.series.find(({ name }) => name === 'intervals after')?.markLine?.data ?? [];
    const [low, high] = (first ?? []).map(({ coord }) => coord);
    const [dot] = dotsOf(option, 'after');
    expect(low?.[0]).to.be.closeTo(20, 1e-9);
    expect(high?.[0]).to.be.closeTo(40, 1e-9);
    expect([low?.[1], high?.[1]]).to.deep.equal([dot?.value[1], dot?.value[1]]);
  });

  it('states both gaps: 50 - 20 before, 40 - 30 after', () => {
    expect(optionOf(measure.groups).title.subtext).to.include(
      'Largest gap between groups: 30 before, 10 after (percentage points)',
    );
    expect(beforeAfterChart(measure).description).to.equal(
      'Selection rate of 3 groups before and after. Largest gap between groups: 30 before, 10 after (percentage points).',
    );
  });

  it('draws one dot for a group with a value on one side only, and none for a group without', () => {
    const option = optionOf([group('new', null, 0.4), group('gone', 0.2, null), group('none', null, null)]);
    expect(option.yAxis[1]?.data).to.deep.equal(['gone', 'new']);
    expect(option.yAxis[3]?.data).to.deep.equal(['20.0% \u2192 none', 'none \u2192 40.0%']);
    expect([dotsOf(option, 'before').length, dotsOf(option, 'after').length]).to.deep.equal([1, 1]);
    expect(option.title.subtext).to.not.include('gap');
  });

  it('does not depend on the order of groups, ties included', () => {
    const tied = [...measure.groups, group('e', 0.1, 0.3), group('d', 0.1, 0.3)];
    expect(optionOf(tied.toReversed())).to.deep.equal(optionOf(tied));
  });

  it('draws 20 groups at each end of more than 40, and says so', () => {
    const many = Array.from({ length: 5000 }, (_, index) => group(`g${index}`, 0.5, index / 10_000));
    const option = optionOf(many);
    expect(option.yAxis[1]?.data).to.have.length(41).and.include('\u22EE 4960 more groups');
    expect(option.title.subtext).to.include('of 5000');
  });

  it('does not start at 0 if all values are close together', () => {
    const near = (label: string, value: number): ComparedGroup => ({
      label,
      n: 50,
      before: { value, ci: null },
      after: { value: value + 0.01, ci: null },
    });
    expect(optionOf([near('a', 0.95), near('b', 0.97)]).xAxis.scale).to.equal(true);
    expect(optionOf(measure.groups).xAxis.scale).to.equal(false);
  });

  for (const [title, groups] of [
    ['no group', []],
    ['one group', [group('a', 0.2, 0.3)]],
    [
      'hostile labels',
      ['<script>alert(1)</script>', '__proto__', 'constructor', 'x'.repeat(300), 'a\nb', '\u{1F600}', ''].map(
        (label, index) => group(label, 0.1 + index / 20, 0.2),
      ),
    ],
    ['an infinite end', [{ label: 'a', n: 1, before: { value: 0.1, ci: [0, Infinity] }, after: side(0.2) }]],
  ] as const) {
    it(`draws ${title}, the same twice, without NaN`, async () => {
      const chart = beforeAfterChart({ ...measure, groups });
      const svg = String(await renderChart(chart, 'svg'));
      expect(svg).to.match(/^<svg role="img" aria-label="Selection rate of /);
      expect(svg).to.not.match(/NaN|Infinity|<script/);
      expect(String(await renderChart(beforeAfterChart({ ...measure, groups }), 'svg'))).to.equal(svg);
    });
  }
});
