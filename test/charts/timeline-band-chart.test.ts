import { expect } from 'chai';

import { DARK, LIGHT } from '../../src/charts/palette.ts';
import { renderChart } from '../../src/charts/render-chart.ts';
import { type BandTimeline, timelineBandChart, type TimelineStyle } from '../../src/charts/timeline-band-chart.ts';

const times = [0, 1, 2, 3].map((hour) => Date.UTC(2026, 0, 5, hour));
const timeline: BandTimeline = {
  title: 'Selection rate',
  unit: 'share',
  times,
  lines: [
    { label: 'a', values: [0.5, 0.52, null, 0.6], low: [0, 0.4, 0.45, null], high: [1, 0.6, 0.55, 0.7] },
    { label: 'b', values: [0.3, 0.3, 0.3, 0.25] },
  ],
};

interface Series {
  readonly name?: string;
  readonly encode: { readonly y: number };
  readonly stack?: string;
  readonly symbol: string;
  readonly areaStyle?: unknown;
  readonly lineStyle: { readonly color?: string; readonly type?: unknown };
  readonly markLine?: { readonly data: readonly Readonly<Record<string, unknown>>[] };
}
interface Option {
  readonly title?: unknown;
  readonly legend?: unknown;
  readonly backgroundColor: string;
  readonly dataset: { readonly source: readonly (readonly (number | null)[])[] };
  readonly yAxis: { readonly min: number; readonly max: number };
  readonly xAxis: { readonly min: number; readonly max: number; readonly axisLabel: { readonly formatter: string } };
  readonly series: readonly Series[];
}
const optionOf = (shown: BandTimeline, check?: TimelineStyle) =>
  timelineBandChart(shown, check).option as unknown as Option;

describe('the chart of lines with bands over time', () => {
  it('has a row for each time: the time, then value, lower end and height of the band', () => {
    const [first, second, third, last] = optionOf(timeline).dataset.source;
    expect(first).to.deep.equal([times[0], 50, 0, 100, 30]);
    expect(second).to.deep.equal([times[1], 52, 40, 20, 30]);
    expect(third).to.deep.equal([times[2], null, 45, 10, 30]);
    expect(last, 'a band without one of its ends is none').to.deep.equal([times[3], 60, null, null, 25]);
  });

  it('draws a band only if a line has one, stacked from its lower end', () => {
    const { series } = optionOf(timeline);
    expect(series.map(({ name, encode, stack, areaStyle }) => [name, encode.y, stack, areaStyle !== undefined])).to.deep.equal([
      [undefined, 2, 'band 0', false],
      [undefined, 3, 'band 0', true],
      ['a', 1, undefined, false],
      ['b', 4, undefined, false],
    ]); // prettier-ignore
  });

  it('distinguishes lines by dashes as well as by colours', () => {
    const lines = optionOf(timeline).series.filter(({ name }) => name !== undefined);
    expect(new Set(lines.map(({ lineStyle }) => lineStyle.color)).size).to.equal(2);
    expect(new Set(lines.map(({ lineStyle }) => String(lineStyle.type))).size).to.equal(2);
  });

  it('has an axis that includes every line, and the later half of the bands', () => {
    const wide = { ...timeline.lines[0], label: 'a', values: [0.5, 0.5, 0.5, 0.5] };
    const { yAxis } = optionOf({
      ...timeline,
      lines: [{ ...wide, low: [0, 0.1, 0.4, 0.42], high: [1, 0.9, 0.6, 0.58] }],
    });
    expect(yAxis.min).to.be.within(30, 40);
    expect(yAxis.max).to.be.within(60, 70);
  });

  it('starts the axis of numbers at 0 and includes the limit', () => {
    const { yAxis, series } = optionOf({
      ...timeline,
      unit: 'number',
      limit: 0.9,
      lines: [{ label: 'gap', values: [0.2, 0.3, 0.2, 0.1] }],
    });
    expect(yAxis.min).to.equal(0);
    expect(yAxis.max).to.be.at.least(0.9);
    expect(series[0]?.markLine?.data[0]).to.include({ yAxis: 0.9 });
  });

  it('marks alarms with solid lines and suspected changes with dotted lines', () => {
    const { series } = optionOf({ ...timeline, alarms: [times[2] ?? 0], changes: [times[1] ?? 0] });
    const marks = series.find(({ markLine }) => markLine !== undefined)?.markLine?.data as {
      xAxis: number;
      lineStyle: { type: unknown };
    }[];
    expect(marks.map(({ xAxis, lineStyle }) => [xAxis, lineStyle.type])).to.deep.equal([
      [times[2], 'solid'],
      [times[1], [2, 3]],
    ]);
  });

  it('shows a value without neighbours as a dot', () => {
    const symbolOf = (values: (number | null)[]) =>
      optionOf({ ...timeline, lines: [{ label: 'a', values }] }).series[0]?.symbol;
    expect(symbolOf([0.1, null, null, null])).to.equal('circle');
    expect(symbolOf([0.1, 0.2, null, 0.2])).to.equal('circle');
    expect(symbolOf([0.1, 0.2, 0.3, 0.2])).to.equal('none');
  });

  for (const [name, span, format] of [
    ['half a second', 500, '{HH}:{mm}:{ss}.{SSS}'],
    ['an hour', 3_600_000, '{HH}:{mm}:{ss}'],
    ['a day', 86_400_000, '{MMM} {d}, {HH}:{mm}'],
    ['a month', 30 * 86_400_000, '{MMM} {d}'],
    ['a year', 365 * 86_400_000, '{MMM} {yyyy}'],
    ['ten years', 3650 * 86_400_000, '{yyyy}'],
  ] as const) {
    it(`formats times over ${name} as ${format}`, () => {
      const { xAxis } = optionOf({ ...timeline, times: [0, span / 3, span / 2, span] });
      expect(xAxis.axisLabel.formatter).to.equal(format);
    });
  }

  it('has no title and no legend if the page shows both', () => {
    expect(optionOf(timeline)).to.have.property('legend').which.is.not.undefined;
    expect(optionOf(timeline, { isFramed: false })).to.not.have.any.keys('title', 'legend');
  });

  it('uses the colours of the palette', () => {
    expect(optionOf(timeline, { palette: DARK }).backgroundColor).to.equal(DARK.surface);
    const dark = JSON.stringify(timelineBandChart(timeline, { palette: DARK, isFramed: false }).option);
    for (const colour of [LIGHT.ink, LIGHT.quiet, LIGHT.grid, LIGHT.axis, ...LIGHT.series.slice(0, 2)]) {
      expect(dark, colour).to.not.include(colour);
    }
  });

  it('describes the first and last value of each line', () => {
    const { description } = timelineBandChart({ ...timeline, limit: 0.7 });
    expect(description).to.equal(
      'Selection rate at 4 times: a from 50.0% to 60.0%; b from 30.0% to 25.0%. The limit is 70.0%.',
    );
  });

  it('is drawn with text, and the same each time', async () => {
    const svg = String(await renderChart(timelineBandChart(timeline), 'svg'));
    expect(svg).to.include('Selection rate').and.to.include('60%');
    expect(String(await renderChart(timelineBandChart(timeline), 'svg'))).to.equal(svg);
  });

  for (const [name, shown] of Object.entries({
    'no time': { ...timeline, times: [], lines: [] },
    'one time': { ...timeline, times: times.slice(0, 1), lines: [{ label: 'a', values: [0.5] }] },
    'no value': { ...timeline, lines: [{ label: 'a', values: [null, null, null, null] }] },
    'infinite values': { ...timeline, lines: [{ label: 'a', values: [NaN, Infinity, 0.5, 0.5] }] },
    'hostile labels': {
      ...timeline,
      lines: ['<script>x</script>', '__proto__', 'constructor', '', '\u202Ex'].map((label) => ({
        label,
        values: [0.1, 0.2, 0.1, 0.2],
      })),
    },
  })) {
    it(`is still drawn for ${name}`, async () => {
      const svg = String(await renderChart(timelineBandChart(shown), 'svg'));
      expect(svg).to.match(/^<svg /);
      expect(svg).to.not.match(/<script|NaN|Infinity/);
    });
  }
});
