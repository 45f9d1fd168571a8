import {
  capital,
  counted,
  formatCount,
  formatNumber,
  formatShare,
  NOTHING,
  pValueText,
  tableCount,
} from '../internal/format.ts';
import { VERSION } from '../internal/version.ts';
import { type ImpactCategory, type ImpactRatios, type ImpactTable } from '../metrics/impact-ratios.ts';
import {
  noteBlocks,
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportTable,
  valueColumn,
} from './report-document.ts';
import { labelText } from './report-text.ts';

/** The names of the tables, and of the columns with their categories. */
const NAMES: Readonly<Record<ImpactTable['by'], readonly [title: string, columns: readonly string[]]>> = {
  sex: ['Sex', ['Sex']],
  race_ethnicity: ['Race or ethnicity', ['Race or ethnicity']],
  sex_and_race_ethnicity: ['Sex and race or ethnicity', ['Sex', 'Race or ethnicity']],
};

const SOURCE =
  'The columns follow the rules of New York City on automated employment decision tools: title 6 of the Rules of the City of New York, sections 5-300 to 5-304 (effective 6 May 2023, enforced since 5 July 2023).';

/**
 * Describes impact ratios for every text format: a table of each characteristic, and what the numbers do not show.
 * @param notes notes on the rows, without the full stop
 */
export function impactRatioDocument(result: ImpactRatios, notes: readonly string[] = []): ReportDocument {
  const { kind, n, nWithoutOutcome, medianScore } = result;
  return {
    title: 'Impact ratios',
    subject: `${counted(n, 'row')} with ${kind === 'scoring' ? 'a score' : 'a decision'}`,
    sections: [
      {
        title: 'Data',
        blocks: [
          {
            kind: 'facts',
            facts: [
              { name: 'Rows counted', value: formatCount(n) },
              { name: 'Rows without an outcome', value: formatCount(nWithoutOutcome), remark: 'counted nowhere' },
              ...(medianScore === null
                ? []
                : [{ name: 'Median score', value: String(medianScore), remark: 'of all rows counted' }]),
              ...result.tables.map((table) => ({
                name: `Unknown ${unknownOf(table)}`,
                value: formatCount(table.unknown),
                remark: 'in no category of its table',
              })),
            ],
          },
          ...noteBlocks(
            'Before you quote these values',
            notes.map((note) => `${capital(note)}.`),
          ),
          ...exclusionBlocks(result),
        ],
      },
      ...result.tables.map((table) => ({ title: NAMES[table.by][0], blocks: tableBlocks(table, result) })),
      { title: 'How to read this', blocks: [{ kind: 'list' as const, items: howToRead(result) }] },
    ],
    made: [['evenhand', VERSION]],
  };
}

function unknownOf({ by }: ImpactTable): string {
  if (by === 'sex_and_race_ethnicity') return 'sex, or race or ethnicity';
  return by === 'sex' ? 'sex' : 'race or ethnicity';
}

function exclusionBlocks({ excludeBelow, justification, tables }: ImpactRatios): ReportBlock[] {
  if (justification === null) return [];
  const excluded = tables.flatMap(({ categories }) => categories.filter(({ isExcluded }) => isExcluded));
  return noteBlocks(`Categories under ${formatShare(excludeBelow)} of the rows have no impact ratio`, [
    `${counted(excluded.length, 'category', 'categories')} of all tables. Their numbers and rates are in the tables.`,
    `Justification: ${justification}`,
  ]);
}

function tableBlocks(table: ImpactTable, { kind }: ImpactRatios): ReportBlock[] {
  const { by, categories, mostSelected, unknown, unmeasured } = table;
  const [title, names] = NAMES[by];
  const [selected, rate] = kind === 'scoring' ? ['Above median', 'Scoring rate'] : ['Selected', 'Selection rate'];
  const shown: ReportTable = {
    kind: 'table',
    caption: title,
    columns: [
      ...names.map((name) => ({ name })),
      numberColumn('Applicants'),
      numberColumn(selected),
      valueColumn(rate),
      valueColumn('Impact ratio'),
      { name: 'Four-fifths rule' },
      numberColumn('p (Fisher)'),
      numberColumn('p (Holm)'),
    ],
    rows: categories.map((one) => [
      ...one.category.map(labelText),
      tableCount(one.applicants),
      tableCount(one.selected),
      formatShare(one.rate),
      ratioText(one),
      fourFifthsText(one),
      pValueText(one.pValue),
      pValueText(one.adjustedPValue),
    ]),
  };
  const most =
    mostSelected === null
      ? 'Nobody was selected, so there is no impact ratio.'
      : `Compared to the category with the highest rate: ${mostSelected.map(labelText).join(', ')}.${fewOf(table)}`;
  const lost = unmeasured.map((category) => category.map(labelText).join(', '));
  return [
    shown,
    {
      kind: 'paragraph',
      text: `${most} Not included, because the category is unknown: ${counted(unknown, 'row')}.${lost.length === 0 ? '' : ` Not included, because no row has an outcome: ${lost.join('; ')}.`}`,
    },
  ];
}

/** The number of applicants below which the rate of a category depends on a few people. */
const FEW_APPLICANTS = 30;

/** Returns a warning with a space in front if the category to which all are compared has few applicants. */
function fewOf({ categories, mostSelected }: ImpactTable): string {
  const isMost = ({ category }: ImpactCategory): boolean =>
    category.every((name, index) => name === mostSelected?.[index]);
  const applicants = categories.find(isMost)?.applicants ?? Infinity;
  if (applicants >= FEW_APPLICANTS) return '';
  return ` Warning: it has ${counted(applicants, 'applicant')}, so that every impact ratio of this table depends on a few people. --exclude-below can leave it out.`;
}

function ratioText({ isExcluded, impactRatio }: ImpactCategory): string {
  if (isExcluded) return 'excluded';
  return impactRatio === null ? NOTHING : formatNumber(impactRatio, 3);
}

function fourFifthsText({ isBelowFourFifths }: ImpactCategory): string {
  if (isBelowFourFifths === null) return NOTHING;
  return isBelowFourFifths ? 'below 0.8' : '0.8 or above';
}

function howToRead({ kind }: ImpactRatios): string[] {
  return [
    SOURCE,
    'Each row counts as one applicant.',
    kind === 'scoring'
      ? 'The scoring rate is the share of a category with a score above the median score of all rows. Equal scores at the median are not above it.'
      : 'The selection rate is the share of a category that was selected.',
    'The impact ratio is the rate of a category divided by the highest rate in the same table. Rates are rounded for display only.',
    "The four-fifths rule (29 CFR 1607.4 D) regards a ratio below 0.8 as evidence of adverse impact in general. Smaller differences can matter too if they are significant, and larger ones may not if the numbers are small. The p-value of Fisher's exact test shows how often so large a difference from the highest rate occurs by chance alone. The second p-value is adjusted for all comparisons of its table (Holm).",
    'These numbers do not decide whether a law is met. They do not show why rates differ, whether the outcome is related to the job, or whether the data are complete.',
  ];
}
