import { expect } from 'chai';

import { paretoChart, type ParetoChartPoint } from '../../src/charts/pareto-chart.ts';
import { chartFormat, renderChart } from '../../src/charts/render-chart.ts';
import { DataValidationError } from '../../src/exceptions/index.ts';

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
  it('as SVG names every eta, its axes and what it shows', async () => {
    const svg = String(await renderChart(paretoChart(points, { subtitle: 'income by sex' }), 'svg'));
    for (const text of ['eta 0', 'eta 1', 'eta 2', 'income by sex', 'Accuracy on unseen rows', 'dominated']) {
      expect(svg).to.include(text);
    }
    expect(svg).to.match(
      /^<svg role="img" aria-label="Accuracy over demographic parity difference\. eta 0: accuracy 0\.850/,
    );
  });

  it('as SVG is the same for the same points', async () => {
    expect(await renderChart(paretoChart(points), 'svg')).to.equal(await renderChart(paretoChart(points), 'svg'));
  });

  it('as PNG holds text: taking the title away changes the pixels', async () => {
    const png = (title: string) => renderChart(paretoChart(points, { title }), 'png') as Promise<Uint8Array>;
    const bytes = await png('A title');
    expect([...bytes.slice(0, 4)]).to.deep.equal([0x89, 0x50, 0x4e, 0x47]);
    const header = new DataView(bytes.buffer, bytes.byteOffset + 16, 8);
    expect([header.getUint32(0), header.getUint32(4)]).to.deep.equal([1640, 1040]);
    expect(Buffer.compare(Buffer.from(bytes), Buffer.from(await png('')))).to.not.equal(0);
  });

  it('as HTML asks for nothing from elsewhere', async () => {
    const html = String(await renderChart(paretoChart(points), 'html'));
    const markup = html.replaceAll(/<script>.*?<\/script>/gs, '<script></script>');
    expect(markup).to.not.match(/(src|href|url)\s*[=(]/i);
    expect(markup).to.have.length.below(1500);
    expect(html.match(/<\/script>/g)).to.have.length(2);
  });

  it('keeps hostile titles as text', async () => {
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

  it('any other extension is refused with the known ones', () => {
    expect(() => chartFormat('plot.jpg'))
      .to.throw(DataValidationError)
      .with.property('suggestion', 'End the name in .svg, .png or .html.');
  });
});
