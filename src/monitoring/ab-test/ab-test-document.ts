import { capital, formatCount, formatShare, pValueText } from '../../internal/format.ts';
import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportVerdict,
} from '../../document/report-document.ts';
import { cutItems, labelText, listed } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import { formatPercent } from '../../metrics/metric-markdown.ts';
import { attributeText } from '../attribute-text.ts';
import type { ABFinding, ABRow, ABTestFields } from './ab-test-fields.ts';
import { comparisonSections } from './comparison-section.ts';
import { changeWords, intervalWords, measureWords, numberWords } from './verdict-words.ts';

/** Findings as short as a table needs them. */
const FINDINGS: Readonly<Record<ABFinding, string>> = {
  worse: 'Worse',
  changed: 'Changed',
  better: 'Better',
  no_change_shown: 'No change shown',
  cannot_tell: 'Cannot tell',
};

/** Above so many pairs the first table shows those with the smallest p-values. */
const MAX_ROWS = 60;

/** What an A/B test found, in the order a reader needs it: the verdict, every change, each comparison, business. */
export function abTestDocument(result: ABTestFields): ReportDocument {
  const { comparisons, business, warnings, settings } = result;
  return {
    title: 'Fairness A/B test',
    subject: `${labelText(settings.outcome)} by ${listed(settings.attributes.map(({ name }) => attributeText(name)))}; ${formatCount(result.n.control)} rows under control, ${formatCount(result.n.treatment)} under treatment`,
    verdict: verdictOf(result),
    sections: [
      {
        title: 'What changed between groups',
        blocks: [...warningBlocks(warnings), ...changeTable(result), { kind: 'facts', facts: factsOf(result) }],
      },
      ...comparisonSections(comparisons, settings, 'fairness'),
      ...comparisonSections(business, settings, 'business'),
      { title: 'The assignment to arms', blocks: [assignmentTable(result)] },
      { title: 'How to read this', blocks: [{ kind: 'list', items: readingOf(result) }] },
    ],
    made: madeOf(result),
  };
}

function verdictOf(result: ABTestFields): ReportVerdict {
  const { finding, verdict } = result;
  const kinds = {
    worse: 'fail',
    better: 'pass',
    changed: 'none',
    no_change_shown: 'none',
    cannot_tell: 'none',
  } as const;
  return {
    kind: kinds[finding],
    title: `${capital(verdict)}.`,
    sentences:
      result.rows.length === 0
        ? ['A disparity needs two groups. What the treatment did to each group stands below.']
        : toldFirst(result).map(sentenceOf),
  };
}

/** The pairs whose sentences stand in the verdict. */
function toldFirst({ finding, rows }: ABTestFields): readonly ABRow[] {
  return rows.filter((row) => row.finding === finding).slice(0, 5);
}

function sentenceOf({ attribute, group, reference, verdict }: ABRow): string {
  return `${attributeText(attribute)}, ${labelText(group)} against ${labelText(reference)}: ${verdict}.`;
}

function warningBlocks(warnings: readonly string[]): ReportBlock[] {
  if (warnings.length === 0) return [];
  return [{ kind: 'note', title: 'Before the numbers', items: cutItems(warnings.map((text) => `${capital(text)}.`)) }];
}

function changeTable(result: ABTestFields): ReportBlock[] {
  const { rows } = result;
  if (rows.length === 0) return [{ kind: 'paragraph', text: 'No attribute has two groups, so nothing was compared.' }];
  const shown =
    rows.length <= MAX_ROWS ? rows : [...rows].sort((a, b) => (a.pValue ?? 2) - (b.pValue ?? 2)).slice(0, MAX_ROWS);
  const cut =
    shown.length < rows.length ? `, the ${String(MAX_ROWS)} with the smallest p-values of ${String(rows.length)}` : '';
  return [
    {
      kind: 'table',
      caption: `Disparities in each arm, and their change${cut}`,
      columns: [
        { name: 'Groups' },
        ...['Control', 'Treatment', 'Change', 'Its interval', 'p', 'Adjusted p', 'Could have shown'].map(numberColumn),
        { name: 'Finding' },
      ],
      rows: shown.map((row) => [
        `${labelText(row.group)} against ${labelText(row.reference)} (${attributeText(row.attribute)}, ${measureWords(row.measure)})`,
        changeWords(row.disparity.control),
        changeWords(row.disparity.treatment),
        changeWords(row.fairnessChange),
        intervalWords(row.interval),
        pValueText(row.pValue),
        pValueText(row.adjustedPValue),
        numberWords(row.detectable),
        FINDINGS[row.finding],
      ]),
    },
    ...otherSentences(result),
  ];
}

/** What was found of pairs that neither the verdict nor a warning tells of. */
function otherSentences(result: ABTestFields): ReportBlock[] {
  const told = new Set(toldFirst(result));
  const isWarnedOf = ({ verdict }: ABRow): boolean =>
    result.warnings.some((text) => text.endsWith(`: ${verdict.replace(/^cannot tell: /, '')}`));
  const others = result.rows.filter((row) => row.finding !== 'no_change_shown' && !told.has(row) && !isWarnedOf(row));
  return others.length === 0 ? [] : [{ kind: 'list', items: cutItems(others.map(sentenceOf)) }];
}

function factsOf({ n, rows, nTests, settings }: ABTestFields): ReportFact[] {
  const tested = rows.filter(({ power }) => power !== null);
  const powers = tested.map(({ power }) => power ?? 0);
  const changes = tested.map(({ detectable }) => detectable ?? 0);
  return [
    {
      name: 'Rows',
      value: formatCount(n.control + n.treatment),
      remark: `${formatCount(n.control)} control, ${formatCount(n.treatment)} treatment`,
    },
    { name: 'Tests', value: String(nTests.fairness), remark: `adjusted together at ${formatPercent(settings.alpha)}` },
    {
      name: 'Looks',
      value: settings.isSequential ? 'any number' : 'one',
      remark: settings.isSequential ? 'may be stopped at any time' : 'at a number of rows fixed in advance',
    },
    {
      name: 'Power',
      value:
        tested.length === 0
          ? 'none'
          : span(
              powers.map((power) => `${(100 * power).toFixed(0)}%`),
              powers,
            ),
      remark: changeRemark(tested),
    },
    {
      name: 'Smallest change to show',
      value:
        tested.length === 0
          ? 'none'
          : span(
              changes.map((change) => change.toPrecision(2)),
              changes,
            ),
      remark: 'with probability 0.8, tested alone',
    },
  ];
}

function changeRemark(tested: readonly ABRow[]): string | undefined {
  const asked = [...new Set(tested.map(({ minimumEffect }) => numberWords(minimumEffect)))];
  return asked.length === 0 ? undefined : `to show a change of ${asked.slice(0, 3).join(', ')}`;
}

/** "12% to 43%", or one number. */
function span(texts: readonly string[], values: readonly number[]): string {
  const low = texts[values.indexOf(Math.min(...values))] ?? '';
  const high = texts[values.indexOf(Math.max(...values))] ?? '';
  return low === high ? low : `${low} to ${high}`;
}

function assignmentTable({ checks: { sampleRatio, byAttribute, overlap }, n }: ABTestFields): ReportBlock {
  const others = byAttribute.map(({ attribute, groups, pValue }) => [
    `The same share in every group of ${attributeText(attribute)}`,
    spanOfShares(groups.map(({ treatmentShare }) => treatmentShare)),
    pValueText(pValue),
  ]);
  const ids =
    overlap === null
      ? []
      : [
          ['Ids in both arms', formatCount(overlap.inBothArms), ''],
          [
            'Rows that repeat an id of their arm',
            formatCount(overlap.repeated.control + overlap.repeated.treatment),
            '',
          ],
        ];
  return {
    kind: 'table',
    caption: `Share of rows in the treatment arm: ${formatCount(n.treatment)} of ${formatCount(n.control + n.treatment)}`,
    columns: [{ name: 'Check' }, numberColumn('Found'), numberColumn('p (chi-square)')],
    rows: [
      [
        `${formatShare(sampleRatio.expected)} of all rows`,
        formatShare(sampleRatio.treatmentShare),
        pValueText(sampleRatio.pValue),
      ],
      ...others,
      ...ids,
    ],
  };
}

function spanOfShares(shares: readonly number[]): string {
  return shares.length === 0
    ? 'no group'
    : span(
        shares.map((share) => `${(100 * share).toFixed(1)}%`),
        shares,
      );
}

function readingOf({ settings }: ABTestFields): string[] {
  const level = formatPercent(1 - settings.alpha);
  return [
    'A disparity is a group minus the group that it is compared with. Its change is the disparity under treatment minus that under control, which is also the effect on the group minus the effect on the other.',
    'Fairness got worse, or better, where the disparity is shown to be larger, or smaller, in size. A disparity that turned around has changed, and may be as large as it was.',
    `Intervals have the level ${level}, each by itself. The adjusted p decides: of the changes claimed at ${formatPercent(settings.alpha)}, no larger share is false on average (Benjamini and Hochberg).`,
    settings.isSequential
      ? 'These p-values and intervals hold however often one looks, as an approximation from some tens of rows a cell on. They are wider than those of one look.'
      : 'These p-values hold for one look at a number of rows fixed in advance. Looking again and again until something shows makes them wrong: use the sequential mode for that.',
    'No change shown is not proof of no change: see what this number of rows could have shown.',
    'A gap can close because one group gains or because the other loses: the effects on each group say which.',
  ];
}

function madeOf({ settings }: ABTestFields): [name: string, value: string][] {
  const given = (value: number | string | null): string => (value === null ? 'by the measure' : String(value));
  return [
    ['evenhand', VERSION],
    ['Outcome', settings.outcome],
    ['Metrics', settings.fairness.join(', ')],
    ['True labels', settings.yTrue ?? 'none'],
    ['Business metrics', settings.business.join(', ') || 'none'],
    ['Weights', settings.sampleWeight ?? 'none'],
    ['Alpha', String(settings.alpha)],
    ['Mode', settings.isSequential ? `sequential, tau ${given(settings.tau)}` : 'fixed number of rows'],
    ['Change for power', given(settings.minimumEffect)],
    ['Smallest group', String(settings.minGroupSize)],
    ['Treatment share expected', String(settings.treatmentShare)],
    ['Seed', String(settings.seed)],
  ];
}
