import path from 'node:path';

import { DataValidationError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';
import { escapeHtml } from '../internal/html.ts';
import { builtFile, readCompressed, importOptional } from '../internal/packages.ts';
import type { Chart } from './chart.ts';
import { renderSvgs, withoutInheritedNames } from './render-svg.ts';

/** The formats in which a chart can be saved. */
export type ChartFormat = 'svg' | 'png' | 'html';

const FORMATS: readonly ChartFormat[] = ['svg', 'png', 'html'];

/**
 * The number of pixels in a PNG image for each unit of length in the chart. A value of 2 makes the image sharp on
 * high-density screens.
 */
const PNG_SCALE = 2;

/**
 * Returns the chart format for the extension of a path.
 * @throws {DataValidationError} if there is no chart format for the extension
 */
export function chartFormat(savePath: string): ChartFormat {
  const extension = path.extname(savePath).slice(1).toLowerCase();
  const format = FORMATS.find((name) => name === extension);
  if (format !== undefined) return format;
  throw new DataValidationError(`A plot cannot be saved as '${savePath}': its extension is '${extension}'.`, {
    code: 'unwritable-file',
    context: { path: savePath },
    suggestion: 'Use the extension .svg, .png or .html.',
  });
}

/**
 * Draws several charts into one picture, each below the previous one; see {@link renderChart}.
 * @param charts the charts, at least one
 */
export async function renderCharts(charts: readonly Chart[], format: ChartFormat): Promise<string | Uint8Array> {
  if (format === 'html') return renderHtml(charts);
  const svg = await renderSvgs(charts);
  return format === 'svg' ? svg : renderPng(svg);
}

/**
 * Draws a chart without a browser, as SVG text, PNG bytes, or a self-contained HTML page that loads no external
 * resource.
 * @throws {DependencyError} if resvg, which draws PNG, has no binary for this machine
 */
export async function renderChart(chart: Chart, format: ChartFormat): Promise<string | Uint8Array> {
  return renderCharts([chart], format);
}

async function renderPng(svg: string): Promise<Uint8Array> {
  const { Resvg } = await importOptional('@resvg/resvg-js', 'to draw plots', () => import('@resvg/resvg-js'));
  const image = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: PNG_SCALE },
    font: {
      // Without a font file, resvg silently drops all text. Characters that Inter does not have are drawn in system
      // fonts.
      fontFiles: fontFiles(),
      loadSystemFonts: true,
      defaultFontFamily: 'Inter',
      sansSerifFamily: 'Inter',
    },
  });
  return image.render().asPng();
}

/** Returns the paths of the fonts. */
function fontFiles(): string[] {
  return ['Inter_400Regular.ttf', 'Inter_700Bold.ttf'].map((name) => builtFile(`charts/fonts/${name}`));
}

async function renderHtml(charts: readonly Chart[]): Promise<string> {
  const script = await readEchartsScript();
  const titles = charts.map(({ option }) => (option['title'] as { text: string }).text);
  const boxes = charts.map(
    ({ width, height, description }) =>
      `<div class="chart" style="max-width: ${String(width * 1.4)}px; height: ${String(height)}px" role="img" aria-label="${escapeHtml(description)}"></div>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(titles[0] ?? '')}</title>
<style>
  body { margin: 0; background: #fff; }
  .chart { width: 100%; margin: 0 auto; }
</style>
</head>
<body>
${boxes.join('\n')}
<script>${script}</script>
<script>
  const options = ${toScript(charts.map(({ option }) => withoutInheritedNames(option)))};
  const charts = options.map((option, index) => {
    const chart = echarts.init(document.querySelectorAll('.chart')[index], null, { renderer: 'svg' });
    chart.setOption(option);
    return chart;
  });
  addEventListener('resize', () => charts.forEach((chart) => chart.resize()));
</script>
</body>
</html>
`;
}

/**
 * Returns the parts of ECharts that charts need, as one script for a page. No text in the script ends the script
 * element early, and the HTML parser does not change any part of it.
 */
export async function readEchartsScript(): Promise<string> {
  return decodeUtf8(await readCompressed('vendor/echarts-page.js'), 'The script of ECharts')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('</script', '<\\/script')
    .replaceAll('<!--', '<\\!--');
}

/** Returns data as JavaScript code in which no text can end the script element early. */
export function toScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
