import { escapeHtml } from '../internal/html.ts';
import { sumOf } from '../internal/values.ts';
import type { Chart } from './chart.ts';

/**
 * Draws several charts into one SVG picture, each below the previous one.
 * @param charts the charts, at least one
 */
export async function renderSvgs(charts: readonly Chart[]): Promise<string> {
  const panels = await Promise.all(charts.map(renderSvg));
  return panels.length === 1 ? (panels[0] ?? '') : stacked(charts, panels);
}

/** Draws a chart as SVG text, without a browser. */
export async function renderSvg({ width, height, option, description }: Chart): Promise<string> {
  const { init } = await import('../vendor/echarts.ts');
  const instance = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    instance.setOption(withoutInheritedNames(option));
    const svg = renumberIds(instance.renderToSVGString());
    return svg.replace(/^<svg /, `<svg role="img" aria-label="${escapeHtml(description)}" `);
  } finally {
    instance.dispose();
  }
}

/** Puts SVG pictures below each other. */
function stacked(charts: readonly Chart[], panels: readonly string[]): string {
  const width = Math.max(...charts.map((chart) => chart.width));
  const tops = charts.map((_, index) => sumOf(charts.slice(0, index).map(({ height }) => height)));
  const height = sumOf(charts.map((chart) => chart.height));
  const parts = panels.map((panel, index) =>
    withOwnIds(panel, index + 1).replace(/^<svg /, `<svg y="${String(tops[index])}" `),
  );
  const label = escapeHtml(charts.map(({ description }) => description).join(' '));
  return `<svg role="img" aria-label="${label}" xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(height)}" viewBox="0 0 ${String(width)} ${String(height)}">\n${parts.join('\n')}\n</svg>\n`;
}

/**
 * Renames the element ids of a chart, so that no two charts on a page have the same id. In each chart, ids start at 0.
 * The pattern matches only attributes, because quotation marks in texts are escaped.
 */
export function withOwnIds(svg: string, picture: number): string {
  return svg.replaceAll(/="(url\(#)?zr-/g, (_, url: string | undefined) => `="${url ?? ''}zr${String(picture)}-`);
}

/**
 * Renumbers the ids in each chart, so that the same chart always gives the same text. ECharts numbers ids across all
 * charts of the process.
 */
function renumberIds(svg: string): string {
  const numbers = new Map<string, number>();
  return svg.replaceAll(/\bzr\d+-[a-z]+-?\d+\b/g, (id) => {
    const number = numbers.get(id) ?? numbers.size;
    numbers.set(id, number);
    return `zr-${String(number)}`;
  });
}

/** The names of properties that every object inherits. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * Returns the chart option with an invisible space after each text that is also the name of an inherited property.
 *
 * The renderer caches the widths of texts in a plain object whose keys are the texts (zrender 6.1, core/LRU). For the
 * label `__proto__`, the renderer finds Object.prototype, treats it as a cache entry and modifies it for the whole
 * process. For the label `constructor`, the renderer finds no valid width.
 */
export function withoutInheritedNames<T>(value: T): T {
  if (typeof value === 'string') return (INHERITED.has(value) ? `${value} ` : value) as T;
  if (Array.isArray(value)) return value.map(withoutInheritedNames) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withoutInheritedNames(part as unknown)]),
  ) as T;
}
