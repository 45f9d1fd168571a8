import { expect } from 'chai';

import type { Chart } from '../../src/charts/chart.ts';
import { type HeatMap, heatMapChart } from '../../src/charts/heat-map-chart.ts';
import { renderChart } from '../../src/charts/render-chart.ts';

const map: HeatMap = {
  rows: ['hours', 'relationship', 'city'],
  columns: ['sex', 'race'],
  values: [
    [0.05, 0.3],
    [0.65, 0.0974],
    [NaN, 0.2],
  ],
  threshold: 0.3,
};

interface DrawnOption {
  readonly yAxis: { readonly data: readonly string[] };
  readonly xAxis: { readonly data: readonly string[] };
  readonly visualMap: { readonly pieces: readonly Readonly<Record<string, unknown>>[] };
  readonly series: readonly {
    readonly data: readonly {
      readonly value: readonly number[];
      readonly label: { readonly formatter: string; readonly fontWeight: number };
    }[];
  }[];
}
const optionOf = (chart: Chart) => chart.option as unknown as DrawnOption;
const svgOf = async (chart: Chart) => String(await renderChart(chart, 'svg'));
const textsOf = (svg: string) =>
  Array.from(svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g), ([, text = '']) => text.trimEnd());
const tall = (rows: number): HeatMap => ({
  ...map,
  rows: Array.from({ length: rows }, (_, row) => `column ${row} of the table, whose name is a long one`),
  values: Array.from({ length: rows }, (_, row) => [row / rows, 1 - row / rows]),
});

describe('the heat map', () => {
  it('has the rows with the largest values at the top, a number in every cell, and no number if it is undefined', () => {
    const { xAxis, yAxis, series } = optionOf(heatMapChart(map));
    expect(yAxis.data).to.deep.equal(['relationship', 'hours', 'city']);
    expect(xAxis.data).to.deep.equal(['sex', 'race']);
    expect(series[0]?.data.map(({ value, label }) => [...value, label.formatter])).to.deep.equal([
      [0, 0, 0.65, '0.65'],
      [1, 0, 0.0974, '0.10'],
      [0, 1, 0.05, '0.05'],
      [1, 1, 0.3, '0.30'],
      [1, 2, 0.2, '0.20'],
    ]);
  });

  it('marks cells at or above the threshold by font weight and colour', async () => {
    const chart = heatMapChart(map);
    const weights = optionOf(chart).series[0]?.data.map(({ value: [, , size = NaN], label }) => [size, label.fontWeight]); // prettier-ignore
    expect(weights).to.deep.equal([
      [0.65, 700],
      [0.0974, 400],
      [0.05, 400],
      [0.3, 700],
      [0.2, 400],
    ]);
    const svg = await svgOf(chart);
    // Strong and medium orange, light orange at the threshold; blue for the rest.
    const fills = ['#fbbd70', '#fde0b6', '#f4f7fa', '#b9d7ea'].map((fill) => svg.includes(`fill="${fill}" stroke="#ffffff"`)); // prettier-ignore
    expect(fills).to.deep.equal([true, true, true, true]);
  });

  it('has adjacent ranges that cover 0 to 1, for any threshold', () => {
    for (const threshold of [0, 0.3, 0.5, 1]) {
      const { pieces } = optionOf(heatMapChart({ ...map, threshold })).visualMap;
      const ends = pieces.map(({ gte, lt, lte }) => [gte, lt ?? lte] as [number, number]);
      expect(ends[0]?.[0]).to.equal(0);
      expect(ends.at(-1)?.[1]).to.equal(1);
      ends.slice(1).forEach(([from], index) => {
        expect(from).to.equal(ends[index]?.[1]);
      });
      expect(pieces.at(-1)).to.have.property('lte', 1);
    }
  });

  it('names rows, columns, legend and what it shows in SVG', async () => {
    const svg = await svgOf(heatMapChart(map, { title: 'A title', subtitle: 'a subtitle' }));
    expect(textsOf(svg)).to.include.members([
      ...['A title', 'a subtitle', 'Empty cells were not tested, or are undefined.'],
      ...['relationship', 'hours', 'city', 'sex', 'race', '0.65', '0.00 to 0.10', '0.77 to 1.00'],
    ]);
    expect(svg).to.match(
      /^<svg role="img" aria-label="Associations of 3 columns with 2 attributes\. At least 0\.3: relationship with sex 0\.65; hours with race 0\.30\."/,
    );
  });

  it('is the same for the same values', async () => {
    expect(await svgOf(heatMapChart(map))).to.equal(await svgOf(heatMapChart(map)));
  });

  for (const rows of [1, 6, 40]) {
    it(`has a line for each of ${rows} rows, and grows with them`, async () => {
      const chart = heatMapChart(tall(rows));
      expect(optionOf(chart).yAxis.data).to.have.length(rows);
      expect(chart.height).to.be.above(24 * rows);
      expect(textsOf(await svgOf(chart)).filter((text) => text.startsWith('column '))).to.have.length(rows);
    });
  }

  it('draws the rows with the largest values of more than 60, and says so', async () => {
    const texts = textsOf(await svgOf(heatMapChart(tall(200))));
    expect(texts.filter((text) => text.startsWith('column '))).to.have.length(60);
    expect(texts).to.include('Shows the 60 rows with the largest values, of 200 rows.');
  });

  it('shows hostile, long and unusual names as text', async () => {
    const rows = ['<script>alert(1)</script>', '__proto__', 'x'.repeat(300), '', '{b}'];
    const values = rows.map((_, row) => [row / 10, 0.5]);
    const svg = await svgOf(heatMapChart({ ...map, rows, values }));
    expect(svg).to.not.include('<script>');
    expect(textsOf(svg)).to.include.members(['__proto__', '(blank)', '{b}']);
    const html = String(await renderChart(heatMapChart({ ...map, rows, values }), 'html'));
    expect(html.match(/<\/script>/g)).to.have.length(2);
  });

  it('is still drawn without rows, or without a value', async () => {
    expect(await svgOf(heatMapChart({ rows: [], columns: [], values: [], threshold: 0.3 }))).to.include('<svg');
    expect(await svgOf(heatMapChart({ ...map, values: map.rows.map(() => [NaN, NaN]) }))).to.include('<svg');
  });
});
