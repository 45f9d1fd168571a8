import type { NetworkRows } from '../../tensor/index.ts';
import { assertNear, type NumericFeature, specWidth } from './feature-encoder.ts';
import { readRows, type RowColumns, type RowFile } from './row-file.ts';

/** A feature in a {@link RowFile}: its encoding, and where its values are. */
export type StoredFeature =
  | {
      readonly kind: 'numeric';
      readonly spec: NumericFeature;
      /** The column of numbers; undefined if the numbers are the texts of a column of codes. */
      readonly numbers: number | undefined;
      readonly codes: number | undefined;
      /** The number of each code. */
      readonly values: Float64Array | undefined;
    }
  | {
      readonly kind: 'categorical';
      readonly codes: number;
      /** The matrix column of each code within the feature; -1 for a text without a column. */
      readonly positions: Int32Array;
      /** The matrix column of missing values; -1 if they have none. */
      readonly missing: number;
      readonly width: number;
    };

/** How rows of a {@link RowFile} become rows for a network. This object is plain data. */
export interface RowEncoding {
  readonly features: readonly StoredFeature[];
  /** The column of the target's codes, and the label (0 or 1) of each code. */
  readonly target: { readonly codes: number; readonly labels: Uint8Array };
  /** The column of the codes of groups, and the group of each code. */
  readonly groups: { readonly codes: number; readonly groups: Int32Array };
  readonly inputs: number;
  readonly groupCount: number;
}

/** A block of rows that fits into memory: some chunks of a part of a {@link RowFile}. */
export interface RowBlock {
  readonly part: number;
  readonly chunks: readonly [first: number, end: number];
  readonly rows: number;
}

/** Rows for a network in a file, which are read block by block. This object is plain data. */
export interface RowBlocks {
  readonly file: RowFile;
  readonly encoding: RowEncoding;
  readonly blocks: readonly RowBlock[];
  readonly inputs: number;
  readonly groupCount: number;
}

/** Returns whether rows are in a file. */
export function areInFile(rows: object): rows is RowBlocks {
  return 'blocks' in rows;
}

/** Returns the number of rows of all blocks. */
export function countBlockRows({ blocks }: Pick<RowBlocks, 'blocks'>): number {
  return blocks.reduce((sum, { rows }) => sum + rows, 0);
}

/** Reads and encodes a block. */
export function loadBlock({ file, encoding }: RowBlocks, { part, chunks }: RowBlock): NetworkRows {
  return encodeRows(readRows(file, part, chunks), encoding);
}

/** Splits parts of a file into blocks of at most `maxRows` rows, or of one chunk. */
export function blocksOf({ parts, chunkRows }: RowFile, wanted: readonly number[], maxRows: number): RowBlock[] {
  return wanted.flatMap((part) => {
    const { rows, offsets } = parts[part] as RowFile['parts'][number];
    const atOnce = Math.max(1, Math.min(offsets.length, Math.floor(maxRows / chunkRows)));
    return Array.from({ length: Math.ceil(offsets.length / atOnce) }, (_, index): RowBlock => {
      const [first, end] = [index * atOnce, Math.min(offsets.length, (index + 1) * atOnce)];
      return { part, chunks: [first, end], rows: Math.min(rows, end * chunkRows) - first * chunkRows };
    });
  });
}

/** Returns the width of a feature in the matrix. */
function widthOf(feature: StoredFeature): number {
  return feature.kind === 'numeric' ? specWidth(feature.spec) : feature.width;
}

function encodeRows(columns: RowColumns, { features, target, groups, inputs, groupCount }: RowEncoding): NetworkRows {
  const { rows } = columns;
  const x = new Float32Array(rows * inputs);
  let offset = 0;
  for (const feature of features) {
    if (feature.kind === 'numeric') encodeNumbers(numbersOf(columns, feature), feature.spec, x, offset, inputs);
    else encodeCodes(columns.codes[feature.codes] as Int32Array, feature, x, offset, inputs);
    offset += widthOf(feature);
  }
  const ofTarget = columns.codes[target.codes] as Int32Array;
  const ofGroups = columns.codes[groups.codes] as Int32Array;
  return {
    x,
    y: Float32Array.from(ofTarget, (code) => target.labels[code] as number),
    groups: ofGroups.map((code) => groups.groups[code] as number),
    inputs,
    groupCount,
  };
}

function numbersOf(
  columns: RowColumns,
  { numbers, codes = 0, values }: Extract<StoredFeature, { kind: 'numeric' }>,
): Float64Array {
  if (numbers !== undefined) return columns.numbers[numbers] as Float64Array;
  return Float64Array.from(columns.codes[codes] as Int32Array, (code) => values?.[code] ?? NaN);
}

/** Encodes numbers as `encodeFeatures` does. */
function encodeNumbers(
  values: Float64Array,
  spec: NumericFeature,
  matrix: Float32Array,
  offset: number,
  width: number,
): void {
  const { mean, scale, marksMissing } = spec;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if (!Number.isNaN(value)) {
      assertNear(spec, value);
      matrix[row * width + offset] = (value - mean) / scale;
    } else if (marksMissing) matrix[row * width + offset + 1] = 1;
  }
}

function encodeCodes(
  codes: Int32Array,
  { positions, missing }: Extract<StoredFeature, { kind: 'categorical' }>,
  matrix: Float32Array,
  offset: number,
  width: number,
): void {
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] as number;
    const position = code < 0 ? missing : (positions[code] as number);
    if (position >= 0) matrix[row * width + offset + position] = 1;
  }
}
