import { type TreeNode, treeChart } from '../charts/tree-chart.ts';
import {
  noteBlocks,
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  valueColumn,
} from '../document/report-document.ts';
import { labelText, listed } from '../document/report-text.ts';
import { capital, counted, formatCount, formatLevel, pValueText, rangeText, tableNumber, tableValue, type Unit, withPlus } from '../internal/format.ts'; // prettier-ignore
import { VERSION } from '../internal/version.ts';
import { inWords, unitOf } from '../metrics/metric-markdown.ts';
import type { Subgroup, SubgroupSearch } from '../metrics/subgroups/find-subgroups.ts';

/** Builds the report of a search for subgroups. */
export function subgroupsDocument(search: SubgroupSearch): ReportDocument {
  const { subgroups, columns, metric, n, method } = search;
  return {
    title: 'Subgroups that differ from all other rows',
    subject: `${inWords(metric)} by ${listed(columns.map(({ name }) => name))}; ${counted(n, 'row')}`,
    sections: [
      { title: 'What was found', blocks: [...foundBlocks(search), ...noteBlocks('Warnings', search.warnings.map((text) => `${capital(text)}.`))] }, // prettier-ignore
      {
        title: 'The way to each subgroup',
        blocks: subgroups.length === 0 ? [] : [{ kind: 'picture', chart: () => treeChart(treeOf(search), treeText(search)) }, pathTable(search)], // prettier-ignore
      },
      { title: 'What was not found', blocks: unseenBlocks(search) },
      { title: 'How to read this', blocks: [{ kind: 'list', items: [...HOW_TO_READ, METHODS[method]] }] },
    ],
    made: madeOf(search),
  };
}

/** Returns the report for a terminal: the subgroups, the warnings, and what the numbers do not show. */
export function subgroupsSummary(search: SubgroupSearch): ReportDocument {
  const { subject, title, sections } = subgroupsDocument(search);
  const [found, , unseen] = sections;
  const blocks = [
    ...(found?.blocks ?? []),
    ...(unseen?.blocks ?? []),
    { kind: 'paragraph', text: NOT_A_CAUSE } as const,
  ];
  return { title, subject, sections: [{ title: '', blocks }], made: [] };
}

function foundBlocks(search: SubgroupSearch): ReportBlock[] {
  const { subgroups, metric, alpha, overall, method } = search;
  const unit = unitOf(metric);
  const level = formatLevel(1 - alpha);
  const summary = `${searchedText(search)} ${inWords(metric)} of all rows: ${tableValue(overall, unit)}.`;
  if (subgroups.length === 0) {
    return [
      { kind: 'paragraph', text: `No subgroup differs from the other rows in a way that is distinguishable from chance. ${summary}` }, // prettier-ignore
    ];
  }
  // With max-t, all rows are tested.
  const isSplit = method === 'split';
  return [
    { kind: 'paragraph', text: `${counted(subgroups.length, 'subgroup differs', 'subgroups differ')} from the other rows. ${summary}` }, // prettier-ignore
    {
      kind: 'table',
      caption: `Differences to all other rows${unit === 'share' ? ', in percentage points' : ''}${isSplit ? ', on the tested rows' : ''}; the intervals hold together with probability ${level}`,
      columns: [
        { name: 'Subgroup', isEssential: true, wraps: true },
        numberColumn('n'),
        ...(isSplit ? [numberColumn('Tested')] : []),
        numberColumn('Value'),
        numberColumn('Other rows'),
        valueColumn('Difference'),
        numberColumn('Interval'),
        numberColumn('Adjusted p'),
      ],
      rows: subgroups.map(({ label, n, nTested, value, rest, difference, ci, pAdjusted }) => [
        labelText(label),
        formatCount(n),
        ...(isSplit ? [formatCount(nTested)] : []),
        tableValue(value, unit),
        tableValue(rest, unit),
        differenceText(difference, unit),
        Number.isNaN(ci[0]) ? 'undefined' : rangeText(ci, (end) => differenceText(end, unit)),
        pValueText(pAdjusted),
      ]),
    },
  ];
}

function searchedText({ searched, measured, tested, method, columns, maxDepth, minGroupSize }: SubgroupSearch): string {
  const conditions = counted(Math.min(maxDepth, columns.length), 'condition');
  const rows =
    method === 'split'
      ? `${counted(Math.ceil(minGroupSize / 2), 'row')} in the searched half`
      : counted(minGroupSize, 'row');
  const lattice = `The search covers ${counted(searched, 'subgroup')} of up to ${conditions} on ${counted(columns.length, 'column')}; ${formatCount(measured)} of them have at least ${rows} and were compared.`;
  if (method === 'max-t') return `${lattice} All of these were tested together.`;
  return `${lattice} ${counted(tested, 'candidate')} ${tested === 1 ? 'was' : 'were'} tested on the other half.`;
}

function differenceText(difference: number, unit: Unit): string {
  return withPlus(difference, (size) => tableValue(size, unit));
}

/** Returns the tree of all paths. Paths share their first conditions. */
function treeOf({ subgroups, metric, n, overall }: SubgroupSearch): TreeNode {
  const unit = unitOf(metric);
  interface Growing extends TreeNode {
    isMarked: boolean;
    readonly children: Growing[];
  }
  const remark = `${inWords(metric)} ${tableValue(overall, unit)}, n = ${formatCount(n)}`;
  const root: Growing = { label: 'All rows', remark, isMarked: false, children: [] };
  for (const { path } of subgroups) {
    let at = root;
    for (const [index, { condition, difference, nTested }] of path.entries()) {
      let next = at.children.find(({ label }) => label === condition);
      if (next === undefined) {
        next = {
          label: condition,
          remark: `${differenceText(difference, unit)}, n = ${formatCount(nTested)}`,
          isMarked: false,
          children: [],
        };
        at.children.push(next);
      }
      if (index === path.length - 1) next.isMarked = true;
      at = next;
    }
  }
  return root;
}

function treeText({ method }: SubgroupSearch): { readonly title: string; readonly subtitle: string } {
  return {
    title: 'Conditions of the reported subgroups',
    subtitle: `Difference to all other rows, and ${method === 'split' ? 'tested rows' : 'rows'}. Filled: reported. Hollow: on the way, not tested.`,
  };
}

/** Returns the numbers of the picture. */
function pathTable({ subgroups, metric }: SubgroupSearch): ReportBlock {
  const unit = unitOf(metric);
  return {
    kind: 'table',
    caption: 'Differences on the way: with the first condition, the first two conditions and so on',
    columns: [{ name: 'Subgroup' }, { name: 'Condition by condition', wraps: true }],
    rows: subgroups.map(({ label, path }: Subgroup) => [
      labelText(label),
      path
        .map(
          (step) =>
            `${labelText(step.condition)}: ${differenceText(step.difference, unit)} (n = ${formatCount(step.nTested)})`,
        ) // prettier-ignore
        .join('; '),
    ]),
  };
}

function unseenBlocks({ leftOut, detectable, metric }: SubgroupSearch): ReportBlock[] {
  const unit = unitOf(metric);
  const sizes = detectable.map(({ n, difference }) => `${tableValue(difference, unit)} with ${counted(n, 'row')}`);
  return [
    ...(leftOut.length === 0
      ? []
      : noteBlocks(
          'Subgroups that differ too, but share their rows or their difference with a reported one',
          leftOut.map(({ label, explainedBy }) => `${labelText(label)}: see ${labelText(explainedBy)}.`),
        )),
    {
      kind: 'paragraph',
      text: `A subgroup that is not reported may differ too.${sizes.length === 0 ? '' : ` Minimum detectable difference (80% power), if a subgroup is tested: about ${sizes.join(', ')}.`}`, // prettier-ignore
    },
  ];
}

const NOT_A_CAUSE =
  'A difference is not a cause: it says that the rows of a subgroup differ, not why. It is a reason to look, not a finding of unfair treatment.';

const HOW_TO_READ = [
  NOT_A_CAUSE,
  'A subgroup contains the rows that meet all its conditions. Its value is compared with the value of all other rows together.',
  'Of subgroups with nearly the same rows, and of those whose difference comes from the rows of another one, only one is reported.',
] as const;

const METHODS: Readonly<Record<SubgroupSearch['method'], string>> = {
  split:
    'One random half of the rows was searched, the other half was tested, with Holm’s adjustment, weighted by the rank in the search. The numbers come from the tested half, so that the search does not make them larger.',
  'max-t':
    'The p-values come from replicates in which no subgroup differs: they say how often the largest difference of the whole search would be as large by chance. The values come from the rows that were searched, so the largest differences are likely to be a little too large.',
};

function madeOf(search: SubgroupSearch): [name: string, value: string][] {
  const { method, alpha, seed, candidates, samples, minGroupSize, maxDepth, nClusters, nDropped } = search;
  return [
    ['evenhand', VERSION],
    ['Method', method],
    ['Error of the whole report', tableNumber(alpha)],
    ['Conditions', `up to ${String(maxDepth)}`],
    ['Rows of a subgroup', `at least ${formatCount(minGroupSize)}`],
    ['Candidates', formatCount(candidates)],
    ...(samples === null ? [] : [['Replicates', formatCount(samples)] satisfies [string, string]]),
    ...(nClusters === null ? [] : [['Clusters', formatCount(nClusters)] satisfies [string, string]]),
    ['Rows left out', formatCount(nDropped)],
    ['Seed', String(seed)],
  ];
}
