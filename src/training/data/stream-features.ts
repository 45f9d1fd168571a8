import { DataValidationError } from '../../exceptions/index.ts';
import { formatCount } from '../../internal/format.ts';
import {
  asNumbersWithout,
  type CategoricalColumn,
  type Column,
  type ColumnReading,
  MISSING_LABEL,
  missingOutcomes,
  readingOfMissing,
} from '../../table/index.ts';
import { assertNotNumbers, categoricalSpec, type FeatureSpec, numericSpec } from './feature-encoder.ts';
import { LabelDictionary, MAX_TEXTS } from './label-dictionary.ts';
import type { StoredFeature } from './row-blocks.ts';
import type { RowColumns } from './row-file.ts';

/** A numeric feature while its rows are read. */
export interface NumberFeature {
  readonly name: string;
  /** The column of the file. */
  readonly column: number;
  /** The moments of the training rows (Welford's algorithm). */
  known: number;
  mean: number;
  squares: number;
  isVarying: boolean;
  first: number;
  /** The numbers that mean a missing value, with their numbers of rows. */
  readonly missing: Map<number, number>;
}

/** A text feature while its rows are read. */
export interface TextFeature {
  readonly name: string;
  /** The column of the file. */
  readonly column: number;
  readonly dictionary: LabelDictionary;
  /** The number of training rows of each code. */
  readonly training: number[];
  missing: number;
}

/** The features of a stream of rows, with what the rows show of them. */
export interface StreamFeatures {
  readonly numbers: readonly NumberFeature[];
  readonly texts: readonly TextFeature[];
}

/** Returns a numeric feature without rows. */
export function emptyNumber(name: string, column: number, missing: readonly number[]): NumberFeature {
  const none = { known: 0, mean: 0, squares: 0, isVarying: false, first: NaN };
  return { name, column, ...none, missing: new Map(missing.map((value) => [value, 0])) };
}

/** Returns a text feature without rows. */
export function emptyText(name: string, column: number): TextFeature {
  return { name, column, dictionary: new LabelDictionary(), training: [], missing: 0 };
}

/** Adds a training row to the moments of the numbers, and to the counts of the texts. */
export function addTrainingRow({ numbers, texts }: StreamFeatures, columns: RowColumns, row: number): void {
  for (const feature of numbers) {
    const value = (columns.numbers[feature.column] as Float64Array)[row] as number;
    if (Number.isNaN(value)) continue;
    if (feature.known === 0) feature.first = value;
    else if (value !== feature.first) feature.isVarying = true;
    feature.known++;
    const difference = value - feature.mean;
    feature.mean += difference / feature.known;
    feature.squares += difference * (value - feature.mean);
  }
  for (const feature of texts) {
    const code = (columns.codes[feature.column] as Int32Array)[row] as number;
    if (code < 0) feature.missing++;
    else feature.training[code] = (feature.training[code] ?? 0) + 1;
  }
}

/** The encodings that were learned from training rows. */
export interface LearnedFeatures {
  readonly features: readonly LearnedFeature[];
  readonly readings: readonly ColumnReading[];
  readonly warnings: readonly string[];
}

/** Learns the encoding of features from their training rows, in the order of `names`. */
export function learnFeatures(
  { numbers, texts }: StreamFeatures,
  names: readonly string[],
  trainingRows: number,
  options: {
    readonly naValues: readonly string[] | undefined;
    /** Replaces decimal commas in the texts of a column. */
    readonly pointed: (name: string, column: CategoricalColumn) => Column;
  },
): LearnedFeatures {
  const warnings: string[] = [];
  const read = texts.map((feature) => readText(feature, options));
  const features = names.flatMap((name): LearnedFeature[] => {
    const number = numbers.find((feature) => feature.name === name);
    if (number !== undefined) return learnNumber(number, trainingRows, warnings);
    const text = read.find(({ feature }) => feature.name === name);
    return text === undefined ? [] : learnText(text, trainingRows, warnings);
  });
  const readings = [
    ...numbers.flatMap(({ name, missing }) => missingReadings(name, missing)),
    ...read.flatMap((text) => text.readings),
  ];
  return { features, readings, warnings };
}

function readText(feature: TextFeature, { naValues, pointed }: Parameters<typeof learnFeatures>[3]): ReadText {
  const { name, dictionary } = feature;
  const missing = missingOutcomes(naValues);
  const texts = dictionary.labels.filter((label) => label !== '' && missing.has(label));
  const counts = Object.fromEntries(texts.map((label) => [label, dictionary.countOf(label)]));
  const column = asNumbersWithout(pointed(name, dictionary.column()), missing);
  return { feature, column, readings: texts.length === 0 ? [] : [readingOfMissing('features', counts, name)] };
}

function learnNumber(
  { name, known, mean, squares, isVarying, first, column }: NumberFeature,
  rows: number,
  warnings: string[],
): LearnedFeature[] {
  const score = isVarying ? { mean, scale: Math.sqrt(squares / known) } : { mean: first, scale: 0 };
  return numericSpec(name, { ...score, known, rows }, warnings).map((spec) => ({
    spec,
    stored: { kind: 'numeric', spec, numbers: column, codes: undefined, values: undefined },
  }));
}

/** A text feature as a column with one row for each code. */
interface ReadText {
  readonly feature: TextFeature;
  readonly column: Column;
  readonly readings: readonly ColumnReading[];
}

/** The encoding of a feature, and where its values are. */
interface LearnedFeature {
  readonly spec: FeatureSpec;
  readonly stored: StoredFeature;
}

function missingReadings(name: string, missing: ReadonlyMap<number, number>): ColumnReading[] {
  const counts = Object.fromEntries(
    [...missing].filter(([, count]) => count > 0).map(([value, count]) => [String(value), count]),
  );
  return Object.keys(counts).length === 0 ? [] : [readingOfMissing('features', counts, name)];
}

function learnText({ feature, column }: ReadText, rows: number, warnings: string[]): LearnedFeature[] {
  const { name, column: codes, training, dictionary } = feature;
  const inTraining = (code: number): number => training[code] ?? 0;
  if (dictionary.labels.length > MAX_TEXTS) {
    assertNotNumbers(
      name,
      dictionary.labels.map((label, code) => ({ label, count: inTraining(code) })),
      true,
    );
    warnings.push(
      `feature '${name}' is excluded: it has more than ${formatCount(MAX_TEXTS)} distinct texts, which look like identifiers`,
    );
    return [];
  }
  if (column.kind === 'numeric') {
    const { values } = column;
    const { mean, scale, known } = weightedScore(values, inTraining);
    return numericSpec(name, { mean, scale, known, rows }, warnings).map((spec) => ({
      spec,
      stored: { kind: 'numeric', spec, numbers: undefined, codes, values },
    }));
  }
  const counts = new Float64Array(column.labels.length);
  let { missing } = feature;
  column.codes.forEach((label, code) => {
    if (label < 0) missing += inTraining(code);
    else counts[label] = (counts[label] as number) + inTraining(code);
  });
  return categoricalSpec(name, { labels: column.labels, counts, missing }, warnings).map((spec) => {
    const { levels } = spec;
    const positionOf = new Map(levels.map((level, index) => [level, index]));
    const ofMissing = positionOf.get(MISSING_LABEL) ?? -1;
    const positions = Int32Array.from(column.codes, (label) =>
      label < 0 ? ofMissing : (positionOf.get(column.labels[label] as string) ?? -1),
    );
    return { spec, stored: { kind: 'categorical', codes, positions, missing: ofMissing, width: levels.length } };
  });
}

/** Returns the mean and the standard deviation of numbers with counts. */
function weightedScore(
  values: Float64Array,
  countOf: (index: number) => number,
): { readonly mean: number; readonly scale: number; readonly known: number } {
  let [known, mean, squares] = [0, 0, 0];
  values.forEach((value, index) => {
    const count = countOf(index);
    if (Number.isNaN(value) || count === 0) return;
    known += count;
    const difference = value - mean;
    mean += (difference * count) / known;
    squares += count * difference * (value - mean);
  });
  const seen = values.filter((value, index) => !Number.isNaN(value) && countOf(index) > 0);
  return { mean, scale: new Set(seen).size > 1 ? Math.sqrt(squares / known) : 0, known };
}

/** Replaces the numbers that mean a missing value by NaN. */
export function cleanNumbers(
  values: Float64Array,
  rows: number,
  { name, missing }: NumberFeature,
  { firstRow, isCounted }: { readonly firstRow: number; readonly isCounted: boolean },
): void {
  for (let row = 0; row < rows; row++) {
    const value = values[row] as number;
    if (value === Infinity || value === -Infinity) throw infinite(name, value, firstRow + row);
    if (missing.size === 0) continue;
    const count = missing.get(value);
    if (count === undefined) continue;
    if (isCounted) missing.set(value, count + 1);
    values[row] = NaN;
  }
}

function infinite(name: string, value: number, row: number): DataValidationError {
  return new DataValidationError(
    `Column '${name}' must be finite, but row ${String(row + 1)} holds ${String(value)}.`,
    {
      code: 'invalid-value',
      context: { column: name, row, value },
      suggestion: 'Correct or clear that value.',
    },
  );
}
