import { createRequire } from 'node:module';

import * as tf from '@tensorflow/tfjs';

import { createRandom } from '../../../src/internal/random.ts';
import type { ColumnSource, TableSource, TensorLike } from '../../../src/table/index.ts';
import type { TensorBackend } from '../../../src/tensor/index.ts';

/** Loads danfojs on first use, because it loads the TensorFlow.js that it finds. */
const danfo = (): typeof import('danfojs-node') =>
  createRequire(import.meta.url)('danfojs-node') as typeof import('danfojs-node');

type Series = import('danfojs-node').Series;

/** The ways in which a caller may hold rows. */
export type SourceKind = 'arrays' | 'typed arrays' | 'danfojs' | 'tensors';

/** The columns of the rows, in numbers that float32 holds exactly. */
export type ColumnName = keyof ReturnType<typeof makeRows>;

/** The features, which are also columns. */
const FEATURES = ['skill', 'years', 'town'] as const;

/** The features of rows: a list of rows, columns x0, x1 and x2, a data frame of them, or a tensor. */
type Features = number[][] | TableSource | TensorLike;

/** The same rows in any kind of source. */
export type Rows = Readonly<Record<ColumnName, ColumnSource>> & {
  /** The features, [rows, 3]. */
  readonly x: Features;
  readonly names: readonly ColumnName[];
  /** Returns a table of some columns. */
  table(...names: ColumnName[]): TableSource;
  readonly kind: SourceKind;
  readonly count: number;
  /** The backend on which tensors and networks compute. */
  readonly backend: TensorBackend;
};

/** Three groups with different rates. Scores lie on the grid of 2^-13, on which the histograms of a device are exact. */
function makeRows(n: number) {
  const random = createRandom(21);
  const column = (value: (group: number) => number): Float32Array => Float32Array.from(group, value);
  const group = Int32Array.from({ length: n }, () => random.integer(3));
  const skill = column((code) => Math.round(64 * (random.normal() + code / 2)) / 64);
  const score = skill.map((own) => Math.round(2 ** 13 / (1 + Math.exp(-own))) / 2 ** 13);
  return {
    group,
    region: Int32Array.from(group, () => random.integer(2)),
    id: Int32Array.from(group.keys()),
    skill,
    years: column(() => 2000 + random.integer(20)),
    town: column((code) => Number(random.next() < (code + 1) / 4)),
    score,
    decision: score.map((own) => Number(own >= 0.5)),
    label: score.map((own) => Number(random.next() < own)),
    amount: skill.map((own) => 50 + Math.round(160 * own + 80 * random.normal()) / 16),
    guess: skill.map((own) => 50 + Math.round(160 * own) / 16),
    weight: column(() => (1 + random.integer(4)) / 2),
  };
}

/** Holds some rows in one kind of source. Tensors are on the active backend, and disposed of by {@link disposeRows}. */
export function rowsIn(kind: SourceKind, n: number, backend: TensorBackend): Rows {
  const columns = makeRows(n);
  const hold: (values: Float32Array | Int32Array) => ColumnSource = {
    arrays: (values: Float32Array | Int32Array) => [...values],
    'typed arrays': (values: Float32Array | Int32Array) => values,
    danfojs: (values: Float32Array | Int32Array) => new (danfo().Series)([...values]),
    tensors: (values: Float32Array | Int32Array) => toTensor(values),
  }[kind];
  const held = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, hold(values)]));
  return withTables(held as Record<ColumnName, ColumnSource>, { kind, count: n, backend });
}

/** Repeats rows that are tensors. All rates, means and fits stay as they are. */
export function repeatRows(rows: Rows, times: number): Rows {
  const repeat = (name: ColumnName): tf.Tensor => (rows[name] as tf.Tensor1D).tile([times]);
  const held = Object.fromEntries(rows.names.map((name) => [name, repeat(name)]));
  return withTables(held as unknown as Record<ColumnName, tf.Tensor>, { ...rows, count: times * rows.count });
}

export function disposeRows(rows: Rows): void {
  tf.dispose(Object.values(rows).filter((held) => held instanceof tf.Tensor));
}

/** Returns a tensor that was computed on the device, so that the host has no copy. */
function toTensor(values: Float32Array | Int32Array): tf.Tensor1D {
  const one = tf.scalar(1, values instanceof Int32Array ? 'int32' : 'float32');
  const made = tf.tidy(() => tf.tensor1d(values).mul<tf.Tensor1D>(one));
  one.dispose();
  return made;
}

function withTables(
  held: Record<ColumnName, ColumnSource>,
  { kind, count, backend }: Pick<Rows, 'kind' | 'count' | 'backend'>,
): Rows {
  const features = FEATURES.map((name) => held[name]);
  const pick = (names: readonly ColumnName[]) => Object.fromEntries(names.map((name) => [name, held[name]]));
  const table = (...names: ColumnName[]): TableSource => {
    if (kind !== 'danfojs') return pick(names);
    const values = names.map((name) => [name, (held[name] as Series).values] as const);
    return new (danfo().DataFrame)(Object.fromEntries(values));
  };
  return {
    ...held,
    names: Object.keys(held) as ColumnName[],
    table,
    x: matrixOf(kind, features),
    kind,
    count,
    backend,
  };
}

/** The columns of a matrix are named x0, x1 and so on, so that a model of a table with these names takes it too. */
function matrixOf(kind: SourceKind, features: readonly ColumnSource[]): Features {
  if (kind === 'tensors') return tf.tidy(() => tf.stack(features as tf.Tensor1D[], 1));
  if (kind === 'arrays') {
    const [first, ...others] = features as [number[], ...number[][]];
    return first.map((value, row) => [value, ...others.map((values) => values[row] as number)]);
  }
  const named = features.map((held, column) => [`x${String(column)}`, held] as const);
  if (kind === 'typed arrays') return Object.fromEntries(named);
  return new (danfo().DataFrame)(Object.fromEntries(named.map(([name, held]) => [name, (held as Series).values])));
}

/** Few rows as arrays, for models that are fitted before, and for the predictions of models that are compared. */
export const ARRAYS = rowsIn('arrays', 200, 'cpu');
