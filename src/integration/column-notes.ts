import { quoteArgument } from '../document/provenance.ts';
import { counted, nameSome } from '../internal/format.ts';
import { missingRows, sharesInWords, isUnevenlyMissing } from '../metrics/compare/missing-rows.ts';
import type { ImpactRatioOptions, ImpactRatios, ImpactTable } from '../metrics/impact-ratios.ts';
import type { ValidateRequest } from '../schemas/validate-values.ts';
import {
  type FirstRows,
  numberOfCell,
  partlyRepeatedIn,
  readingOfGroups,
  readingWarnings,
  type RepeatedIdentifier,
  repeatedIdentifiersIn,
  withoutAccents,
} from '../table/index.ts';
import { metricNamesOf } from './gates.ts';
import { codedScoreNotes, favourableNotes, groupNotes } from './reading-notes.ts';

/** Returns notes on columns whose names say that they may be meant in another sense than they are read. */
export function nameNotes(request: ValidateRequest): readonly string[] {
  const hasRatio = metricNamesOf(request).some((name) => name.endsWith('_ratio'));
  return [...swappedNotes(request), ...(hasRatio ? unfavourableNotes(request) : [])];
}

/**
 * Returns notes on the columns of a file that may be read in another sense than meant: from the names of all columns, and
 * the values of the first rows.
 */
export function columnNotes(request: ValidateRequest, rows: FirstRows): readonly string[] {
  // Values and small counts of rows would be in the report.
  if (request.minCell !== undefined) return nameNotes(request);
  return [
    ...nameNotes(request),
    ...countNotes(request, rows).map(
      ({ name, note }) =>
        `${note}. If it is, use it: --sample-weight ${quoteArgument(name)}, in code and in requests the option for weights, or give a table of counts (--counts)`,
    ),
    ...groupedThousandNotes(request, rows),
    ...(request.cluster === undefined && request.strata === undefined ? clusterNotes(rows, usedColumns(request)) : []),
  ];
}

/** Returns notes on the people of impact ratios, and on the columns of their first rows. */
export function impactRatioNotes(
  { tables }: ImpactRatios,
  { selected, score, sex, raceEthnicity, positiveLabel, naValues }: ImpactRatioOptions,
  rows: FirstRows | undefined,
): readonly string[] {
  const roles = { yPred: selected, score, attributes: [[sex], [raceEthnicity]], positiveLabel, naValues: naValues && [...naValues] }; // prettier-ignore
  const groups = [sex, raceEthnicity].map((name, index) => ({
    name,
    counts: new Map(tables[index]?.categories.map(({ category, applicants }) => [String(category[0]), applicants])),
  }));
  const readings = groups.flatMap(({ name, counts }) =>
    readingOfGroups(
      name,
      Array.from(counts, ([label, count]) => ({ label, count, value: 0 })),
      naValues,
    ),
  );
  return [
    ...unfavourableNotes(roles),
    ...tables.slice(0, groups.length).flatMap((table, index) => withoutOutcomeNotes(table, groups[index]?.name ?? '')),
    ...readingWarnings(readings),
    ...groupNotes(
      groups.map(({ name }) => name),
      groups.map(({ counts }) => counts),
    ),
    ...(rows === undefined
      ? []
      : [
          ...favourableLabelNotes(roles, rows),
          ...countNotes(roles, rows).map(({ note }) => `${note}. If it is, write one row for each person`),
          ...groupedThousandNotes(roles, rows),
          ...codedScoreNotes(scoresOf(rows, roles)),
          ...repeatedIdentifiersIn(rows, usedColumns(roles)).map(countedRowsNote),
        ]),
  ];
}

/** The seed of the test of missing outcomes, which draws random numbers only if categories are small. */
const SEED = 42;

/** Notes outcomes that are missing more often in one category than in another, by more than chance. */
function withoutOutcomeNotes({ categories, unmeasured }: ImpactTable, name: string): string[] {
  const advice = 'If they are people who were not selected, write their outcome: the ratios change';
  if (unmeasured.length > 0) {
    return [
      `no row of ${counted(unmeasured.length, 'category', 'categories')} of '${name}' has an outcome, so that there is no rate: ${nameSome(unmeasured.flat())}. ${advice}`,
    ];
  }
  const counts = {
    dropped: Float64Array.from(categories, ({ withoutOutcome }) => withoutOutcome),
    kept: Float64Array.from(categories, ({ applicants }) => applicants),
  };
  const labels = categories.map(({ category }) => category.join(', '));
  const { rows } = missingRows(counts, labels, SEED);
  if (!isUnevenlyMissing(rows)) return [];
  return [
    `rows without an outcome are not equally common in all categories of '${name}' ${sharesInWords(rows, counts, labels)}. ${advice}`,
  ];
}

/** Notes a label such as 'hired' that is negative among the first rows, while another label is the positive one. */
function favourableLabelNotes({ yPred, positiveLabel }: Roles, { names, rows }: FirstRows): string[] {
  const column = yPred === undefined ? -1 : names.indexOf(yPred);
  if (column < 0 || positiveLabel === undefined) return [];
  const others = new Set(rows.map((row) => row[column] ?? '').filter((label) => label !== positiveLabel));
  const negative = Object.fromEntries([...others].map((label) => [label, 1]));
  return favourableNotes({ y_pred: { positive: { [positiveLabel]: 1 }, negative, missing: {} } });
}

/** The columns of a file whose role is known, and how they are read. */
type Roles = Pick<
  ValidateRequest,
  'attributes' | 'control' | 'yPred' | 'score' | 'yTrue' | 'sampleWeight' | 'positiveLabel' | 'naValues'
>;

/** Matches names of columns of true labels, and of predictions. */
const TRUTH_NAME = /^(y[_ ]?true|true[_ ]?(label|outcome)s?|ground[_ ]?truth|actual)$/i;
const PREDICTION_NAME = /^(y[_ ]?(pred|hat)|predict(ed|ions?)|pred)$/i;

function swappedNotes({ yPred, yTrue }: Roles): string[] {
  if (yPred === undefined || yTrue === undefined) return [];
  if (!TRUTH_NAME.test(yPred) && !PREDICTION_NAME.test(yTrue)) return [];
  return [
    `column '${yPred}' is read as the decisions, and '${yTrue}' as the true labels, though their names say the opposite. Swap them if that is not meant`,
  ];
}

/** Matches names of columns of unfavourable decisions, in English, German, French and Spanish. */
const UNFAVOURABLE_NAME =
  /(^|[^a-z])(reject(ed|ion)?|den(ied|ial)|declined?|refused|refusal|failed|abgelehnt|ablehnung|absage|refuse|rejete|rechazad[oa]|denegad[oa])([^a-z]|$)/;

/** Labels that deny what the name of their column says. */
const NO_LABELS = new Set(['0', 'false', 'no', 'n', 'nein', 'non']);

/** Notes ratios of the rates of rejection, which can be near 1 although those of acceptance are not. */
function unfavourableNotes({ yPred, positiveLabel }: Roles): string[] {
  if (yPred === undefined || !UNFAVOURABLE_NAME.test(withoutAccents(yPred))) return [];
  if (positiveLabel !== undefined && NO_LABELS.has(withoutAccents(positiveLabel.trim()))) return [];
  return [
    `column '${yPred}' seems to hold unfavourable decisions, and its positive label is the unfavourable one. A ratio of rates is not the same for the opposite: for the ratio of acceptance, name the other label with --positive-label, in code positiveLabel`,
  ];
}

/** Matches names of columns of counts or weights, in English, German, French and Spanish. */
const COUNT_NAME =
  /^(n|nb|counts?|freq(uency)?|n_?(rows|people|persons|cases|applicants|total)|people|persons|applicants|head_?count|(sample_?)?(weights?|wgts?)|anzahl|haufigkeit|gewichte?|effectifs?|poids|conteo|cantidad|frecuencia|pesos?)$/;

/** Notes an unused column of counts or weights: rows that stand for several people would count once. */
function countNotes(roles: Roles, { names, rows, decimal }: FirstRows): { name: string; note: string }[] {
  if (roles.sampleWeight !== undefined) return [];
  const used = usedColumns(roles);
  return names.flatMap((name, column) => {
    if (used.has(name) || !COUNT_NAME.test(withoutAccents(name.trim()))) return [];
    const values = rows.map((row) => numberOfCell(row[column] ?? '', decimal));
    const distinct = new Set(values);
    // Ones weigh nothing, and the number of a row is different in each row.
    const isCount =
      distinct.size > 1 && distinct.size < values.length && values.every((value) => value !== undefined && value >= 0);
    if (!isCount) return [];
    return [
      {
        name,
        note: `column '${name}' looks like the number of people or the weight of each row, but each row counts once`,
      },
    ];
  });
}

/** How many times larger the usual whole number is than each number with a fraction, if the fraction is none. */
const THOUSANDS_FACTOR = 20;

/** The smallest number of values from which a pattern is no coincidence. */
const MIN_REPEATED = 5;

/** Notes scores such as 998 and 1.002, in which the separator of the decimals seems to group thousands. */
function groupedThousandNotes({ score }: Roles, { names, rows, decimal = '.' }: FirstRows): string[] {
  const column = score === undefined ? -1 : names.indexOf(score);
  if (column < 0) return [];
  const cells = rows.map((row) => (row[column] ?? '').trim());
  const fractions = cells.filter((cell) => cell.includes(decimal));
  const whole = cells
    .filter((cell) => /^\d+$/.test(cell))
    .map(Number)
    .sort((a, b) => a - b);
  const isGrouped = (cell: string): boolean => /^[1-9]\d{0,2}[.,]\d{3}$/.test(cell);
  if (fractions.length < MIN_REPEATED || whole.length < MIN_REPEATED || !fractions.every(isGrouped)) return [];
  const largest = fractions.reduce((most, cell) => Math.max(most, Number(cell.replace(',', '.'))), 0);
  if ((whole[Math.floor(whole.length / 2)] as number) < THOUSANDS_FACTOR * largest) return [];
  const sign = decimal === '.' ? 'point' : 'comma';
  return [
    `the ${sign} in values such as '${fractions[0] as string}' of column '${names[column] as string}' seems to group thousands, because others are as large as '${String(whole.at(-1))}', but it is read as a decimal ${sign}. Write the numbers without it`,
  ];
}

/** Returns the known scores of the first rows; none if there is no column of scores. */
export function scoresOf({ names, rows, decimal }: FirstRows, { score, naValues = [] }: Roles): readonly number[] {
  const column = score === undefined ? -1 : names.indexOf(score);
  if (column < 0) return [];
  // A text such as 999 also means the missing value 999.0.
  const missing = new Set(naValues.map((text) => numberOfCell(text, decimal)));
  return rows.flatMap((row) => {
    const score = numberOfCell(row[column] ?? '', decimal);
    return score === undefined || missing.has(score) ? [] : score;
  });
}

/** Returns the columns whose role is known. */
function usedColumns(roles: Roles): ReadonlySet<string> {
  const { attributes, control = [], yPred, score, yTrue, sampleWeight } = roles;
  const used = [...attributes.flat(), ...control, yPred, score, yTrue, sampleWeight];
  return new Set(used.filter((name) => name !== undefined));
}

/**
 * Notes columns whose values look like people or things with several rows, for numbers that take rows as independent.
 * @param used the columns whose role is known
 */
export function clusterNotes(rows: FirstRows, used: ReadonlySet<string>): string[] {
  const cluster = (name: string): string => `name it as the cluster (${clusterOption({ name })}), in code and in requests with the option cluster`; // prettier-ignore
  return [
    ...repeatedIdentifiersIn(rows, used).map(
      (own) =>
        `${rowsOfValue(own)}. If the rows of a value depend on each other, the intervals are too narrow: ${cluster(own.name)}`,
    ),
    ...partlyRepeatedIn(rows, used).map(
      ({ name, repeated }) =>
        `${counted(repeated, 'row repeats', 'rows repeat')} a value of column '${name}', and each row counts. If they are copies, for example of a join or of another file, keep one of each; if they are further rows of a person, ${cluster(name)}`,
    ),
  ];
}

/** Notes the names of a file that look like a row of data, which is not counted. */
export function headerNotes(title: string, { names, rows, decimal, hasLineOfNames }: FirstRows): string[] {
  if (!hasLineOfNames) return [];
  // Files that were joined may repeat the names.
  const others = rows.filter((row) => names.some((name, column) => row[column] !== name));
  const isData = (name: string, column: number): boolean =>
    numberOfCell(name, decimal) !== undefined || others.some((row) => row[column] === name);
  if (rows.length === 0 || !names.every(isData)) return [];
  return [
    `the first line of ${title} looks like data and not like names of columns: ${nameSome(names)}. It is not counted. If it is data, add a line with names above it`,
  ];
}

/** Notes a column that looks like people with several rows, for a report that counts each row as a person. */
function countedRowsNote(found: RepeatedIdentifier): string {
  return `${rowsOfValue(found)}, and each row is counted. If a value stands for one person, keep one row for each person; 'evenhand validate' with ${clusterOption(found)} compares rates with several rows per person`;
}

/**
 * Notes columns that look like people or things with several rows each, if some of the rows are held out: their other
 * rows may be trained on.
 * @param used the columns whose role is known
 */
export function heldOutRowsNotes(rows: FirstRows, used: readonly string[]): string[] {
  return namedIdentifiersIn(rows, used).map(heldOutRowsNote);
}

/** Finds repeated identifiers by their names. Other texts, such as descriptions of a charge, may repeat for other reasons. */
function namedIdentifiersIn(rows: FirstRows, used: readonly string[]): RepeatedIdentifier[] {
  return repeatedIdentifiersIn(rows, new Set(used)).filter(({ isNamed }) => isNamed);
}

function heldOutRowsNote(found: RepeatedIdentifier): string {
  return `${rowsOfValue(found)}, and some may be trained on while others are held out. If the rows of a value depend on each other, the held-out values are better than on new ones: 'evenhand run-pipeline' with the key cluster keeps them together`;
}

/**
 * Notes columns that look like people or things with several events, for alarms that take events as independent, and
 * events that may be in the file twice.
 * @param used the columns whose role is known
 * @param hasIds whether events have ids, so that no event counts twice
 */
export function dependentEventsNotes(rows: FirstRows, used: readonly string[], hasIds: boolean): string[] {
  return [
    ...namedIdentifiersIn(rows, used).map(
      (found) =>
        `${rowsOfValue(found)}. If the events of a value depend on each other, false alarms are more frequent than promised: give one event for each of them and each period`,
    ),
    ...(hasIds ? [] : partlyRepeatedIn(rows, new Set(used))).map(
      ({ name, repeated }) =>
        `${counted(repeated, 'event repeats', 'events repeat')} a value of column '${name}', and each event counts. If they are the same events again, name the column, so that each counts once: --id ${quoteArgument(name)}; if they are further events of a person, give one for each period`,
    ),
  ];
}

function rowsOfValue({ name, meanCount }: RepeatedIdentifier): string {
  return `column '${name}' has about ${meanCount.toFixed(1)} rows for each of its values`;
}

function clusterOption({ name }: Pick<RepeatedIdentifier, 'name'>): string {
  return `--cluster ${quoteArgument(name)}`;
}
