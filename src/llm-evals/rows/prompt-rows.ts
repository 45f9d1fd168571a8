import { quoteArgument } from '../../document/provenance.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { capital, counted, formatCount } from '../../internal/format.ts';
import { canonicalLabel } from '../../internal/label-text.ts';
import { countBy, isNumberText } from '../../internal/values.ts';
import { readingOfGroups, readingWarnings, unknownColumn } from '../../table/index.ts';
import type { RowTable } from './row-table.ts';

/** The columns with a fixed meaning. All other columns are dimensions. */
const RESERVED = ['prompt', 'answer', 'item', 'name', 'template', 'repeat'] as const;

/**
 * The maximum number of values of a dimension. Every pair of values is compared: 50 values are 1,225 comparisons for
 * each metric.
 */
const MAX_VALUES = 50;

/** The maximum number of values of a column that was not chosen. A column with more values is usually an identifier. */
const MAX_FOUND_VALUES = 20;

/** A column of numbers with more different values is a measurement. It is a dimension only if it was chosen. */
const MAX_NUMBERS = 10;

/** The names that files of other programs often give to the column of answers. */
const ANSWER_NAMES = ['answer', 'response', 'output', 'completion', 'text'];

/** The maximum number of rows of a file. */
const MAX_ROWS = 1_000_000;

/** One row: a prompt, its answer, and the values of the dimensions. */
export interface PromptRow {
  /** The index of the row in the file, from 0. */
  readonly row: number;
  /** The prompt; null if answers were collected without prompts. */
  readonly prompt: string | null;
  /** The answer; null if it is missing. */
  readonly answer: string | null;
  /** The item. Rows of an item are compared with each other. */
  readonly item: string;
  readonly name: string | null;
  readonly template: string | null;
  /** The index of the answer among the answers to the same prompt. */
  readonly repeat: number;
  readonly cluster: string | null;
  /** The values of the dimensions, in their order; null if the row has no value. */
  readonly values: readonly (string | null)[];
}

/** The rows of a file of prompts or answers. */
export interface PromptRows {
  readonly title: string;
  readonly rows: readonly PromptRow[];
  readonly dimensions: readonly string[];
  /** The column whose values are the independent units; null if there is none. */
  readonly cluster: string | null;
  /** Whether the rows have the column `repeat`. */
  readonly hasRepeats: boolean;
  /** The columns by which no rows can be compared. */
  readonly uncompared: readonly string[];
  /** Notes about the use of columns and rows. */
  readonly notes: readonly string[];
}

/** The columns that a user chose. */
export interface RowChoices {
  /**
   * The columns that are dimensions.
   * @defaultValue all columns that are not reserved, have at least two values, and are not identifiers or numbers
   */
  readonly dimensions?: readonly string[] | undefined;
  /**
   * The column whose values are the independent units.
   * @defaultValue none
   */
  readonly cluster?: string | undefined;
}

/** Whether rows are answers to score, or prompts to send. */
export type RowKind = 'answers' | 'prompts';

/**
 * Checks the rows of a file, and finds its dimensions, items and repeats.
 * @throws {DataValidationError} if a required column or value is missing, or rows contradict each other
 */
export function parsePromptRows(table: RowTable, kind: RowKind, choices: RowChoices = {}): PromptRows {
  assertRequired(table, kind);
  const { cluster } = choices;
  if (cluster !== undefined) assertCluster(table, cluster, choices.dimensions ?? []);
  const found = findDimensions(table, choices);
  const { dimensions } = found;
  const hasItems = table.columns.includes('item');
  if (!hasItems && dimensions.length > 0) throw withoutItems(table, dimensions);
  const rows = Array.from({ length: table.rowCount }, (_, row) => readRow(table, kind, row, dimensions, cluster));
  if (kind === 'answers' && rows.every(({ answer }) => answer === null)) throw withoutAnswers(table);
  assertTemplates(table, rows);
  if (kind === 'prompts') assertDifferentPrompts(table, rows, dimensions);
  const repeated = numberRepeats(table, kind, rows);
  const unpaired = hasItems ? dimensions.filter((name) => comparableRows(table, name, dimensions) === 0) : [];
  return {
    title: table.title,
    rows: repeated.rows,
    dimensions,
    cluster: cluster ?? null,
    hasRepeats: table.columns.includes('repeat'),
    uncompared: [...found.uncompared, ...unpaired],
    notes: [
      ...found.notes,
      ...spellingNotes(table, dimensions),
      ...ungroupedNotes(rows, dimensions),
      ...repeated.notes,
      ...(hasItems ? pairNotes(table, dimensions) : []),
      ...clusterNotes(rows, cluster),
    ],
  };
}

function assertRequired({ title, columns, rowCount }: RowTable, kind: RowKind): void {
  const required = kind === 'answers' ? 'answer' : 'prompt';
  if (!columns.includes(required)) {
    const what = kind === 'answers' ? 'the text of each answer' : 'the text of each prompt';
    const names = kind === 'answers' ? ANSWER_NAMES : [required];
    const similar = columns.find((name) => names.includes(name.trim().toLowerCase()));
    throw new DataValidationError(
      `${title} has no column '${required}', which must hold ${what}. Found: ${columns.join(', ')}.`,
      {
        code: 'unknown-column',
        context: { column: required, columns },
        suggestion:
          similar === undefined
            ? `Rename the column that holds ${what} to '${required}'. No option changes this name.`
            : `Rename '${similar}' to '${required}'.`,
      },
    );
  }
  if (rowCount > MAX_ROWS) {
    throw new DataValidationError(
      `${title} has ${formatCount(rowCount)} rows; at most ${formatCount(MAX_ROWS)} are allowed.`,
      { code: 'data-too-large', context: { rows: rowCount }, suggestion: 'Score a sample of the rows.' },
    );
  }
}

function assertCluster({ title, columns }: RowTable, cluster: string, dimensions: readonly string[]): void {
  if (!columns.includes(cluster)) throw unknownColumn(cluster, columns, title);
  const role =
    cluster === 'answer' || cluster === 'prompt' || cluster === 'repeat'
      ? 'has another meaning'
      : dimensions.includes(cluster)
        ? 'is a dimension too'
        : undefined;
  if (role === undefined) return;
  throw new DataValidationError(`The column '${cluster}' cannot be the cluster: it ${role}.`, {
    code: 'duplicate-column',
    context: { column: cluster },
    suggestion: 'Choose a column whose values are independent of each other, such as a person or a document.',
  });
}

interface FoundDimensions {
  readonly dimensions: readonly string[];
  /** The columns that look like groups, but by which no rows can be compared. */
  readonly uncompared: readonly string[];
  readonly notes: readonly string[];
}

function findDimensions(table: RowTable, { dimensions, cluster }: RowChoices): FoundDimensions {
  if (dimensions !== undefined) {
    for (const name of dimensions) assertDimension(table, name);
    return { dimensions: [...new Set(dimensions)], uncompared: [], notes: [] };
  }
  const others = table.columns.filter((name) => !isReserved(name) && name !== cluster);
  const judged = others.map((name) => {
    const values = valuesOf(table, name);
    const unfit = unsuitable(name, values);
    return { name, values, unfit, problem: unfit ?? sameWithinItems(table, name) };
  });
  const notes = judged.flatMap(({ problem }) => problem ?? []);
  const usable = judged.filter(({ problem }) => problem === null).map(({ name }) => name);
  // A column with one value is usually a setting of the run, but without other groups it may be the intended one.
  const fewest = usable.length === 0 ? 1 : 0;
  const uncompared = judged
    .filter(({ values, unfit, problem }) => problem !== null && (unfit === null || values.size <= fewest))
    .map(({ name }) => name);
  if (usable.length === 0) {
    return {
      dimensions: [],
      uncompared,
      notes: [...notes, 'There are no groups to compare, so only metrics of all answers are computed.'],
    };
  }
  if (!table.columns.includes('item')) return { dimensions: usable, uncompared, notes };
  const paired = usable.filter((name) => comparableRows(table, name, usable) > 0);
  // Columns that always change together leave no pair for any of them: it is not known which of them is meant.
  if (paired.length === 0 || paired.length === usable.length) {
    return { dimensions: pairedEnough(table, usable), uncompared, notes };
  }
  const unpaired = usable.filter((name) => !paired.includes(name));
  return {
    dimensions: pairedEnough(table, paired),
    uncompared: [...uncompared, ...unpaired],
    notes: [...notes, ...unpaired.map((name) => unpairedNote(name, paired))],
  };
}

function unpairedNote(name: string, others: readonly string[]): string {
  return `The column '${name}' is not used: no two rows of an item differ only in '${name}' and have the same ${listed(others)}. If it is a group, choose the columns with dimensions.`;
}

/**
 * Returns the columns that were found, if at least half of the rows that each of them could compare alone can still be
 * compared with the others fixed.
 * @throws {DataValidationError} if less than half can. One of the columns is then usually a result, such as a rating,
 * and the few remaining rows would hide a difference.
 */
function pairedEnough(table: RowTable, dimensions: readonly string[]): readonly string[] {
  for (const name of dimensions) {
    const [alone, crossed] = [comparableRows(table, name, [name]), comparableRows(table, name, dimensions)];
    if (crossed === 0 || 2 * crossed >= alone) continue;
    throw new DataValidationError(
      `${table.title}: the columns ${listed(dimensions)} were taken as groups, because no groups were chosen. Only ${formatCount(crossed)} of ${counted(alone, 'row')} can then be compared by '${name}': rows to compare have the same item and the same values of the other columns.`,
      {
        code: 'too-few-rows',
        context: { column: name, columns: dimensions, rows: crossed },
        suggestion: `Choose the columns that are groups with dimensions (on the command line, for example --dimensions ${quoteArgument(name)}). Columns that are not chosen, such as ratings of the answers, are ignored. To compare ratings, run 'evenhand validate' with --y-pred, --sensitive and --metric mean_prediction_difference.`,
      },
    );
  }
  return dimensions;
}

/** Returns the number of rows whose item has a row that differs only in one dimension. */
function comparableRows(table: RowTable, name: string, dimensions: readonly string[]): number {
  const fixed = dimensions.filter((other) => other !== name);
  const cells = new Map<string, { rows: number; readonly values: Set<string> }>();
  for (let row = 0; row < table.rowCount; row++) {
    const [value, item] = [labelOf(table, name, row), labelOf(table, 'item', row)];
    if (value === null || item === null) continue;
    const key = JSON.stringify([item, ...fixed.map((other) => labelOf(table, other, row))]);
    const cell = cells.get(key) ?? { rows: 0, values: new Set() };
    cell.rows++;
    cell.values.add(value);
    cells.set(key, cell);
  }
  return [...cells.values()].reduce((sum, { rows, values }) => (values.size > 1 ? sum + rows : sum), 0);
}

function listed(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

/** Returns why a column is not used as a dimension, or null if it is one. */
function unsuitable(name: string, values: ReadonlySet<string>): string | null {
  const count = values.size;
  if (count === 0) return `The column '${name}' is empty and is not used.`;
  if (count === 1) {
    return `All rows have the same value of '${name}' ('${[...values].join('')}'), so there is nothing to compare.`;
  }
  const isNumeric = [...values].every(isNumberText);
  if (count <= (isNumeric ? MAX_NUMBERS : MAX_FOUND_VALUES)) return null;
  const found = `The column '${name}' has ${formatCount(count)} different ${isNumeric ? 'numbers' : 'values'} and is not used.`;
  return count > MAX_VALUES ? found : `${found} If they are groups, choose the column with dimensions.`;
}

/** Returns a note if no item has two values of a column, so that the column cannot be compared. */
function sameWithinItems(table: RowTable, name: string): string | null {
  if (!table.columns.includes('item')) return null;
  const firsts = new Map<string, string>();
  for (let row = 0; row < table.rowCount; row++) {
    const value = labelOf(table, name, row);
    if (value === null) continue;
    const item = labelOf(table, 'item', row);
    // A row with a group but without an item is reported later.
    if (item === null) return null;
    const first = firsts.get(item);
    if (first !== undefined && first !== value) return null;
    firsts.set(item, value);
  }
  return `The rows of each item have the same '${name}', so it is not compared: rows to compare have the same item.`;
}

function assertDimension(table: RowTable, name: string): void {
  if (!table.columns.includes(name)) throw unknownColumn(name, table.columns, table.title);
  const count = isReserved(name) ? 0 : valuesOf(table, name).size;
  if (count >= 2 && count <= MAX_VALUES) return;
  const problem = isReserved(name)
    ? 'this name has a fixed meaning'
    : count < 2
      ? `it has ${counted(count, 'value')}, and a comparison needs at least 2`
      : `it has ${formatCount(count)} different values, and at most ${String(MAX_VALUES)} can be compared`;
  throw new DataValidationError(`${table.title}: '${name}' cannot be a dimension: ${problem}.`, {
    code: count > MAX_VALUES ? 'too-many-groups' : 'too-few-groups',
    context: { column: name, values: count },
    suggestion: count > MAX_VALUES ? 'Combine values, for example ages to age groups.' : 'Choose another column.',
  });
}

function isReserved(name: string): boolean {
  return RESERVED.some((reserved) => reserved === name);
}

function valuesOf(table: RowTable, column: string): Set<string> {
  const values = new Set<string>();
  for (let row = 0; row < table.rowCount; row++) {
    const value = labelOf(table, column, row);
    if (value !== null) values.add(value);
  }
  return values;
}

/** Returns a group, an item or a name. Numbers that are equal are one label, as in all other files. */
function labelOf(table: RowTable, column: string, row: number): string | null {
  const text = table.valueOf(column, row);
  return text === null ? null : canonicalLabel(text.trim());
}

function withoutItems({ title }: RowTable, dimensions: readonly string[]): DataValidationError {
  const [first = ''] = dimensions;
  return new DataValidationError(
    `${title} has the groups ${listed(dimensions)}, but no column 'item', so it is not known which answers to compare.`,
    {
      code: 'unknown-column',
      context: { column: 'item', dimensions },
      suggestion: `Add a column 'item' with the same value in all rows that ask the same question about different values of '${first}', for example the number of the question.`,
    },
  );
}

function withoutAnswers({ title, rowCount }: RowTable): DataValidationError {
  return new DataValidationError(`${title} has no answers: 'answer' is empty in all ${counted(rowCount, 'row')}.`, {
    code: 'empty-data',
    context: { column: 'answer', rows: rowCount },
    suggestion: "Write the text of each answer to the column 'answer'.",
  });
}

function readRow(
  table: RowTable,
  kind: RowKind,
  row: number,
  dimensions: readonly string[],
  cluster: string | undefined,
): PromptRow {
  const prompt = table.valueOf('prompt', row);
  if (prompt === null && kind === 'prompts')
    throw missing(table, row, 'prompt', 'Write the prompt, or remove the row.');
  const values = dimensions.map((name) => labelOf(table, name, row));
  const given = labelOf(table, 'item', row);
  if (given === null && values.some((value) => value !== null)) {
    throw missing(table, row, 'item', 'Write the item whose rows are compared with this row.');
  }
  const unit = cluster === undefined ? null : labelOf(table, cluster, row);
  if (cluster !== undefined && unit === null) {
    throw missing(
      table,
      row,
      cluster,
      'Rows without a cluster cannot be counted: fill in the value, or remove the row.',
    );
  }
  return {
    row,
    prompt,
    answer: kind === 'answers' ? table.valueOf('answer', row) : null,
    // Without groups, an item is a prompt. Rows without a prompt are separate items.
    item: given ?? prompt ?? table.positionOf(row),
    name: labelOf(table, 'name', row),
    template: labelOf(table, 'template', row),
    repeat: readRepeat(table, row),
    cluster: unit,
    values,
  };
}

/** Returns the given number of the answer, or -1 if there is none. */
function readRepeat(table: RowTable, row: number): number {
  if (!table.columns.includes('repeat')) return -1;
  const text = table.valueOf('repeat', row);
  const repeat = text === null ? NaN : Number(text);
  if (Number.isSafeInteger(repeat) && repeat >= 0) return repeat;
  throw new DataValidationError(
    `${table.title}, ${table.positionOf(row)}: 'repeat' must be a whole number of at least 0. Found ${text === null ? 'no value' : `'${text}'`}.`,
    {
      code: 'invalid-value',
      context: { column: 'repeat', index: row },
      suggestion: "Number the answers to one prompt from 0, or leave out the column 'repeat'.",
    },
  );
}

function missing(table: RowTable, row: number, column: string, suggestion: string): DataValidationError {
  return new DataValidationError(`${table.title}, ${table.positionOf(row)}: '${column}' has no value.`, {
    code: 'invalid-value',
    context: { column, index: row },
    suggestion,
  });
}

/** Items whose numbers start again in each template would mix the answers of different templates. */
function assertTemplates(table: RowTable, rows: readonly PromptRow[]): void {
  const templates = new Map<string, string | null>();
  for (const { item, template, row } of rows) {
    const known = templates.get(item);
    if (known === undefined) templates.set(item, template);
    else if (known !== template) {
      throw new DataValidationError(
        `${table.title}, ${table.positionOf(row)}: the item '${item}' belongs to two templates, ${shown(known)} and ${shown(template)}.`,
        {
          code: 'invalid-value',
          context: { column: 'template', index: row, item },
          suggestion: 'Give the items of different templates different names, for example advice-1 and story-1.',
        },
      );
    }
  }
}

/**
 * Checks that a prompt is not used for two items or two groups. Two items with the same prompts are not independent, and
 * two groups with the same prompt cannot have different answers.
 */
function assertDifferentPrompts(table: RowTable, rows: readonly PromptRow[], dimensions: readonly string[]): void {
  const firsts = new Map<string, PromptRow>();
  for (const row of rows) {
    const text = (row.prompt ?? '').trim().replaceAll(/\s+/gu, ' ');
    const first = firsts.get(text);
    if (first === undefined) {
      firsts.set(text, row);
      continue;
    }
    const differing = dimensions.find((_, index) => first.values[index] !== row.values[index]);
    const other = first.item !== row.item ? 'item' : differing === undefined ? undefined : `value of '${differing}'`;
    if (other === undefined) continue;
    throw new DataValidationError(
      `${table.title}, ${table.positionOf(row.row)} has the prompt of ${table.positionOf(first.row)}, but another ${other}.`,
      {
        code: 'invalid-value',
        context: { column: 'prompt', index: row.row },
        suggestion: 'Write a prompt that differs, or remove the row.',
      },
    );
  }
}

function shown(template: string | null): string {
  return template === null ? 'none' : `'${template}'`;
}

/**
 * Numbers the answers to the same question in the order of the rows, if the rows have no column `repeat`.
 * @throws {DataValidationError} if two rows have the same number
 */
function numberRepeats(
  table: RowTable,
  kind: RowKind,
  rows: readonly PromptRow[],
): { readonly rows: readonly PromptRow[]; readonly notes: readonly string[] } {
  const counts = new Map<string, number>();
  const exact = new Set<string>();
  let copies = 0;
  const numbered = rows.map((row): PromptRow => {
    const question = JSON.stringify([row.item, row.name, row.values, ...(kind === 'prompts' ? [row.prompt] : [])]);
    const same = JSON.stringify([question, row.prompt, row.answer, row.repeat, row.cluster]);
    if (exact.has(same)) copies++;
    exact.add(same);
    if (row.repeat < 0) {
      const repeat = counts.get(question) ?? 0;
      counts.set(question, repeat + 1);
      return { ...row, repeat };
    }
    const numberedQuestion = JSON.stringify([question, row.prompt, row.repeat, row.cluster]);
    if (counts.has(numberedQuestion)) throw repeatedRow(table, row);
    counts.set(numberedQuestion, 1);
    return row;
  });
  return { rows: numbered, notes: copies === 0 ? [] : [copiesNote(copies, kind)] };
}

function copiesNote(copies: number, kind: RowKind): string {
  const what = copies === 1 ? '1 row is a copy' : `${counted(copies, 'row')} are copies`;
  const effect = copies === 1 ? 'It counts as a further answer' : 'They count as further answers';
  return `${what} of an earlier row. ${kind === 'answers' ? `${effect} to the same prompt.` : 'Their prompts are sent again.'}`;
}

function repeatedRow(table: RowTable, { row, item, repeat }: PromptRow): DataValidationError {
  return new DataValidationError(
    `${table.title}, ${table.positionOf(row)}: an earlier row has the same item '${item}', the same groups and the same repeat ${String(repeat)}.`,
    {
      code: 'invalid-value',
      context: { column: 'repeat', index: row, item },
      suggestion: 'Remove the row, or number the answers to one prompt 0, 1, 2 and so on.',
    },
  );
}

/** Notes about groups whose labels look alike, because each of them is a separate group. */
function spellingNotes(table: RowTable, dimensions: readonly string[]): string[] {
  const readings = dimensions.flatMap((name) => {
    const labels = Array.from({ length: table.rowCount }, (_, row) => labelOf(table, name, row)).filter(
      (label) => label !== null,
    );
    const counts = Object.entries(countBy(labels, (label) => label));
    // No label means a missing value: an empty cell is the only missing value here.
    return readingOfGroups(name, counts.map(([label, count]) => ({ label, count, value: 1 })), []); // prettier-ignore
  });
  return readingWarnings(readings).map((warning) => `${capital(warning)}.`);
}

/** Notes about rows without a value of a dimension. */
function ungroupedNotes(rows: readonly PromptRow[], dimensions: readonly string[]): string[] {
  return dimensions.flatMap((name, index) => {
    const count = rows.filter(({ values }) => values[index] === null).length;
    if (count === 0) return [];
    const [have, are, counts] = count === 1 ? ['has', 'is', 'It counts'] : ['have', 'are', 'They count'];
    const left = dimensions.length === 1 ? ` ${counts} only in metrics of all answers.` : '';
    return [
      `${formatCount(count)} of ${counted(rows.length, 'row')} ${have} no '${name}' and ${are} not compared by it.${left}`,
    ];
  });
}

/** Notes about dimensions by which no rows, or not all rows, can be compared because the other dimensions are fixed. */
function pairNotes(table: RowTable, dimensions: readonly string[]): string[] {
  return dimensions.flatMap((name) => {
    const crossed = comparableRows(table, name, dimensions);
    const alone = dimensions.length === 1 ? crossed : comparableRows(table, name, [name]);
    if (crossed > 0 && crossed === alone) return [];
    const others = listed(dimensions.filter((other) => other !== name));
    if (crossed > 0) {
      return [
        `${formatCount(crossed)} of ${counted(alone, 'row')} can be compared by '${name}': the others have no row of their item that differs only in '${name}' and has the same ${others}.`,
      ];
    }
    if (others === '') {
      return [
        `No two rows of an item differ in '${name}', so nothing is compared: rows to compare have the same item.`,
      ];
    }
    return [
      `No two rows of an item differ only in '${name}', so nothing is compared by it: rows to compare have the same item and the same ${others}. If a column is not a group, choose the compared columns with dimensions.`,
    ];
  });
}

/** A note if the rows of an item are in several clusters. The clusters of an item count as one independent unit. */
function clusterNotes(rows: readonly PromptRow[], cluster: string | undefined): string[] {
  if (cluster === undefined) return [];
  const first = new Map<string, string | null>();
  const split = new Set<string>();
  for (const { item, cluster: own } of rows) {
    const known = first.get(item);
    if (known === undefined) first.set(item, own);
    else if (known !== own) split.add(item);
  }
  if (split.size === 0) return [];
  const [example = ''] = split;
  return [
    `The rows of ${counted(split.size, 'item')} have several values of '${cluster}', for example '${example}'. The values of '${cluster}' that share an item count as one independent unit.`,
  ];
}
