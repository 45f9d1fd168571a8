import { capital, formatCount, formatLevel, formatShare, pValueText } from '../../internal/format.ts';
import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportVerdict,
  valueColumn,
} from '../../document/report-document.ts';
import { cutItems, labelText, listed } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import { attributeText } from '../attribute-text.ts';
import type { ABFinding, ABRow, ABTestFields, PerArm } from './ab-test-fields.ts';
import { comparisonSections } from './comparison-section.ts';
import { changeWords, intervalWords, measureWords, numberWords } from './verdict-words.ts';

/** The short names of the findings, for tables. */
const FINDINGS: Readonly<Record<ABFinding, string>> = {
  worse: 'Worse',
  changed: 'Changed',
  better: 'Better',
  no_change_shown: 'No change shown',
  cannot_tell: 'Inconclusive',
};

/**
 * The maximum number of rows in the first table. If there are more pairs, the table shows only the pairs with the
 * smallest p-values.
 */
const MAX_ROWS = 60;

/** The kind of the report's verdict for the findings `worse` and `better`. Other findings have the kind 'none'. */
const VERDICTS: Partial<Record<ABFinding, ReportVerdict['kind']>> = { worse: 'fail', better: 'pass' };

/**
 * Returns the report of an A/B test: the verdict, a table of all changes, a section for each comparison, and the
 * business metrics.
 * @param arms the labels of the arms, if they were read from a column
 */
export function abTestDocument(result: ABTestFields, arms?: PerArm<string>): ReportDocument {
  const { comparisons, business, warnings, settings } = result;
  const named = (arm: keyof PerArm): string => (arms === undefined ? arm : `${arm} ('${labelText(arms[arm])}')`);
  return {
    title: 'Fairness A/B test',
    subject: `${labelText(settings.outcome)} by ${listed(settings.attributes.map(({ name }) => attributeText(name)))}; ${formatCount(result.n.control)} rows under ${named('control')}, ${formatCount(result.n.treatment)} under ${named('treatment')}`,
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
  return {
    kind: VERDICTS[finding] ?? 'none',
    title: `${capital(verdict)}.`,
    sentences:
      result.rows.length === 0
        ? ['A disparity needs two groups. The effects on each group are listed below.']
        : reportedFirst(result).map(sentenceOf),
  };
}

/** Returns the pairs of groups that the verdict describes. */
function reportedFirst({ finding, rows }: ABTestFields): readonly ABRow[] {
  return rows.filter((row) => row.finding === finding).slice(0, 5);
}

function sentenceOf({ attribute, group, reference, verdict }: ABRow): string {
  return `${attributeText(attribute)}, ${labelText(group)} vs. ${labelText(reference)}: ${verdict}.`;
}

function warningBlocks(warnings: readonly string[]): ReportBlock[] {
  if (warnings.length === 0) return [];
  return [{ kind: 'note', title: 'Read this first', items: cutItems(warnings.map((text) => `${capital(text)}.`)) }];
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
      caption: `Disparities in each arm, and their changes${cut}`,
      columns: [
        { name: 'Groups', wraps: true },
        ...['Control', 'Treatment', 'Change'].map(valueColumn),
        ...['Interval', 'p', 'Adjusted p', 'Minimum detectable (80% power)'].map(numberColumn),
        { name: 'Finding', isEssential: true, wraps: true },
      ],
      rows: shown.map((row) => [
        `${labelText(row.group)} vs. ${labelText(row.reference)} (${attributeText(row.attribute)}, ${measureWords(row.measure)})`,
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

/** Returns sentences about pairs that neither the verdict nor a warning describes. */
function otherSentences(result: ABTestFields): ReportBlock[] {
  const reported = new Set(reportedFirst(result));
  const isWarnedOf = ({ verdict }: ABRow): boolean =>
    result.warnings.some((text) => text.endsWith(`: ${verdict.replace(/^inconclusive: /, '')}`));
  const others = result.rows.filter(
    (row) => row.finding !== 'no_change_shown' && !reported.has(row) && !isWarnedOf(row),
  );
  return others.length === 0 ? [] : [{ kind: 'list', items: cutItems(others.map(sentenceOf)) }];
}

function factsOf({ n, rows, nTests, settings }: ABTestFields): ReportFact[] {
  const tested = rows.filter(({ power }) => power !== null);
  return [
    {
      name: 'Rows',
      value: formatCount(n.control + n.treatment),
      remark: `${formatCount(n.control)} control, ${formatCount(n.treatment)} treatment`,
    },
    { name: 'Tests', value: String(nTests.fairness), remark: `adjusted together at ${formatLevel(settings.alpha)}` },
    {
      name: 'Analyses',
      value: settings.isSequential ? 'any number' : 'one',
      remark: settings.isSequential ? 'the experiment may stop at any time' : 'at a number of rows fixed in advance',
    },
    {
      name: 'Power',
      value: span(
        tested.map(({ power }) => power ?? 0),
        (power) => formatShare(power, 0),
      ),
      remark: changeRemark(tested),
    },
    {
      name: 'Minimum detectable difference',
      value: span(
        tested.map(({ detectable }) => detectable ?? 0),
        (change) => change.toPrecision(2),
      ),
      remark: '80% power, p-values not adjusted',
    },
  ];
}

function changeRemark(tested: readonly ABRow[]): string | undefined {
  const asked = [...new Set(tested.map(({ minimumEffect }) => numberWords(minimumEffect)))];
  return asked.length === 0 ? undefined : `to detect a change of ${asked.slice(0, 3).join(', ')}`;
}

/** Returns a range such as "12% to 43%", or a single value. */
function span(values: readonly number[], text: (value: number) => string, empty = 'none'): string {
  if (values.length === 0) return empty;
  const [low, high] = [text(Math.min(...values)), text(Math.max(...values))];
  return low === high ? low : `${low} to ${high}`;
}

function assignmentTable({ checks: { sampleRatio, byAttribute, overlap }, n }: ABTestFields): ReportBlock {
  const others = byAttribute.map(({ attribute, groups, pValue }) => [
    `Same share in every group of ${attributeText(attribute)}`,
    span(
      groups.map(({ treatmentShare }) => treatmentShare),
      (share) => `${(100 * share).toFixed(1)}%`,
      'no group',
    ),
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

function readingOf({ settings }: ABTestFields): string[] {
  const level = formatLevel(1 - settings.alpha);
  return [
    'A disparity is the value of a group minus that of its reference group. Its change is the disparity under treatment minus that under control. This equals the effect on the group minus the effect on the reference group.',
    'Fairness got worse (better) if the size of the disparity is shown to have increased (decreased). A disparity that changed its sign has changed, but may be as large as before.',
    `Each interval separately has the level ${level}. The adjusted p determines the finding: on average, at most ${formatLevel(settings.alpha)} of the reported changes are false (Benjamini and Hochberg).`,
    settings.isSequential
      ? 'These p-values and intervals hold for any number of interim analyses. They are approximate, and need at least some tens of rows per cell. The intervals are wider than those of a single analysis.'
      : 'These p-values hold for a single analysis at a number of rows fixed in advance. Repeating the analysis until a result is significant makes them invalid; use the sequential mode instead.',
    '"No change shown" does not prove that nothing changed: see the minimum detectable difference.',
    'A gap can close because one group gains or because the other loses. The effects on each group show which.',
  ];
}

function madeOf({ settings }: ABTestFields): [name: string, value: string][] {
  const given = (value: number | string | null): string => (value === null ? 'depends on the measure' : String(value));
  return [
    ['evenhand', VERSION],
    ['Outcome', settings.outcome],
    ['Metrics', settings.fairness.join(', ')],
    ['True labels', settings.yTrue ?? 'none'],
    ['Business metrics', settings.business.join(', ') || 'none'],
    ['Weights', settings.sampleWeight ?? 'none'],
    ['Clusters', settings.cluster ?? 'none'],
    ['Alpha', String(settings.alpha)],
    ['Mode', settings.isSequential ? `sequential, tau ${given(settings.tau)}` : 'fixed number of rows'],
    ['Change for power', given(settings.minimumEffect)],
    ['Minimum group size', String(settings.minGroupSize)],
    ['Expected treatment share', String(settings.treatmentShare)],
    ['Seed', String(settings.seed)],
  ];
}
