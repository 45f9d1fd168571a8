import { expect } from 'chai';

import { renderChart } from '../../src/charts/render-chart.ts';
import { treeChart, type TreeNode } from '../../src/charts/tree-chart.ts';

const node = (label: string, children: readonly TreeNode[] = [], isMarked = false): TreeNode => ({
  label,
  remark: `n of ${label}`,
  isMarked,
  children,
});

const TREE = node('all', [node('a', [node('a1', [], true), node('a2', [], true)]), node('{b} <i>"x"</i>', [], true)]);
const TEXT = { title: 'A tree', subtitle: 'With three leaves' };

interface Point {
  readonly name: string;
  readonly value: readonly [number, number];
}

describe('treeChart', () => {
  it('gives each leaf its own row, and puts children to the right of their parent', () => {
    const { option } = treeChart(TREE, TEXT);
    const series = option['series'] as readonly { readonly name: string; readonly data: readonly Point[] }[];
    const points = new Map(series.find(({ name }) => name === 'nodes')?.data.map(({ name, value }) => [name, value]));
    const rows = ['a1', 'a2', TREE.children[1]?.label ?? ''].map((name) => points.get(name)?.[1]);
    expect(rows).to.deep.equal([0, 1, 2]);
    const across = ['all', 'a', 'a1'].map((name) => points.get(name)?.[0] ?? NaN);
    expect(across).to.deep.equal([...across].sort((a, b) => a - b));
    expect(series.filter(({ name }) => name === 'edges')).to.have.length(4);
  });

  it('is drawn with every label as text, and describes which nodes are marked', async () => {
    const chart = treeChart(TREE, TEXT);
    const svg = String(await renderChart(chart, 'svg'));
    for (const text of ['n of all', 'a1', 'n of a2', '(b) &lt;i&gt;&quot;x&quot;&lt;/i&gt;'])
      expect(svg).to.include(text);
    expect(svg).to.not.include('<i>');
    expect(chart.description).to.include('a1 (reported)').and.not.include('a (reported)');
  });

  it('is drawn for a single node', async () => {
    expect(String(await renderChart(treeChart(node('all'), TEXT), 'svg'))).to.include('n of all');
  });
});
