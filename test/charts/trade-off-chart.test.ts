import { expect } from 'chai';

import { historyChart } from '../../src/charts/history-chart.ts';
import { renderChart } from '../../src/charts/render-chart.ts';
import { tradeOffChart, type TradeOffChartPoint } from '../../src/charts/trade-off-chart.ts';

const first: TradeOffChartPoint = { label: 'baseline', accuracy: 0.8, unfairness: 0.2, kind: 'baseline' };
const last: TradeOffChartPoint = { label: 'final', accuracy: 0.75, unfairness: 0.05, kind: 'final' };
const points: readonly TradeOffChartPoint[] = [
  first,
  last,
  { label: 'predictor 1', accuracy: 0.7, unfairness: 0.02, kind: 'candidate' },
  { label: 'predictor 2', accuracy: 0.78, unfairness: 0.09, kind: 'candidate' },
];
const text = { metric: 'Demographic parity difference', threshold: 0.1 };
const svgOf = async (...args: Parameters<typeof tradeOffChart>): Promise<string> =>
  String(await renderChart(tradeOffChart(...args), 'svg'));

interface DrawnOption {
  readonly xAxis: { readonly min: number; readonly max: number; readonly name: string };
  readonly series: readonly {
    readonly name: string;
    readonly data: readonly { readonly value: readonly number[] }[];
  }[];
}
const optionOf = (...args: Parameters<typeof tradeOffChart>): DrawnOption =>
  tradeOffChart(...args).option as unknown as DrawnOption;

describe('the chart of accuracy against unfairness', () => {
  it('has accuracy on the vertical and unfairness on the horizontal axis, with a series for each kind', () => {
    const { series } = optionOf(points, text);
    const valuesOf = (name: string): (readonly number[])[] =>
      series.find((one) => one.name === name)?.data.map(({ value }) => value) ?? [];
    expect(valuesOf('baseline')).to.deep.equal([[0.2, 0.8]]);
    expect(valuesOf('final')).to.deep.equal([[0.05, 0.75]]);
    expect(valuesOf('predictor of the mixture')).to.deep.equal([
      [0.02, 0.7],
      [0.09, 0.78],
    ]);
  });

  it('includes the threshold, and says which direction is closer to parity', () => {
    expect(optionOf(points, { ...text, threshold: 0.6 }).xAxis.max).to.be.at.least(0.6);
    expect(optionOf(points, text).xAxis.name).to.include('smaller is closer to parity');
  });

  it('describes in words what it shows', () => {
    expect(tradeOffChart(points, text).description).to.equal(
      'Accuracy over demographic parity difference. baseline: accuracy 0.800, demographic parity difference 0.200; final: accuracy 0.750, demographic parity difference 0.050. 2 predictors of a mixture. The threshold is 0.1.',
    );
  });

  it('names points, threshold and legend in SVG, and is the same twice', async () => {
    const svg = await svgOf(points, text);
    for (const word of ['baseline', 'final', 'threshold 0.1', 'predictor of the mixture']) expect(svg).to.include(word);
    expect(await svgOf(points, text)).to.equal(svg);
  });

  for (const [title, given, threshold] of [
    ['no point', [], null],
    ['one point', [last], null],
    ['a NaN point', [first, { ...last, unfairness: NaN }], 0.1],
    ['equal points', [first, { ...first, kind: 'final' }], 0.1],
    ['a hostile label', [{ ...first, label: '<script>__proto__' }, last], 0],
  ] as const) {
    it(`draws ${title} without NaN`, async () => {
      expect(await svgOf(given, { ...text, threshold })).to.not.match(/NaN|Infinity|<script|undefined/);
    });
  }
});

describe('the chart of a history', () => {
  const history = [
    { epoch: 1, violationHard: 0.3, lambdas: [0, 0] },
    { epoch: 2, violationHard: 0.12, lambdas: [0.1, 0.05] },
    { epoch: 3, violationHard: 0.04, lambdas: [0.08, 0.02] },
  ];

  it('describes the first and the last gap and the kept epoch', () => {
    expect(historyChart(history, { bestEpoch: 3, tolerance: 0.05 }).description).to.equal(
      'The gap in decisions over 3 epochs: first 0.300, at the kept epoch 3 0.040, last 0.040. The tolerance is 0.05.',
    );
  });

  it('has a line for the gap and for each multiplier', async () => {
    const svg = String(await renderChart(historyChart(history, { bestEpoch: 3, tolerance: 0.05 }), 'svg'));
    for (const word of ['gap in decisions', 'multiplier 1', 'multiplier 2', 'tolerance 0.05', 'kept: 3', 'Epoch']) {
      expect(svg).to.include(word);
    }
    expect(svg).to.not.match(/NaN|Infinity/);
  });

  it('draws one epoch, and no epochs', async () => {
    for (const some of [history.slice(0, 1), []]) {
      const svg = String(await renderChart(historyChart(some, { bestEpoch: 1, tolerance: null }), 'svg'));
      expect(svg).to.not.match(/NaN|Infinity/);
    }
  });
});
