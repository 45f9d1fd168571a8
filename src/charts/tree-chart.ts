import { type Chart, COLOURS, font, FRAME, headline, LINE_HEIGHT, shortenLabel } from './chart.ts';

/** A node of a tree. */
export interface TreeNode {
  readonly label: string;
  /** A second text, for example a value. */
  readonly remark: string;
  /** Whether the node is highlighted. */
  readonly isMarked: boolean;
  readonly children: readonly TreeNode[];
}

/** The texts of a tree. */
interface TreeText {
  readonly title: string;
  readonly subtitle: string;
}

const ROW_HEIGHT = 40;
const LEVEL_WIDTH = 250;
const LABEL_WIDTH = 30;

/** A node with its position: the level from 0, and the row from 0 at the top. */
interface Placed {
  readonly node: TreeNode;
  readonly level: number;
  readonly row: number;
  readonly parent: Placed | undefined;
}

/**
 * Draws a tree from the left to the right. Each leaf has its own row, and a node has the row of its first child. Marked
 * nodes are filled.
 */
export function treeChart(root: TreeNode, { title, subtitle }: TreeText): Chart {
  const placed: Placed[] = [];
  let rows = 0;
  const place = (node: TreeNode, level: number, parent: Placed | undefined): void => {
    const own: Placed = { node, level, row: rows, parent };
    placed.push(own);
    if (node.children.length === 0) rows++;
    for (const child of node.children) place(child, level + 1, own);
  };
  place(root, 0, undefined);
  const levels = Math.max(...placed.map(({ level }) => level)) + 1;
  const top = 54 + LINE_HEIGHT;
  const plot = { left: 24, top, width: levels * LEVEL_WIDTH, height: rows * ROW_HEIGHT };
  return {
    width: plot.left + plot.width + 16,
    height: top + plot.height + 16,
    description: `${title}: ${placed.map(({ node }) => describeNode(node)).join('; ')}.`,
    option: {
      ...FRAME,
      title: headline(title, [subtitle], { title: 32 * levels, line: 40 * levels }),
      grid: { ...plot, outerBoundsMode: 'none' },
      xAxis: { type: 'value', min: 0, max: levels, show: false },
      yAxis: { type: 'value', min: -0.5, max: rows - 0.5, inverse: true, show: false },
      series: [...placed.flatMap(edge), points(placed)],
    },
  };
}

/** Returns the line from the parent to a node, with a corner. */
function edge({ level, row, parent }: Placed): unknown[] {
  if (parent === undefined) return [];
  const corner = level - 0.04;
  return [
    {
      name: 'edges',
      type: 'line',
      silent: true,
      symbol: 'none',
      lineStyle: { color: COLOURS.other, width: 1 },
      data:
        row === parent.row
          ? [
              [parent.level + 0.93, row],
              [level + 0.03, row],
            ]
          : [
              [corner, parent.row],
              [corner, row],
              [level + 0.03, row],
            ],
    },
  ];
}

function points(placed: readonly Placed[]): unknown {
  return {
    name: 'nodes',
    type: 'scatter',
    silent: true,
    symbolSize: 10,
    data: placed.map(({ node, level, row }) => ({
      name: node.label,
      value: [level + 0.05, row],
      itemStyle: {
        color: node.isMarked ? COLOURS.main : '#ffffff',
        borderColor: node.isMarked ? COLOURS.main : COLOURS.quiet,
        borderWidth: 1.5,
      },
      label: {
        show: true,
        position: 'right',
        distance: 6,
        // A function would be lost when the chart is written into a page, and braces would be read as placeholders.
        formatter: [shortenLabel(node.label, LABEL_WIDTH), shortenLabel(node.remark, LABEL_WIDTH)]
          .map((text) => text.replaceAll('{', '(').replaceAll('}', ')'))
          .join('\n'),
        lineHeight: 15,
        ...font(12, COLOURS.ink),
        fontWeight: node.isMarked ? 700 : 400,
      },
    })),
  };
}

function describeNode({ label, remark, isMarked }: TreeNode): string {
  return `${shortenLabel(label)}${isMarked ? ' (reported)' : ''} ${remark}`;
}
