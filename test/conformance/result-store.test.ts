import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';
import fc from 'fast-check';

import { FileResultStore, ResultStore, type ResultStoreLike } from '../../src/api/store/index.ts';
import { ValueError } from '../../src/exceptions/index.ts';

interface Opened {
  readonly store: ResultStoreLike<unknown> & { readonly size: number };
  readonly close: () => Promise<void>;
}

interface OpenOptions {
  readonly capacity?: number;
  readonly maxBytes?: number;
  readonly sizeOf?: (value: unknown) => number;
  readonly onEvict?: (id: string, value: unknown) => void;
}

const STORES: Readonly<Record<string, (options?: OpenOptions) => Promise<Opened>>> = {
  ResultStore: async (options) => {
    await Promise.resolve();
    return { store: new ResultStore(options), close: () => Promise.resolve() };
  },
  FileResultStore: async (options) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-store-'));
    const store = await FileResultStore.open(folder, options).catch((error: unknown) => {
      rmSync(folder, { recursive: true });
      throw error;
    });
    return {
      store,
      close: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

const idsOf = (store: ResultStoreLike<unknown>) => [...store.entries()].map(([id]) => id);

/** Returns the size of a value in bytes, as JSON. */
const lengthOf = (value: unknown) => JSON.stringify(value).length;

/** A reference store: a list with the least recently used entry first, slow and simple. */
class ListStore {
  readonly #capacity: number;
  readonly #maxBytes: number;
  entries: [string, unknown][] = [];
  readonly evicted: string[] = [];

  constructor(capacity: number, maxBytes: number) {
    this.#capacity = capacity;
    this.#maxBytes = maxBytes;
  }

  /** Returns whether an entry must be evicted. The last remaining entry may have any size. */
  get #isOver() {
    const bytes = this.entries.reduce((sum, [, value]) => sum + lengthOf(value), 0);
    return this.entries.length > this.#capacity || (this.entries.length > 1 && bytes > this.#maxBytes);
  }

  get(id: string) {
    const found = this.entries.find(([one]) => one === id);
    if (found !== undefined) this.entries = [...this.entries.filter((one) => one !== found), found];
    return found?.[1];
  }

  set(id: string, value: unknown) {
    this.entries = [...this.entries.filter(([one]) => one !== id), [id, value]];
    while (this.#isOver) this.evicted.push(this.entries.shift()?.[0] ?? '');
  }

  has(id: string) {
    return this.entries.some(([one]) => one === id);
  }

  delete(id: string) {
    const had = this.has(id);
    this.entries = this.entries.filter(([one]) => one !== id);
    return had;
  }
}

const anyStep = fc.record({
  method: fc.constantFrom('get' as const, 'set' as const, 'set' as const, 'has' as const, 'delete' as const),
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  value: fc.jsonValue(),
});

for (const [name, open] of Object.entries(STORES)) {
  describe(`the conformance of ${name}`, () => {
    let opened: Opened | undefined;
    const openStore = async (options?: OpenOptions) => {
      opened = await open(options);
      return opened.store;
    };
    const fill = async (store: ResultStoreLike<unknown>, ids: Iterable<string>) => {
      for (const id of ids) await store.set(id, { of: id });
    };
    afterEach(async () => {
      await opened?.close();
      opened = undefined;
    });

    it('begins empty', async () => {
      const store = await openStore();
      expect(store.size).to.equal(0);
      expect(idsOf(store)).to.deep.equal([]);
      expect(await store.get('a')).to.be.undefined;
      expect(await store.has('a')).to.be.false;
      expect(await store.delete('a')).to.be.false;
    });

    it('returns the last value set', async () => {
      const store = await openStore();
      await fill(store, 'ab');
      await store.set('a', 'new');
      expect(await store.get('a')).to.equal('new');
      expect(await store.get('b')).to.deep.equal({ of: 'b' });
      expect(store.size).to.equal(2);
    });

    for (const value of [null, 0, '', false, [], {}]) {
      it(`keeps ${JSON.stringify(value)} as a value like any other value`, async () => {
        const store = await openStore();
        await store.set('a', value);
        expect(await store.has('a')).to.be.true;
        expect(await store.get('a')).to.deep.equal(value);
      });
    }

    it('holds 500 entries, and the 501st evicts only the least recently used', async function () {
      this.timeout(60_000);
      const evicted: string[] = [];
      const store = await openStore({ onEvict: (id) => evicted.push(id) });
      await Promise.all(Array.from({ length: 500 }, (_, i) => store.set(`run-${i}`, i)));
      expect(store.size).to.equal(500);
      // The order in which 500 concurrent writes finish is not defined.
      const [oldest = '', second = ''] = idsOf(store);
      expect(evicted).to.deep.equal([]);
      await store.get(oldest);
      await store.set('run-500', 500);
      expect(store.size).to.equal(500);
      expect(await store.has(second)).to.be.false;
      expect(await store.has(oldest)).to.be.true;
      expect(evicted).to.deep.equal([second]);
    });

    it('counts get and set as uses, but not has and entries', async () => {
      const store = await openStore({ capacity: 3 });
      await fill(store, 'abc');
      await store.get('a');
      await store.set('b', 'again');
      expect(idsOf(store)).to.deep.equal(['c', 'a', 'b']);
      await store.has('c');
      expect([...store.entries()][0]).to.deep.equal(['c', { of: 'c' }]);
      expect(idsOf(store)).to.deep.equal(['c', 'a', 'b']);
      await store.set('d', 1);
      expect(await store.has('c')).to.be.false;
    });

    it('reports evicted entries with their values, but not replaced or deleted ones', async () => {
      const evicted: [string, unknown][] = [];
      const store = await openStore({ capacity: 2, onEvict: (...one) => evicted.push(one) });
      await fill(store, 'ab');
      await store.set('a', 'again');
      await store.delete('a');
      await fill(store, 'cd');
      expect(evicted).to.deep.equal([['b', { of: 'b' }]]);
    });

    it('keeps the last entry if there is room for one', async () => {
      const store = await openStore({ capacity: 1 });
      await fill(store, 'abc');
      expect(idsOf(store)).to.deep.equal(['c']);
    });

    describe('with a bound of 100 bytes', () => {
      const bound = { maxBytes: 100, sizeOf: (value: unknown) => (value as { bytes: number }).bytes };
      const sized: readonly [title: string, sizes: readonly number[], left: string][] = [
        ['keeps what fits to the byte', [50, 50], 'ab'],
        ['drops the least recently used for one byte more', [50, 50, 1], 'bc'],
        ['drops as many as it takes', [30, 30, 30, 80], 'd'],
        ['keeps one entry of exactly the bound', [10, 100], 'b'],
        ['keeps a single entry that is larger', [10, 1_000_000], 'b'],
        ['drops a larger entry for the next one of any size', [1_000_000, 1], 'b'],
        ['drops a larger entry for the next larger one', [1_000_000, 1_000_000], 'b'],
      ];
      for (const [title, sizes, left] of sized) {
        it(title, async () => {
          const store = await openStore(bound);
          for (const [index, bytes] of sizes.entries()) await store.set('abcd'[index] ?? '', { bytes });
          expect(idsOf(store).join('')).to.equal(left);
          expect(store.size).to.equal(left.length);
          for (const id of left) expect(await store.get(id)).to.deep.equal({ bytes: sizes['abcd'.indexOf(id)] });
        });
      }

      it('does not count a replaced or deleted value', async () => {
        const store = await openStore(bound);
        await store.set('a', { bytes: 90 });
        await store.set('a', { bytes: 10 });
        await store.set('b', { bytes: 90 });
        expect(idsOf(store)).to.deep.equal(['a', 'b']);
        await store.delete('b');
        await store.set('c', { bytes: 90 });
        expect(idsOf(store)).to.deep.equal(['a', 'c']);
      });

      it('limits the number of entries even if they have size 0', async () => {
        const store = await openStore({ ...bound, capacity: 2 });
        for (const id of 'abc') await store.set(id, { bytes: 0 });
        expect(idsOf(store)).to.deep.equal(['b', 'c']);
      });
    });

    for (const maxBytes of [0, -1, 1.5, NaN, Infinity, '5' as unknown as number]) {
      it(`rejects a bound of ${String(maxBytes)} bytes (${typeof maxBytes})`, async () => {
        const failure: unknown = await open({ maxBytes, sizeOf: lengthOf }).catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(ValueError);
        expect((failure as ValueError).message).to.include('The maxBytes parameter must be a whole number from 1 to');
      });
    }

    it('rejects a bound of bytes without a size function', async () => {
      const failure: unknown = await open({ maxBytes: 5 }).catch((error: unknown) => error);
      expect((failure as ValueError).message).to.include('The sizeOf parameter must be given if maxBytes is given.');
    });

    it('returns a snapshot of the entries', async () => {
      const store = await openStore();
      await fill(store, 'ab');
      const before = store.entries();
      await store.delete('a');
      await store.set('c', 1);
      expect([...before].map(([id]) => id)).to.deep.equal(['a', 'b']);
    });

    for (const capacity of [0, -1, 1.5, NaN, Infinity, 10_000_001, '5' as unknown as number]) {
      it(`rejects a capacity of ${String(capacity)} (${typeof capacity})`, async () => {
        const failure: unknown = await open({ capacity }).catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(ValueError);
        expect((failure as ValueError).message).to.include(
          `The capacity parameter must be a whole number from 1 to 10000000. Got ${String(capacity)} instead.`,
        );
      });
    }

    it('behaves like a plain list under random operations', async function () {
      this.timeout(60_000);
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 4 }),
          fc.integer({ min: 1, max: 60 }),
          fc.array(anyStep, { maxLength: 30 }),
          async (capacity, maxBytes, steps) => {
            const evicted: string[] = [];
            const { store, close } = await open({
              capacity,
              maxBytes,
              sizeOf: lengthOf,
              onEvict: (id) => evicted.push(id),
            });
            const model = new ListStore(capacity, maxBytes);
            try {
              for (const { method, id, value } of steps) {
                if (method === 'set') {
                  await store.set(id, value);
                  model.set(id, value);
                } else {
                  expect(await store[method](id)).to.deep.equal(model[method](id));
                }
                expect([...store.entries()]).to.deep.equal(model.entries);
                expect(store.size).to.equal(model.entries.length);
              }
              expect(evicted).to.deep.equal(model.evicted);
            } finally {
              await close();
            }
          },
        ),
        { seed: 20_260, numRuns: name === 'ResultStore' ? 300 : 40 },
      );
    });
  });
}
