import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { formatCount } from '../../internal/format.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { createRandom, type Random } from '../../internal/random.ts';
import type { StreamedColumn } from '../../io/column-stream.ts';
import { type RowStream, withRowStream } from '../../io/row-stream.ts';
import { findFiles, sameContentNotes } from '../../io/find-files.ts';
import { isQuery, type SqlSource } from '../../io/sql-source.ts';
import { missingGroups, missingOutcomes, numbersAmong, readingWarnings, unknownColumn } from '../../table/index.ts';
import { assertFeatures, encodedWidth, type FeatureSpec, MAX_LEVELS } from './feature-encoder.ts';
import {
  codeReader,
  type CodeReader,
  Combinations,
  LabelDictionary,
  MAX_CODES,
  MAX_TEXTS,
} from './label-dictionary.ts';
import { sameRowsNote } from './repeated-rows.ts';
import { blocksOf, type RowBlocks, type RowEncoding } from './row-blocks.ts';
import { createRowFile, type RowColumns, type RowFileWriter } from './row-file.ts';
import {
  addTrainingRow,
  cleanNumbers,
  emptyNumber,
  emptyText,
  learnFeatures,
  type NumberFeature,
  type TextFeature,
} from './stream-features.ts';
import { groupReadings, readGroups, readTarget, type StreamTarget } from './stream-labels.ts';
import {
  assertFeatureNames,
  assertLabel,
  assertTwoClasses,
  assertTwoGroups,
  type TrainingSource,
} from './training-data.ts';

/**
 * Training rows that are read as a stream: files, or a table or a query on an engine. They are written once to a
 * temporary file and read from there in blocks, so that the memory does not grow with the number of rows.
 */
export interface StreamTrainingSource extends Omit<TrainingSource, 'table' | 'testTable'> {
  /** The training rows: paths of files, or `{ engine, table }` or `{ engine, query }`. */
  readonly source: SqlSource;
  /** The rows for evaluation. If omitted, some rows of `source` are held out for evaluation. */
  readonly testSource?: SqlSource | undefined;
  /**
   * The folder of the temporary file. Per row, the file needs 8 bytes for each number and 4 bytes for each text, the
   * target and the group. `trainReductions` writes a second file, with 4 bytes for each number and 8 more bytes.
   * @defaultValue the system's folder for temporary files (TMPDIR)
   */
  readonly temporaryFolder?: string | undefined;
}

const STREAM_SOURCE_NAMES: OptionNames<StreamTrainingSource> = {
  source: true,
  testSource: true,
  temporaryFolder: true,
  target: true,
  sensitive: true,
  features: true,
  positiveLabel: true,
  naValues: true,
};

/** Returns whether the rows of a source are read as a stream. */
export function isStreamSource(source: object): source is StreamTrainingSource {
  return 'source' in source;
}

/** Options of {@link readStreamTraining}. */
interface StreamOptions {
  /** The function that the caller called, for errors. */
  readonly caller: string;
  /** Whether some training rows are kept for early stopping. */
  readonly stopsEarly: boolean;
  /** The share of the rows used for training, if there are no test rows. */
  readonly trainSize: number;
  readonly seed: number;
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Training rows in a file, with all that was learned from reading them. */
export interface StreamTraining {
  readonly train: RowBlocks;
  /** The rows for early stopping; none without early stopping. */
  readonly validation: RowBlocks;
  readonly heldOut: RowBlocks;
  readonly specs: readonly FeatureSpec[];
  readonly target: string;
  readonly sensitive: readonly string[];
  readonly positiveLabel: string | null;
  readonly naValues: readonly string[] | undefined;
  /** The labels of the groups. Groups that occur only in the test rows are last. */
  readonly groupLabels: readonly string[];
  /** The number of rows by group and label (2 x group + label), without and with the rows for early stopping. */
  readonly counts: { readonly train: Float64Array; readonly heldOut: Float64Array };
  readonly nDropped: number;
  readonly warnings: readonly string[];
  /** Removes the file. */
  readonly remove: () => void;
}

/** A row is in one of these parts of the file; the parts from TRAIN on are blocks of training rows. */
const VALIDATION = 0;
const HELD_OUT = 1;
const TRAIN = 2;

/** The share of the training rows that is used for early stopping, and their maximum number. */
const VALIDATION_SHARE = 0.1;
const MAX_VALIDATION_ROWS = 200_000;

/** The memory of the encoded features of a block, in bytes, and the maximum numbers of its rows and of blocks. */
const BLOCK_BYTES = 48 * 2 ** 20;
const MAX_BLOCK_ROWS = 2 ** 18;
const MAX_BLOCKS = 4096;

/** The stream of random numbers that splits the rows. */
const SPLIT_STREAM = 3;

/**
 * Reads rows as a stream into a temporary file. Each row is drawn for training, early stopping or evaluation by itself,
 * so that the shares are exact only on average. Training rows are drawn into blocks at random: the rows of a block are a
 * random sample, so that training can read block after block.
 * @throws {DataValidationError} if a column is unknown, the target does not have two values, there is only one group,
 *   or the rows change while they are read
 */
export async function readStreamTraining(given: StreamTrainingSource, options: StreamOptions): Promise<StreamTraining> {
  assertKnownOptions(options.caller, given, STREAM_SOURCE_NAMES);
  const { source, testSource, features, target = 'y' } = given;
  const labels = [given.sensitive ?? 's'].flat();
  const columns = features && [...new Set([...features, target, ...labels])];
  const opened: StreamReader[] = [];
  try {
    const reader = await withRowStream(source, { columns, labels }, async (rows) => {
      // The stream is opened again if its types turn out to be wrong.
      opened.splice(0).forEach((earlier) => {
        earlier.remove();
      });
      const own = new StreamReader(rows, given, options);
      opened.push(own);
      await own.read(rows, false);
      return own;
    });
    if (testSource === undefined) return reader.finish();
    await withRowStream(testSource, { columns: reader.names, labels }, (rows) => reader.read(rows, true));
    const training = reader.finish();
    const isSame = await haveSameRows(source, testSource);
    return isSame ? { ...training, warnings: [...training.warnings, sameRowsNote()] } : training;
  } catch (error) {
    for (const reader of opened) reader.remove();
    // The reader of files would report the reason of an abort as a file that cannot be read.
    options.signal?.throwIfAborted();
    throw error;
  }
}

/** Returns whether two sources are one query, one file, or files with the same content. Other rows are not compared. */
async function haveSameRows(source: SqlSource, testSource: SqlSource): Promise<boolean> {
  if (isQuery(source) && isQuery(testSource)) {
    return (['engine', 'table', 'query'] as const).every((key) => source[key] === testSource[key]);
  }
  if (isQuery(source) || isQuery(testSource)) return false;
  const files = [...(await findFiles(source)).files, ...(await findFiles(testSource)).files];
  return files.length === 2 && (await sameContentNotes({ files })).length === 1;
}

/** Reads rows into a file, and learns their labels, groups and moments. */
class StreamReader {
  /** The names of the columns that are read. */
  readonly names: readonly string[];
  readonly #options: StreamOptions;
  readonly #given: StreamTrainingSource;
  readonly #features: readonly string[];
  readonly #target: StreamTarget;
  readonly #sensitive: readonly { readonly name: string; readonly dictionary: LabelDictionary }[];
  readonly #numbers: NumberFeature[] = [];
  readonly #texts: TextFeature[] = [];
  readonly #combinations = new Combinations();
  readonly #pointed: RowStream['pointed'];
  readonly #file: RowFileWriter;
  readonly #blocks: number;
  readonly #blockRows: number;
  readonly #validationShare: number;
  readonly #random: Random;
  /** The numbers of rows by combination of groups and code of the target (`MAX_CODES` x combination + code). */
  readonly #counted = { train: new Map<number, number>(), heldOut: new Map<number, number>() };
  #trainRows = 0;
  #dropped = 0;

  constructor(rows: RowStream, given: StreamTrainingSource, options: StreamOptions) {
    const { target = 'y', naValues, positiveLabel, testSource } = given;
    const sensitive = [given.sensitive ?? 's'].flat();
    const others = rows.columns.map(({ name }) => name).filter((name) => name !== target && !sensitive.includes(name));
    this.#features = given.features ?? others;
    assertFeatureNames(() => undefined, this.#features, target, sensitive);
    this.names = [...new Set([...this.#features, target, ...sensitive])];
    this.#given = given;
    this.#options = options;
    this.#pointed = rows.pointed;
    this.#target = {
      ...{ name: target, dictionary: new LabelDictionary(), missing: missingOutcomes(naValues, positiveLabel) },
      isNumeric: columnOf(rows, target).kind === 'numbers',
    };
    this.#sensitive = sensitive.map((name) => ({ name, dictionary: new LabelDictionary() }));
    const width = this.#addFeatures(rows);
    const expected = Math.ceil(rows.rowCount * (testSource === undefined ? options.trainSize : 1));
    this.#validationShare = options.stopsEarly
      ? Math.min(VALIDATION_SHARE, MAX_VALIDATION_ROWS / Math.max(1, expected))
      : 0;
    this.#blockRows = Math.min(MAX_BLOCK_ROWS, Math.max(1024, Math.floor(BLOCK_BYTES / (4 * Math.max(1, width)))));
    this.#blocks = Math.min(MAX_BLOCKS, Math.max(1, Math.ceil(expected / this.#blockRows)));
    this.#random = createRandom(options.seed, SPLIT_STREAM);
    const layout = { numbers: this.#numbers.length, codes: this.#texts.length + 2 };
    this.#file = createRowFile(TRAIN + this.#blocks, layout, given.temporaryFolder);
  }

  /** Returns the largest number of columns that the encoded features may have. */
  #addFeatures(rows: RowStream): number {
    const missing = numbersAmong(missingOutcomes(this.#given.naValues));
    let width = 0;
    for (const name of this.#features) {
      const column = columnOf(rows, name);
      if (column.kind === 'numbers') this.#numbers.push(emptyNumber(name, this.#numbers.length, missing));
      else this.#texts.push(emptyText(name, this.#texts.length));
      const levels = column.kind === 'labels' ? column.labels.length + 1 : MAX_LEVELS;
      width += column.kind === 'numbers' ? 2 : Math.min(MAX_LEVELS, levels);
    }
    return width;
  }

  remove(): void {
    this.#file.remove();
  }

  /** @param isTest whether all rows are for evaluation */
  async read(rows: RowStream, isTest: boolean): Promise<void> {
    const { onProgress, signal } = this.#options;
    const index = (name: string): number => rows.columns.findIndex((column) => column.name === name);
    const reader = (name: string, dictionary: LabelDictionary): CodeReader =>
      codeReader(dictionary, columnOf(rows, name), index(name), { labelOf: rows.labelOf, isCounted: !isTest });
    for (const { name } of this.#numbers) assertNumbers(rows, name);
    const numbers = this.#numbers.map(({ name }) => index(name));
    const codes = [...this.#texts, this.#target].map(({ name, dictionary }) => reader(name, dictionary));
    const sensitive = this.#sensitive.map(({ name, dictionary }) => reader(name, dictionary));
    let columns: RowColumns = { rows: 0, numbers: [], codes: [] };
    let groups: Int32Array[] = [];
    let done = 0;
    for await (const chunk of rows.chunks()) {
      signal?.throwIfAborted();
      const { rowCount } = chunk;
      if (columns.rows < rowCount) {
        columns = {
          rows: rowCount,
          numbers: numbers.map(() => new Float64Array(rowCount)),
          codes: Array.from({ length: codes.length + 1 }, () => new Int32Array(rowCount)),
        };
        groups = sensitive.map(() => new Int32Array(rowCount));
      }
      for (const [column, feature] of this.#numbers.entries()) {
        const values = columns.numbers[column] as Float64Array;
        chunk.copyNumbers(numbers[column] as number, values, 0);
        cleanNumbers(values, rowCount, feature, { firstRow: done, isCounted: !isTest });
      }
      for (const [column, read] of codes.entries()) read(chunk, columns.codes[column] as Int32Array);
      for (const [part, read] of sensitive.entries()) read(chunk, groups[part] as Int32Array);
      this.#assertFew();
      this.#place(columns, groups, rowCount, isTest);
      done += rowCount;
      onProgress?.({ stage: isTest ? 'reading test rows' : 'reading rows', done, total: rows.rowCount });
    }
  }

  /** Writes rows to the file, each into the part that it is drawn for. */
  #place(columns: RowColumns, groups: readonly Int32Array[], rowCount: number, isTest: boolean): void {
    const target = columns.codes.at(-2) as Int32Array;
    const combinations = columns.codes.at(-1) as Int32Array;
    const isKept = this.#keeps(target, groups);
    const features = { numbers: this.#numbers, texts: this.#texts };
    const hasTest = this.#given.testSource !== undefined;
    for (let row = 0; row < rowCount; row++) {
      if (!isKept(row)) {
        // The rows of the test data that are excluded are not counted, as for tables.
        if (!isTest) this.#dropped++;
        continue;
      }
      const combination = this.#combinations.codeOf(groups, row);
      combinations[row] = combination;
      const isHeldOut = isTest || (!hasTest && this.#random.next() >= this.#options.trainSize);
      const counts = isHeldOut ? this.#counted.heldOut : this.#counted.train;
      const key = combination * MAX_CODES + (target[row] as number);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      let part = HELD_OUT;
      if (!isHeldOut) {
        this.#trainRows++;
        addTrainingRow(features, columns, row);
        const isValidation = this.#random.next() < this.#validationShare;
        part = isValidation ? VALIDATION : TRAIN + this.#random.integer(this.#blocks);
      }
      this.#file.add(part, columns, row);
    }
  }

  /** Returns a function that returns whether a row has a target and all groups. */
  #keeps(target: Int32Array, groups: readonly Int32Array[]): (row: number) => boolean {
    const missing = missingGroups(this.#given.naValues);
    const isTarget = this.#target.dictionary.labels.map((label) => !isMissingTarget(this.#target, label));
    const isGroup = this.#sensitive.map(({ dictionary }) => dictionary.labels.map((label) => !missing.has(label)));
    // A missing value has the code -1.
    return (row) =>
      isTarget[target[row] as number] === true &&
      groups.every((codes, part) => isGroup[part]?.[codes[row] as number] === true);
  }

  /** @throws {DataValidationError} if the target or a sensitive column has too many different values */
  #assertFew(): void {
    const many = [this.#target, ...this.#sensitive].find(({ dictionary }) => dictionary.labels.length > MAX_TEXTS);
    if (many === undefined && this.#combinations.size <= MAX_TEXTS) return;
    const name = many?.name ?? this.#sensitive.map((one) => one.name).join("' x '");
    throw new DataValidationError(`Column '${name}' has more than ${formatCount(MAX_TEXTS)} different values.`, {
      code: 'too-many-groups',
      context: { column: name },
      suggestion: 'It may be an identifier or a number. Choose another target or sensitive column.',
    });
  }

  finish(): StreamTraining {
    const { naValues, testSource } = this.#given;
    const { name: target, dictionary } = this.#target;
    const sensitive = this.#sensitive.map(({ name }) => name);
    // Throws if numbers have decimal commas, and a label contains a point.
    this.#pointed(target, dictionary.column());
    const { positiveLabel, values, readings: ofTarget } = readTarget(this.#target, this.#given);
    if (testSource !== undefined && positiveLabel !== null) {
      const codes = new Set([...this.#counted.heldOut.keys()].map((key) => key % MAX_CODES));
      const labels = Array.from(codes, (code) => dictionary.labels[code] ?? '');
      assertLabel(`The target '${target}' of the test rows`, labels, positiveLabel, { target });
    }
    const trained = new Set(Array.from(this.#counted.train.keys(), (key) => Math.floor(key / MAX_CODES)));
    const groups = readGroups(this.#sensitive, this.#combinations, (combination) => trained.has(combination));
    const ofTraining = groups.labels.slice(0, groups.trained);
    assertTwoGroups({ kind: 'categorical', codes: new Int32Array(0), labels: ofTraining }, sensitive);
    const counts = {
      train: countsBy(this.#counted.train, groups, values),
      heldOut: countsBy(this.#counted.heldOut, groups, values),
    };
    assertBothClasses(counts.train, target);
    const features = { numbers: this.#numbers, texts: this.#texts };
    const learned = learnFeatures(features, this.#features, this.#trainRows, { naValues, pointed: this.#pointed });
    const specs = learned.features.map(({ spec }) => spec);
    assertFeatures(specs, this.#features, learned.warnings);
    const readings = [
      ...this.#sensitive.flatMap(({ name, dictionary: own }) => groupReadings(name, own, naValues)),
      ...ofTarget,
      ...learned.readings,
    ];
    return {
      ...this.#blocksOf(
        {
          features: learned.features.map(({ stored }) => stored),
          target: { codes: this.#texts.length, labels: values },
          groups: { codes: this.#texts.length + 1, groups: groups.codes },
          inputs: encodedWidth(specs),
        },
        { ofTraining: groups.trained, all: groups.labels.length },
      ),
      ...{ specs, target, sensitive, positiveLabel, naValues, counts, groupLabels: groups.labels },
      nDropped: this.#dropped,
      warnings: [...readingWarnings(readings), ...learned.warnings],
      remove: () => {
        this.#file.remove();
      },
    };
  }

  #blocksOf(
    encoding: Omit<RowEncoding, 'groupCount'>,
    groups: { readonly ofTraining: number; readonly all: number },
  ): Pick<StreamTraining, 'train' | 'validation' | 'heldOut'> {
    const file = this.#file.finish();
    const { inputs } = encoding;
    const rows = (parts: readonly number[], groupCount: number, maxRows = Infinity): RowBlocks => ({
      ...{ file, encoding: { ...encoding, groupCount }, inputs, groupCount },
      blocks: blocksOf(file, parts, maxRows),
    });
    // A block of training rows is a random sample, and is not divided further.
    const parts = Array.from({ length: this.#blocks }, (_, block) => TRAIN + block);
    return {
      train: rows(parts, groups.ofTraining),
      validation: rows([VALIDATION], groups.ofTraining),
      heldOut: rows([HELD_OUT], groups.all, this.#blockRows),
    };
  }
}

function isMissingTarget({ missing, isNumeric }: StreamTarget, label: string): boolean {
  return missing.has(label) || (isNumeric && numbersAmong(missing).includes(Number(label)));
}

function columnOf({ columns, title }: RowStream, name: string): StreamedColumn {
  const found = columns.find((column) => column.name === name);
  if (found !== undefined) return found;
  throw unknownColumn(
    name,
    columns.map((column) => column.name),
    title,
  );
}

function assertNumbers(rows: RowStream, name: string): void {
  if (columnOf(rows, name).kind === 'numbers') return;
  throw new DataValidationError(`Column '${name}' of ${rows.title} holds text, but numbers in the training rows.`, {
    code: 'invalid-value',
    context: { column: name },
    suggestion: 'Give training rows and test rows the same types.',
  });
}

/** Returns the number of rows by group and label: 2 x group + label. */
function countsBy(
  counted: ReadonlyMap<number, number>,
  { codes, labels }: { readonly codes: Int32Array; readonly labels: readonly string[] },
  values: Uint8Array,
): Float64Array {
  const counts = new Float64Array(2 * labels.length);
  for (const [key, count] of counted) {
    const group = codes[Math.floor(key / MAX_CODES)] as number;
    const cell = 2 * group + (values[key % MAX_CODES] as number);
    counts[cell] = (counts[cell] as number) + count;
  }
  return counts;
}

function assertBothClasses(counts: Float64Array, target: string): void {
  const has = (label: number): boolean => counts.some((count, cell) => cell % 2 === label && count > 0);
  assertTwoClasses(Uint8Array.from([0, 1].filter(has)), target);
}
