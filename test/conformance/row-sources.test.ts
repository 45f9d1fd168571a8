import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { FairnessToolkitError } from '../../src/exceptions/index.ts';
import { countReads, loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';
import { onDevice } from '../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';
import { assertAgree, plainOf } from './row-sources/agree.ts';
import type { Entry } from './row-sources/entry.ts';
import { METRIC_ENTRIES } from './row-sources/metric-entries.ts';
import { disposeRows, repeatRows, rowsIn, type Rows, type SourceKind } from './row-sources/sources.ts';
import { TABLE_ENTRIES } from './row-sources/table-entries.ts';
import { TRAINING_ENTRIES } from './row-sources/training-entries.ts';

const ENTRIES: Readonly<Record<string, Entry>> = { ...METRIC_ENTRIES, ...TABLE_ENTRIES, ...TRAINING_ENTRIES };

const ROWS = 500;

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
  return plainOf(entry.answer === undefined ? result : await entry.answer(result, rows));
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

/** What an entry reads of tensors of this many rows. */
async function readsOf(name: string, base: Rows, times: number): Promise<{ reads: number; values: number }> {
  const prepared = await preparedFor(name, 'wasm');
  await loadTensorflow({ backend: 'wasm' });
  const rows = repeatRows(base, times);
  const { result, reads, values } = await countReads(tf, async () => ({
    made: await ENTRIES[name]?.call(rows, prepared),
  }));
  tf.dispose(result.made as tf.TensorContainer);
  disposeRows(rows);
  return { reads, values };
}

describe('what the host reads of tensors', () => {
  onDevice('wasm');
  for (const [name, entry] of Object.entries(ENTRIES)) {
    if (entry.tensors !== 'device') continue;
    for (const [rows, suffix] of [
      [50_000, ''],
      [1_000_000, ' @slow'],
    ] as const) {
      it(`${name}: as much for 10,000 rows as for ${rows.toLocaleString('en-US')}${suffix}`, async function () {
        this.timeout(300_000);
        const base = rowsIn('tensors', 10_000, 'wasm');
        const few = await readsOf(name, base, 1);
        const many = await readsOf(name, base, rows / 10_000);
        disposeRows(base);
        const { readsOfRow = 0 } = entry;
        if (process.env['SHOW']) console.log(name, few, many);
        expect(many.values - few.values).to.equal(readsOfRow * (rows - 10_000));
        expect(many.reads).to.equal(few.reads);
      });
    }
  }
});
