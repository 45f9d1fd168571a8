import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { FairnessToolkitError } from '../../src/exceptions/index.ts';
import { countReads, loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';
import { onDevice } from '../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';
import { assertAgree, plainOf } from './row-sources/agree.ts';
import type { Entry } from './row-sources/entry.ts';
import { exportsWithRows, METHODS_WITHOUT_ROWS, WITHOUT_ROWS } from './row-sources/exports.ts';
import { METRIC_ENTRIES } from './row-sources/metric-entries.ts';
import { disposeRows, repeatRows, rowsIn, type Rows, type SourceKind } from './row-sources/sources.ts';
import { TABLE_ENTRIES } from './row-sources/table-entries.ts';
import { TRAINING_ENTRIES } from './row-sources/training-entries.ts';

const ENTRIES: Readonly<Record<string, Entry>> = { ...METRIC_ENTRIES, ...TABLE_ENTRIES, ...TRAINING_ENTRIES };

const ROWS = 200;

/** Returns a function whose result is computed once for the same arguments. */
function once<Given extends string[], Value>(compute: (...given: Given) => Promise<Value>) {
  const known = new Map<string, Promise<Value>>();
  return (...given: Given): Promise<Value> => {
    const key = given.join(' ');
    const found = known.get(key) ?? compute(...given);
    known.set(key, found);
    return found;
  };
}

const preparedFor = once((name: string, backend: TensorBackend) => Promise.resolve(ENTRIES[name]?.prepare?.(backend)));

async function answerOf(entry: Entry, rows: Rows, prepared: unknown): Promise<Awaited<ReturnType<typeof plainOf>>> {
  const result = await entry.call(rows, prepared);
  return plainOf(entry.answer === undefined ? result : await entry.answer(result));
}

/** The answer for arrays, on the host or, for networks, on cpu. If an entry takes only tensors, those of cpu. */
const expectedOf = once(async (name: string) => {
  const entry = ENTRIES[name] as Entry;
  await loadTensorflow({ backend: 'cpu' });
  const rows = rowsIn(entry.takesOnlyTensors === true ? 'tensors' : 'arrays', ROWS, 'cpu');
  const answer = await answerOf(entry, rows, await preparedFor(name, 'cpu'));
  disposeRows(rows);
  return answer;
});

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** Checks that an error says what is wrong and how to fix it. */
function assertClear(error: unknown, message: RegExp): void {
  expect(FairnessToolkitError.isInstance(error), String(error)).to.equal(true);
  const { message: text, suggestion } = error as FairnessToolkitError;
  expect(`${text} ${suggestion ?? ''}`).to.match(message);
  expect(suggestion, text).to.be.a('string');
}

describe('the public entries that take rows', () => {
  it('are all in the table, and everything else is listed with what it takes instead', () => {
    const listed = new Set(Object.values(WITHOUT_ROWS).flat());
    const listedMethods = new Set(Object.values(METHODS_WITHOUT_ROWS).flat());
    const tabled = new Set(Object.keys(ENTRIES).map((name) => name.split(' ')[0] as string));
    const owners = new Set([...tabled].map((name) => name.split('.')[0] as string));
    const found = exportsWithRows();
    const expected = found.flatMap(({ name, methods }) => {
      if (!owners.has(name)) return [name];
      const own = methods
        .filter((method) => !listedMethods.has(method) || tabled.has(`${name}.${method}`))
        .map((method) => `${name}.${method}`);
      // The estimator that an adapter returns has the methods.
      return own.length === 0 ? [...tabled].filter((key) => key.split('.')[0] === name) : own;
    });
    expect([...tabled, ...listed].sort()).to.deep.equal([...expected].sort());
  });
});

describe('rows on the host', () => {
  for (const [name, entry] of Object.entries(ENTRIES)) {
    if (entry.takesOnlyTensors === true) continue;
    for (const kind of ['typed arrays', 'danfojs'] as SourceKind[]) {
      const rejected = entry.rejects?.[kind];
      it(`${name} ${rejected === undefined ? 'gives the same answer for' : 'rejects'} ${kind}`, async () => {
        const expected = await expectedOf(name);
        const rows = rowsIn(kind, ROWS, 'cpu');
        const prepared = await preparedFor(name, 'cpu');
        if (rejected !== undefined) assertClear(await errorOf(() => answerOf(entry, rows, prepared)), rejected);
        else assertAgree(await answerOf(entry, rows, prepared), expected, 'exact');
      });
    }
  }
});

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `rows in tensors on ${backend}`, () => {
    onDevice(backend);
    for (const [name, entry] of Object.entries(ENTRIES)) {
      it(`${name} gives the same answer, and leaves no tensor`, async () => {
        const expected = await expectedOf(name);
        const prepared = await preparedFor(name, backend);
        // The answer for arrays may have been computed on another backend.
        await loadTensorflow({ backend });
        const held = tf.memory().numTensors;
        const rows = rowsIn('tensors', ROWS, backend);
        if (entry.tensors === 'now' && backend === 'webgpu') {
          assertClear(
            await errorOf(() => answerOf(entry, rows, prepared)),
            /cannot be read synchronously.*await .*data\(\)/,
          );
        } else {
          // The logarithm of a GPU has an absolute error of 5e-7.
          const factor = backend === 'webgpu' ? 20 : 1;
          assertAgree(await answerOf(entry, rows, prepared), expected, entry.agreement, factor);
        }
        disposeRows(rows);
        expect(tf.memory().numTensors).to.equal(held);
      });
    }
  });
}

/** Returns what an entry reads of rows. */
async function readsOf(name: string, rows: Rows): Promise<{ reads: number; values: number }> {
  const prepared = await preparedFor(name, rows.backend);
  await loadTensorflow({ backend: rows.backend });
  const { result, reads, values } = await countReads(tf, async () => [await ENTRIES[name]?.call(rows, prepared)]);
  tf.dispose(result as tf.TensorContainer);
  return { reads, values };
}

/** The numbers of rows that are compared. The software GPU of webgpu is slow. */
const COMPARED: readonly (readonly [backend: TensorBackend, few: number, many: number, suffix: string])[] = [
  ['wasm', 4000, 16_000, ''],
  ['wasm', 10_000, 1_000_000, ' @study'],
  ['node', 10_000, 50_000, ''],
  ['webgpu', 500, 1000, ''],
];

for (const [backend, count, more, suffix] of COMPARED) {
  describeOn(backend, `what the host reads of tensors on ${backend}`, () => {
    onDevice(backend);
    let [few, many]: Rows[] = [];
    beforeEach('repeat the same rows', () => {
      few ??= rowsIn('tensors', count, backend);
      many ??= repeatRows(few, more / count);
    });
    after(async () => {
      await loadTensorflow({ backend });
      for (const rows of [few, many]) if (rows !== undefined) disposeRows(rows);
    });
    const range = `${count.toLocaleString('en-US')} rows as for ${more.toLocaleString('en-US')}${suffix}`;
    for (const [name, { tensors, readsOfRow = 0, isIterative = false }] of Object.entries(ENTRIES)) {
      if (tensors !== 'device') continue;
      it(`${name}: as much for ${range}`, async function () {
        this.timeout(300_000);
        const [own, other] = [await readsOf(name, few as Rows), await readsOf(name, many as Rows)];
        const share = isIterative ? 0.25 : 0;
        expect(other.reads).to.be.closeTo(own.reads, share * own.reads);
        expect(other.values - own.values).to.be.closeTo(readsOfRow * (more - count), share * own.values);
      });
    }
  });
}
