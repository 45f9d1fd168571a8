import type { Column } from './column.ts';
import { countLabels } from './column-reading.ts';
import { hasDecimalComma } from './decimal-commas.ts';
import { labelValue } from './label-values.ts';
import { asNumbersWithout, MISSING_TEXTS } from './missing-values.ts';
import { isFavourable, withoutAccents } from './positive-label.ts';
import { namesIdentifiers, repeatedIdentifier, type RepeatedIdentifier } from './repeated-identifier.ts';
import type { Table } from './table.ts';
import { readLabels, toBinary } from './to-binary.ts';

/** A column whose role was guessed, and the reason for the guess. */
export interface ColumnGuess {
  readonly column: string;
  readonly reason: string;
}

/** The roles that columns seem to have. A role is undefined if no column seems to have it. */
export interface ColumnGuesses {
  readonly decision: ColumnGuess | undefined;
  readonly truth: ColumnGuess | undefined;
  readonly score: ColumnGuess | undefined;
  readonly weight: ColumnGuess | undefined;
  /** The column of people or other units that have several rows each. */
  readonly cluster: ColumnGuess | undefined;
  readonly sensitive: readonly ColumnGuess[];
  /** Columns whose names suggest a role that their values do not allow, with the reason. */
  readonly passedOver: readonly ColumnGuess[];
}

/**
 * Words in column names that suggest a role, in English, German, French and Spanish, including column names of the
 * American Community Survey.
 */
const SENSITIVE = wordsOf(
  `sex gender race rac1p ethnicity ethnic age agep agegroup ageband agerange religion disability nationality
  geschlecht alter altersgruppe herkunft ethnie behinderung nationalität staatsangehörigkeit
  sexe âge origine handicap nationalité sexo género edad raza etnia religión discapacidad nacionalidad`,
);
const DECISION = wordsOf(
  `decision approved accepted admitted granted hired selected offered shortlisted invited pred predicted prediction yhat output
  entscheidung bewilligt genehmigt angenommen zugelassen eingestellt vorhersage
  accepté accordé approuvé admis embauché prédiction decisión aceptado aprobado admitido concedido contratado predicción`,
);
const TRUTH = wordsOf(
  `truth true actual label target outcome class repaid default defaulted
  ergebnis ausfall ausgefallen zurückgezahlt résultat défaut remboursé resultado impago`,
);
const SCORE = wordsOf(
  `score scores prob proba probability risk propensity
  wahrscheinlichkeit risiko probabilité risque puntuación puntaje probabilidad riesgo`,
);

/** The words of {@link SENSITIVE} for the age of people. */
const AGES = wordsOf('age agep alter âge edad');

/**
 * Complete column names of row weights, without separators. The name "weight" alone is not included, because it may
 * mean the weight of a person.
 */
const WEIGHTS = wordsOf(
  'sampleweight sampleweights surveyweight caseweight rowweight instanceweight weights fnlwgt pwgtp',
);

/** A column with more than this number of groups is never guessed to be a sensitive column. */
const MAX_GROUPS = 20;

/** The maximum number of distinct texts of a feature. Each text becomes an input column of the model. */
const MAX_TEXTS = 50;

/** The minimum number of rows, and of rows per label, that are needed to draw conclusions from how values vary. */
const [MIN_ROWS, MIN_ROWS_PER_LABEL] = [20, 10];

/** Words in column names that suggest an identifier. */
const IDENTIFIER = wordsOf('id ids idx index uuid guid key number no nr num');

/**
 * Guesses the roles of columns from their names and values. A sensitive column is guessed only by its name. If no name
 * suggests decisions or true labels, the last column is guessed to contain true labels if it has two values. Published
 * data sets usually have the true labels in the last column.
 */
export function guessColumns(table: Table): ColumnGuesses {
  const found = table.columnNames.map((name) => guessRole(name, table.column(name)));
  const withRole = (role: Role): ColumnGuess[] =>
    found.flatMap((one) => (one?.role === role ? [{ column: one.column, reason: one.reason }] : []));
  const [decision] = withRole('decision');
  const [truth] = withRole('truth');
  const withoutRole = table.columnNames.filter((_, index) => found[index] === undefined);
  const isTaken = decision !== undefined || found.at(-1) !== undefined;
  return {
    decision,
    truth: truth ?? (isTaken ? undefined : lastColumn(table)),
    score: withRole('score')[0],
    weight: withRole('weight')[0],
    cluster: guessCluster(table, withoutRole),
    sensitive: withRole('sensitive'),
    passedOver: withRole('passed over'),
  };
}

type Role = 'decision' | 'truth' | 'score' | 'weight' | 'sensitive' | 'passed over';

interface RoleGuess extends ColumnGuess {
  readonly role: Role;
}

function guessRole(name: string, column: Column): RoleGuess | undefined {
  const words = wordsInName(name);
  const suggests = (known: ReadonlySet<string>): boolean => [...words].some((word) => known.has(word));
  const guess = (role: Role, reason: string): RoleGuess => ({ role, column: name, reason });
  if (suggests(SENSITIVE)) {
    const groups = knownLabels(column).length;
    if (groups < 2) return guess('passed over', groups === 0 ? 'has no value' : 'has only one value');
    if (groups <= MAX_GROUPS) return guess('sensitive', `its name, ${String(groups)} groups`);
    const advice = [...words].some((word) => AGES.has(word)) ? '; a column of age groups can be compared' : '';
    return guess('passed over', `has ${String(groups)} values, which is too many groups${advice}`);
  }
  if (suggests(DECISION)) {
    const values = knownLabels(column).length;
    if (values === 2) return guess('decision', 'its name, two values');
    return values > 2 && values <= MAX_GROUPS
      ? guess('passed over', `may hold decisions, but has ${String(values)} values; name it with its positive label`)
      : undefined;
  }
  if (WEIGHTS.has([...words].join(''))) {
    const isWeight = numbersIn(column)?.every((value) => value >= 0) === true;
    return isWeight ? guess('weight', 'its name, no negative number') : undefined;
  }
  if (suggests(SCORE) && knownLabels(column).length > 2) {
    const numbers = numbersIn(column);
    if (numbers === undefined) return undefined;
    const { least, most } = rangeOf(numbers);
    return least >= 0 && most <= 1
      ? guess('score', 'its name, numbers from 0 to 1')
      : guess(
          'passed over',
          `may hold scores, but from ${String(least)} to ${String(most)}; name it with its threshold`,
        );
  }
  if (!suggests(TRUTH) && name.toLowerCase() !== 'y') return undefined;
  return hasTwoValues(column) ? guess('truth', 'its name, two values') : undefined;
}

/** Guesses the column of the units that have several rows each. Of several such columns, it has the most values. */
function guessCluster(table: Table, names: readonly string[]): ColumnGuess | undefined {
  const [found] = names
    .flatMap((name) => repeatedIdentifierIn(name, knownLabels(table.column(name))) ?? [])
    .filter(({ isNamed }) => isNamed)
    .sort((a, b) => a.meanCount - b.meanCount);
  if (found === undefined) return undefined;
  return {
    column: found.name,
    reason: `its name, about ${found.meanCount.toFixed(1)} rows for each value; intervals count its values, not rows`,
  };
}

function repeatedIdentifierIn(name: string, counts: readonly LabelCount[]): RepeatedIdentifier | undefined {
  return repeatedIdentifier(name, new Map(counts.map(({ label, count }) => [label, count])));
}

/** Returns the columns of texts or codes that have few enough values to be groups. */
export function possibleGroups(table: Table): string[] {
  return table.columnNames.filter((name) => {
    const groups = knownLabels(table.column(name)).length;
    return groups >= 2 && groups <= MAX_GROUPS;
  });
}

function lastColumn(table: Table): ColumnGuess | undefined {
  const column = table.columnNames.at(-1);
  if (column === undefined || !hasTwoValues(table.column(column))) return undefined;
  return { column, reason: 'the last column, two values' };
}

/** A label with its number of rows. */
interface LabelCount {
  readonly label: string;
  readonly count: number;
}

/** A guess about the positive label of a column. */
export interface PositiveLabelGuess {
  /** Whether a positive label must be specified. Columns of 0 and 1, or true and false, need no positive label. */
  readonly isNeeded: boolean;
  /**
   * The label that seems to be positive; undefined if no positive label is needed, or if the labels do not suggest one.
   */
  readonly label: string | undefined;
  /** The labels in descending order of frequency, without missing values. */
  readonly counts: readonly LabelCount[];
}

/**
 * Guesses which label of a column counts as 1. A label is guessed only if exactly one label has a positive meaning,
 * such as yes.
 */
export function guessPositiveLabel(column: Column): PositiveLabelGuess {
  const counts = knownLabels(column);
  const missing = new Set(MISSING_TEXTS);
  const isNeeded = counts.some(({ label }) => labelValue(label, { missing }) === undefined);
  const positive = counts.filter(({ label }) => isFavourable(label) || label.startsWith('>'));
  return { isNeeded, label: isNeeded && positive.length === 1 ? positive[0]?.label : undefined, counts };
}

/** The columns that a model may use as features, and the columns that it should not use, with the reasons. */
export interface FeatureGuesses {
  readonly features: readonly string[];
  readonly left: readonly ColumnGuess[];
}

/** The input for a guess about features. */
export interface FeatureContext {
  readonly target: string;
  readonly positiveLabel: string | undefined;
  /** The columns that have a role other than feature or target. */
  readonly used: readonly string[];
}

/**
 * Guesses which columns a model may use as features. Columns are excluded if they have another role, identify rows,
 * have only one value, or separate the values of the target completely. A column that separates the target completely
 * is probably computed from it.
 */
export function guessFeatures(table: Table, { target, positiveLabel, used }: FeatureContext): FeatureGuesses {
  const truth = toBinary(table.column(target), target, positiveLabel);
  const columns = table.columnNames.filter((name) => name !== target && !used.includes(name));
  const left = columns.flatMap((name) => {
    const column = asNumbersWithout(table.column(name), new Set(MISSING_TEXTS));
    const reason =
      unfitness(name, column) ??
      (separates(column, truth)
        ? `separates the values of '${target}' completely, so it may be computed from it`
        : undefined);
    return reason === undefined ? [] : [{ column: name, reason }];
  });
  const names = new Set(left.map(({ column }) => column));
  return { features: columns.filter((name) => !names.has(name)), left };
}

/**
 * Returns the reason why a column is not suitable as a feature, regardless of the target; undefined if it is suitable.
 */
function unfitness(name: string, column: Column): string | undefined {
  const counts = knownLabels(column);
  const rows = counts.reduce((sum, { count }) => sum + count, 0);
  if (counts.length < 2) return counts.length === 0 ? 'has no value' : 'has only one value';
  const withComma = counts.filter(({ label }) => hasDecimalComma(label)).reduce((sum, { count }) => sum + count, 0);
  if (withComma > rows / 2) return "looks like numbers with a decimal comma; if it is, add '--decimal ,'";
  const repeated = repeatedIdentifierIn(name, counts);
  const words = [...wordsInName(name)];
  if (words.join('') === 'weight' || WEIGHTS.has(words.join(''))) {
    return 'may hold weights of rows (--sample-weight), or, for example, the weight of a person, which --features can add';
  }
  if (repeated?.isNamed === true) {
    return `looks like people or things with about ${repeated.meanCount.toFixed(1)} rows each`;
  }
  const isAlwaysUnique = counts.length === rows;
  const isUnique = isAlwaysUnique || (rows >= MIN_ROWS && counts.length > 0.9 * rows);
  if (isUnique && words.some((word) => IDENTIFIER.has(word))) return 'has the name and the values of an identifier';
  if (column.kind === 'numeric') {
    if (isAlwaysUnique && rows >= MIN_ROWS && areIdentifiers(column.values))
      return 'has a different integer in every row, as an identifier has';
    const areMostlyUnique = counts.length > rows / 2 && column.values.every((value) => !(value % 1));
    return areMostlyUnique && namesIdentifiers(name) ? 'has the name and the values of an identifier' : undefined;
  }
  if (isUnique) return `has a different text in ${isAlwaysUnique ? 'every' : 'almost every'} row`;
  return counts.length > MAX_TEXTS ? `has ${String(counts.length)} different texts` : undefined;
}

/**
 * Returns whether distinct numbers are integers that would repeat if they were drawn at random from their range. The
 * expected number of equal pairs among n draws from R integers is n (n - 1) / 2R. If it is 5, the draws are all
 * different with probability exp(-5), which is below 1%.
 */
function areIdentifiers(values: ArrayLike<number>): boolean {
  const known = Array.from(values).filter((value) => !Number.isNaN(value));
  const { least, most } = rangeOf(known);
  const equalPairs = (known.length * (known.length - 1)) / (2 * (most - least + 1));
  return known.every(Number.isSafeInteger) && equalPairs >= 5;
}

/**
 * Returns whether a threshold on a numeric column, or the labels of a column, separate the two values of the target
 * completely. If there are few rows, or few rows for each label, this can happen by chance, and the function returns
 * false.
 */
function separates(column: Column, truth: ArrayLike<number>): boolean {
  const [negative, positive] = [valuesWhere(column, truth, 0), valuesWhere(column, truth, 1)];
  const rows = negative.length + positive.length;
  if (negative.length === 0 || positive.length === 0 || rows < MIN_ROWS) return false;
  if (column.kind === 'numeric') {
    const [below, above] = [rangeOf(negative), rangeOf(positive)];
    return below.most < above.least || above.most < below.least;
  }
  const labels = new Set(positive);
  return rows >= MIN_ROWS_PER_LABEL * column.labels.length && !negative.some((code) => labels.has(code));
}

/**
 * Returns the numbers or codes of a column, without missing values, in the rows in which the target has the given
 * value.
 */
function valuesWhere(column: Column, truth: ArrayLike<number>, value: number): number[] {
  const { values, isKnown } =
    column.kind === 'numeric'
      ? { values: column.values, isKnown: (number: number) => !Number.isNaN(number) }
      : { values: column.codes, isKnown: (code: number) => code >= 0 };
  return Array.from(values).filter((own, row) => truth[row] === value && isKnown(own));
}

/** Returns the labels of a column in descending order of frequency, without missing values. */
function knownLabels(column: Column): LabelCount[] {
  const { column: labelled, rule } = readLabels(column, '', undefined, undefined);
  const known = countLabels(labelled).filter(({ label }) => !rule.missing.has(label));
  return known.sort((a, b) => b.count - a.count);
}

function hasTwoValues(column: Column): boolean {
  return knownLabels(column).length === 2;
}

/** Returns a column as numbers; undefined if the column contains texts or has no values. */
function numbersIn(column: Column): number[] | undefined {
  const numbers = asNumbersWithout(column, new Set(MISSING_TEXTS));
  if (numbers.kind === 'categorical') return undefined;
  const known = Array.from(numbers.values).filter((value) => !Number.isNaN(value));
  return known.length === 0 ? undefined : known;
}

function rangeOf(values: readonly number[]): { readonly least: number; readonly most: number } {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}

/** Returns the words of a column name in lower case. A capital letter after a small letter starts a word. */
function wordsInName(name: string): Set<string> {
  return wordsOf(name.replaceAll(/([a-z])([A-Z])/g, '$1 $2'));
}

/** Returns the words of a text in lower case, without accents. */
function wordsOf(text: string): Set<string> {
  return new Set(withoutAccents(text).split(/[^\p{L}\p{N}]+/u));
}
