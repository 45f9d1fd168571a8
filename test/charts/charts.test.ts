import { expect } from 'chai';

import { paretoChart, type ParetoChartPoint } from '../../src/charts/pareto-chart.ts';
import { chartFormat, renderChart } from '../../src/charts/render-chart.ts';
import { DataValidationError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';

const point = (eta: number, accuracy: number, dpDiff: number, dominated = false): ParetoChartPoint => ({
  eta,
  accuracy,
  dpDiff,
  dominated,
  accuracyCi: [accuracy - 0.02, accuracy + 0.02],
  dpDiffCi: [Math.max(0, dpDiff - 0.05), dpDiff + 0.05],
});

const points = [point(0, 0.85, 0.18), point(1, 0.84, 0.1), point(2, 0.83, 0.12, true)];

describe('the Pareto chart', () => {
  it('names every eta, its axes and what it shows in SVG', async () => {
    const svg = String(await renderChart(paretoChart(points, { subtitle: 'income by sex' }), 'svg'));
    for (const text of ['eta 0', 'eta 1', 'eta 2', 'income by sex', 'Accuracy on held-out rows', 'dominated']) {
      expect(svg).to.include(text);
    }
    expect(svg).to.match(
      /^<svg role="img" aria-label="Accuracy over demographic parity difference\. eta 0: accuracy 0\.850/,
    );
  });

  it('gives the same SVG for the same points', async () => {
    expect(await renderChart(paretoChart(points), 'svg')).to.equal(await renderChart(paretoChart(points), 'svg'));
  });

  it('contains text in PNG: removing the title changes the pixels', async () => {
    const png = (title: string) => renderChart(paretoChart(points, { title }), 'png') as Promise<Uint8Array>;
    const bytes = await png('A title');
    expect([...bytes.slice(0, 4)]).to.deep.equal([0x89, 0x50, 0x4e, 0x47]);
    const header = new DataView(bytes.buffer, bytes.byteOffset + 16, 8);
    expect([header.getUint32(0), header.getUint32(4)]).to.deep.equal([1640, 1040]);
    expect(Buffer.compare(Buffer.from(bytes), Buffer.from(await png('')))).to.not.equal(0);
  });

  it('loads no external resource in HTML', async () => {
    const html = String(await renderChart(paretoChart(points), 'html'));
    const markup = html.replaceAll(/<script>.*?<\/script>/gs, '<script></script>');
    expect(markup).to.not.match(/(src|href|url)\s*[=(]/i);
    expect(markup).to.have.length.below(1500);
    expect(html.match(/<\/script>/g)).to.have.length(2);
  });

  it('shows hostile titles as text', async () => {
    const title = '</script><script>alert(1)</script>';
    const html = String(await renderChart(paretoChart(points, { title }), 'html'));
    expect(html.match(/<\/script>/g)).to.have.length(2);
    expect(String(await renderChart(paretoChart(points, { title }), 'svg'))).to.not.include('<script>');
  });

  it('draws a single point, and points that coincide', async () => {
    expect(String(await renderChart(paretoChart([point(0, 1, 0)]), 'svg'))).to.include('eta 0');
    expect(String(await renderChart(paretoChart([point(0, 0.5, 0.1), point(3, 0.5, 0.1)]), 'svg'))).to.include('eta 3');
  });
});

/** Returns the boxes of the eta labels of a chart, from the positions and transforms of its texts. */
function drawnLabels(svg: string): { text: string; box: Box }[] {
  return [...svg.matchAll(/<text ([^>]*)>(eta [^<]*)<\/text>/g)].map(([, attributes = '', text = '']) => {
    const [dx, dy] = numbersOf(/transform="translate\(([-\d.]+) ([-\d.]+)\)"/.exec(attributes));
    const [x] = numbersOf(/ x="([-\d.]+)"/.exec(attributes));
    const [y] = numbersOf(/ y="([-\d.]+)"/.exec(attributes));
    const anchor = /text-anchor="(\w+)"/.exec(attributes)?.[1] ?? 'start';
    const isMiddle = attributes.includes('dominant-baseline="central"');
    // Digits of this size are at most 7.5 wide; other letters of a label are narrower.
    const width = 7 * text.length - 4 * text.replaceAll(/[^ .t]/g, '').length;
    const left = dx + x - (anchor === 'middle' ? width / 2 : anchor === 'end' ? width : 0);
    const top = dy + y - (isMiddle ? 6 : 10);
    return { text, box: { left, right: left + width, top, bottom: top + 12 } };
  });
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function numbersOf(match: RegExpExecArray | null): [number, number] {
  return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
}

function overlapping(boxes: readonly Box[]): [number, number][] {
  return boxes.flatMap((a, i) =>
    boxes
      .slice(i + 1)
      .flatMap((b, j): [number, number][] =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom ? [[i, i + 1 + j]] : [],
      ),
  );
}

describe('labels of the Pareto chart', () => {
  const random = createRandom(7);
  const near = (count: number, spread: number): ParetoChartPoint[] =>
    Array.from({ length: count }, (_, eta) =>
      point(eta / 4, 0.7 + spread * random.next(), 0.1 + 4 * spread * random.next(), eta % 3 > 0),
    );
  // The points of the chart in the README: six points, five of them next to each other.
  const wages = [
    [0, 0.7004, 0.1492],
    [0.5, 0.6966, 0.141],
    [1, 0.7004, 0.126],
    [2, 0.7004, 0.1172],
    [4, 0.6948, 0.0974],
    [8, 0.7004, 0.0537],
  ].map(([eta = 0, accuracy = 0, dpDiff = 0]) => point(eta, accuracy, dpDiff, eta < 8));
  const clouds: readonly (readonly [string, ParetoChartPoint[]])[] = [
    ["the README's points", wages],
    ['four points at the same position', [0, 1, 2, 3].map((eta) => point(eta, 0.7, 0.1))],
    ['points in the corners', [point(0, 1, 0), point(1, 0, 0), point(2, 1, 1), point(3, 0, 1)]],
    ...[3, 6, 8, 12, 16, 24].flatMap((count) =>
      [0.05, 0.01, 0.001, 0].map(
        (spread) => [`${String(count)} points within ${String(spread)}`, near(count, spread)] as const,
      ),
    ),
  ];
  for (const [title, cloud] of clouds) {
    it(`are all drawn and do not overlap: ${title}`, async () => {
      const labels = drawnLabels(String(await renderChart(paretoChart(cloud), 'svg')));
      expect(labels.map(({ text }) => text)).to.have.members(cloud.map(({ eta }) => `eta ${String(eta)}`));
      expect(overlapping(labels.map(({ box }) => box))).to.deep.equal([]);
    });
  }

  it('are within the chart', async () => {
    for (const [, cloud] of clouds) {
      for (const { box } of drawnLabels(String(await renderChart(paretoChart(cloud), 'svg')))) {
        expect([box.left >= 0, box.right <= 820, box.top >= 80, box.bottom <= 420]).to.not.include(false);
      }
    }
  });

  it('are omitted if there is no space, and never overlap', async () => {
    const labels = drawnLabels(String(await renderChart(paretoChart(near(400, 0.001)), 'svg')));
    expect(labels.length).to.be.within(60, 399);
    expect(overlapping(labels.map(({ box }) => box))).to.deep.equal([]);
  });
});

describe('the tooltip of a point of the Pareto chart', () => {
  const tooltips = (list: ParetoChartPoint[]): string[] =>
    (paretoChart(list).option['series'] as { data: { tooltip?: { formatter: string } }[] }[]).flatMap(({ data }) =>
      data.flatMap(({ tooltip }) => (tooltip === undefined ? [] : [tooltip.formatter])),
    );

  it('names eta, accuracy and gaps with their intervals', () => {
    expect(tooltips([{ ...point(0.5, 0.85, 0.18), eoDiff: 0.0712 }])).to.deep.equal([
      'eta 0.5<br>Accuracy 0.8500 [0.8300, 0.8700]<br>Demographic parity difference 0.1800 [0.1300, 0.2300]<br>Equalized odds difference 0.0712',
    ]);
  });

  it('omits undefined values', () => {
    expect(tooltips([{ ...point(0, 0.85, 0.18), dpDiffCi: null, eoDiff: NaN }])).to.deep.equal([
      'eta 0<br>Accuracy 0.8500 [0.8300, 0.8700]<br>Demographic parity difference 0.1800',
    ]);
  });
});

describe('chart formats', () => {
  for (const [path, format] of [
    ['a.svg', 'svg'],
    ['b/c.PNG', 'png'],
    ['d.html', 'html'],
  ] as const) {
    it(`${path} is ${format}`, () => {
      expect(chartFormat(path)).to.equal(format);
    });
  }

  it('rejects other extensions and lists the known ones', () => {
    expect(() => chartFormat('plot.jpg'))
      .to.throw(DataValidationError)
      .with.property('suggestion', 'Use the extension .svg, .png or .html.');
  });
});
