import { expect } from 'chai';

import { alertTimelineChart, type TimelineAlert } from '../../src/charts/alert-timeline-chart.ts';
import { renderChart } from '../../src/charts/render-chart.ts';

const hour = (count: number): number => Date.UTC(2026, 0, 5, count);
const open: TimelineAlert = {
  label: 'gap of sex',
  isOpen: true,
  marks: [
    { mark: 'suspected', time: hour(2) },
    { mark: 'raised', time: hour(5) },
    { mark: 'acknowledged', time: hour(6) },
  ],
};
const over: TimelineAlert = {
  label: 'gap of age',
  isOpen: false,
  marks: [
    { mark: 'raised', time: hour(1) },
    { mark: 'resolved', time: hour(3) },
    { mark: 'cleared', time: hour(4) },
  ],
};

interface Series {
  readonly type: string;
  readonly name?: string;
  readonly symbol: string;
  readonly data: readonly unknown[];
}
const seriesOf = (alerts: readonly TimelineAlert[]) =>
  (alertTimelineChart(alerts, hour(10)).option as unknown as { readonly series: readonly Series[] }).series;

describe('the chart of alerts over time', () => {
  it('has a line from the suspected change to the alarm, and on to the end if the alert is open', () => {
    const lines = seriesOf([open, over]).filter(({ type }) => type === 'line');
    expect(lines.map(({ data }) => data)).to.deep.equal([
      [
        [hour(2), 0],
        [hour(5), 0],
      ],
      [
        [hour(5), 0],
        [hour(10), 0],
      ],
      [
        [hour(1), 1],
        [hour(4), 1],
      ],
    ]);
  });

  it('has each mark in its row, with its own shape', () => {
    const marks = seriesOf([open, over]).filter(({ type, data }) => type === 'scatter' && data.length > 0);
    expect(marks.map(({ name, data }) => [name, data.map((one) => (one as { value: unknown }).value)])).to.deep.equal([
      ['suspected', [[hour(2), 0]]],
      ['raised', [[hour(5), 0], [hour(1), 1]]],
      ['acknowledged', [[hour(6), 0]]],
      ['resolved', [[hour(3), 1]]],
      ['cleared', [[hour(4), 1]]],
    ]); // prettier-ignore
    const filled = marks.filter(({ name }) => name !== 'suspected');
    expect(new Set(filled.map(({ symbol }) => symbol)).size).to.equal(filled.length);
  });

  it('describes their number in words', () => {
    expect(alertTimelineChart([open, over], hour(10)).description).to.equal(
      '2 alerts over time: 1 open, 1 acknowledged, 1 resolved, 1 cleared.',
    );
    expect(alertTimelineChart([], hour(10)).description).to.equal('No alert was raised.');
  });

  it('grows with its alerts, and can be drawn without any', async () => {
    expect(alertTimelineChart([open, over], hour(10)).height).to.be.above(alertTimelineChart([open], hour(10)).height);
    expect(String(await renderChart(alertTimelineChart([], hour(10)), 'svg'))).to.match(/^<svg /);
  });

  it('shows hostile labels as text', async () => {
    const labels = ['<script>x</script>', '__proto__', '', 'x'.repeat(300)];
    const svg = String(
      await renderChart(alertTimelineChart(labels.map((label) => ({ ...open, label })), hour(10)), 'svg'),
    ); // prettier-ignore
    expect(svg).to.not.include('<script');
    expect(svg).to.include('__proto__').and.to.include('(blank)');
  });
});
