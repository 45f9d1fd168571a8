import type { Chart } from '../charts/chart.ts';
import { renderChart } from '../charts/render-chart.ts';

/** A picture that stands still inside a page: what serves pointers, waking in a browser, and files apart is left out. */
export async function drawSvg(chart: Chart): Promise<string> {
  const svg = String(await renderChart(chart, 'svg'));
  return svg
    .replace(/<style ?>.*?<\/style>\s*/gs, '')
    .replaceAll(/ (?:class="zr-\d+"|pointer-events="visible"|(?:ecmeta_\w+|xmlns(?::xlink)?)="[^"<]*")/g, '');
}
