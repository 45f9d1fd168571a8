import { expect } from 'chai';

import type { Chart } from '../../src/charts/chart.ts';
import { reliabilityChart, type ReliabilityDot, type ReliabilityPanel } from '../../src/charts/reliability-chart.ts';
import { renderChart } from '../../src/charts/render-chart.ts';

const dot = (meanScore: number, positiveRate: number, n = 100): ReliabilityDot => ({
  n,
  meanScore,
  positiveRate,
  low: positiveRate / 2,
  high: (1 + positiveRate) / 2,
});
const panel = (label: string, n = 200): ReliabilityPanel => ({
  label,
  n,
  before: [dot(0.2, 0.4), dot(0.8, 0.6)],
  after: [dot(0.42, 0.4), dot(0.58, 0.6)],
});
const panels = [panel('female', 1234), panel('male')];

interface DrawnOption {
  readonly grid: readonly {
    readonly left: string;
    readonly top: number;
    readonly width: string;
    readonly height: number;
  }[];
  readonly xAxis: readonly { readonly max: number }[];
  readonly series: readonly {
    readonly name: string;
    readonly xAxisIndex: number;
    readonly data: readonly { readonly value: readonly number[]; readonly name: string }[];
    readonly markLine?: { readonly data: readonly unknown[] };
  }[];
}
const optionOf = (chart: Chart): DrawnOption => chart.option as unknown as DrawnOption;
const svgOf = async (chart: Chart): Promise<string> => String(await renderChart(chart, 'svg'));
const textsOf = (svg: string): string[] =>
  Array.from(svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g), ([, text = '']) => text.trimEnd());

describe('the reliability chart', () => {
  it('has a panel for each group with its dots before and after, and intervals', () => {
    const { grid, series } = optionOf(reliabilityChart(panels));
    expect(grid.length).to.equal(2);
    const before = series.filter(({ name }) => name === 'before');
    const after = series.filter(({ name }) => name === 'after');
    expect(before.map(({ data }) => data.map(({ value }) => value))).to.deep.equal(Array(2).fill([[0.2, 0.4], [0.8, 0.6]])); // prettier-ignore
    expect(after.map(({ data }) => data.map(({ value }) => value))).to.deep.equal(Array(2).fill([[0.42, 0.4], [0.58, 0.6]])); // prettier-ignore
    expect(after[0]?.markLine?.data).to.deep.equal([
      [{ coord: [0.42, 0.2] }, { coord: [0.42, 0.7] }],
      [{ coord: [0.58, 0.3] }, { coord: [0.58, 0.8] }],
    ]);
    expect(series.filter(({ name }) => name === 'calibrated').map(({ data }) => data)).to.deep.equal(
      Array(2).fill([{ value: [0, 0] }, { value: [1, 1] }]),
    );
  });

  it('names groups, counts, axes, legend and what it shows in SVG', async () => {
    const svg = await svgOf(reliabilityChart(panels, { subtitle: 'repaid by sex' }));
    expect(textsOf(svg)).to.include.members([
      ...['female', 'male', 'n = 1,234', 'n = 200', 'Mean score', 'Share of positives'],
      ...['before', 'after', 'calibrated', 'repaid by sex'],
    ]);
    // The mean of |0.4 - 0.2| and |0.6 - 0.8| is 0.2; 0.02 after.
    expect(svg).to.match(
      /^<svg role="img" aria-label="Reliability of 2 groups: mean distance between shares and scores\. female: 0\.200 before, 0\.020 after; male: /,
    );
  });

  it('draws a single set of scores', async () => {
    const alone = panels.map(({ label, n, before }) => ({ label, n, before }));
    const texts = textsOf(await svgOf(reliabilityChart(alone)));
    expect(texts).to.include('scores').and.not.include.members(['before']);
    expect(texts).to.not.include('after');
  });

  it('is the same for the same panels', async () => {
    expect(await svgOf(reliabilityChart(panels))).to.equal(await svgOf(reliabilityChart(panels)));
  });

  it('zooms in if all scores and shares are small, and clips intervals', () => {
    const rare = [{ label: 'a', n: 9, before: [{ ...dot(0.02, 0.06), high: 0.3 }] }];
    const { xAxis, series } = optionOf(reliabilityChart(rare));
    expect(xAxis[0]?.max).to.equal(0.1);
    expect(series.find(({ name }) => name === 'scores')?.markLine?.data).to.deep.equal([
      [{ coord: [0.02, 0.03] }, { coord: [0.02, 0.1] }],
    ]);
  });

  for (const count of [1, 2, 3, 4, 5, 9, 12, 16]) {
    it(`places ${count} panels inside the chart without overlap`, () => {
      const chart = reliabilityChart(Array.from({ length: count }, (_, index) => panel(`group ${index}`)));
      const boxes = optionOf(chart).grid.map(({ left, top, width, height }) => ({
        left: (Number.parseFloat(left) / 100) * chart.width,
        right: ((Number.parseFloat(left) + Number.parseFloat(width)) / 100) * chart.width,
        top,
        bottom: top + height,
      }));
      expect(boxes.length).to.equal(count);
      for (const [index, box] of boxes.entries()) {
        expect(box.left >= 0 && box.right <= chart.width && box.bottom <= chart.height).to.equal(true);
        expect(box.right - box.left).to.be.closeTo(box.bottom - box.top, 1);
        for (const other of boxes.slice(index + 1)) {
          const isSeparate = other.left >= box.right || other.right <= box.left || other.top >= box.bottom;
          expect(isSeparate).to.equal(true);
        }
      }
    });
  }

  it('draws the 16 largest of many groups in input order, and says so', async () => {
    const many = Array.from({ length: 40 }, (_, index) => panel(`group ${index}`, 1000 - ((index * 7) % 40)));
    const texts = textsOf(await svgOf(reliabilityChart(many)));
    const largest = many.filter(({ n }) => n > 1000 - 16).map(({ label }) => label);
    expect(texts.filter((text) => text.startsWith('group '))).to.have.members(largest);
    expect(texts).to.include('Shows the 16 largest of 40 groups.');
  });

  it('shows hostile, long and unusual labels as text', async () => {
    const labels = ['<script>alert(1)</script>', '{a|b}{b}{c}', '__proto__', 'x'.repeat(300), ''];
    const svg = await svgOf(reliabilityChart(labels.map((label) => panel(label))));
    expect(svg).to.not.include('<script>');
    expect(textsOf(svg)).to.include.members(['{a|b}{b}{c}', '__proto__', '(blank)']);
    const html = String(await renderChart(reliabilityChart(labels.map((label) => panel(label))), 'html'));
    expect(html.match(/<\/script>/g)).to.have.length(2);
  });

  it('is still drawn for a group without dots, and without groups', async () => {
    expect(await svgOf(reliabilityChart([{ label: 'a', n: 0, before: [] }]))).to.include('<svg');
    expect(await svgOf(reliabilityChart([]))).to.include('<svg');
  });
});
