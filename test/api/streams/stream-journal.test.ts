import { appendFileSync, mkdtempSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { type JournalEntry, StreamJournal } from '../../../src/api/streams/stream-journal.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

function entry(sequence: number, text = 'x'): JournalEntry {
  return { sequence, time: 1000 + sequence, kind: 'events', rows: [{ id: sequence, text }] };
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );
}

describe('the journal of a stream', () => {
  const root = useTemporaryFolder();
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(root(), 'journal-'));
  });
  const files = () => readdirSync(folder).sort();
  const only = () => path.join(folder, files()[0] ?? '');
  const reopen = async (after = 0) => {
    const { journal, entries } = await StreamJournal.open(folder, after);
    await journal.close();
    return entries;
  };

  it('returns the entries of an earlier process in their order, with every kind of text', async () => {
    const { journal } = await StreamJournal.open(folder, 0);
    const given = ['x', 'two\nlines', 'é漢🙂', '"\\', ''].map((text, index) => entry(index + 1, text));
    await journal.append(given.slice(0, 3));
    await journal.append(given.slice(3));
    // The process is killed here: the journal is not closed.
    expect(await reopen()).to.deep.equal(given);
    await journal.close();
  });

  it('drops an entry that was cut at any byte, keeps those before it, and continues after them', async () => {
    const { journal } = await StreamJournal.open(folder, 0);
    await journal.append([entry(1)]);
    const { bytes } = journal;
    await journal.append([entry(2)]);
    await journal.close();
    const complete = readFileSync(only());
    for (let length = bytes; length < complete.length; length++) {
      writeFileSync(only(), complete);
      truncateSync(only(), length);
      expect(await reopen(), String(length)).to.deep.equal([entry(1)]);
      expect(statSync(only()).size).to.equal(bytes);
    }
    const again = await StreamJournal.open(folder, 0);
    await again.journal.append([entry(2, 'new')]);
    await again.journal.close();
    expect(await reopen()).to.deep.equal([entry(1), entry(2, 'new')]);
  });

  it('drops zeros at the end, which a power failure can leave', async () => {
    const { journal } = await StreamJournal.open(folder, 0);
    await journal.append([entry(1)]);
    await journal.close();
    appendFileSync(only(), Buffer.alloc(500));
    expect(await reopen()).to.deep.equal([entry(1)]);
  });

  it('refuses a journal with a damaged entry in the middle', async () => {
    const { journal } = await StreamJournal.open(folder, 0);
    await journal.append([entry(1), entry(2, 'abc'), entry(3)]);
    await journal.close();
    writeFileSync(only(), readFileSync(only(), 'utf8').replace('abc', 'abd'));
    expect(await messageOf(StreamJournal.open(folder, 0))).to.match(/damaged/);
  });

  it('refuses a journal in which an entry is missing', async () => {
    const { journal } = await StreamJournal.open(folder, 0);
    await journal.append([entry(1), entry(3)]);
    await journal.close();
    expect(await messageOf(StreamJournal.open(folder, 0))).to.match(/damaged/);
  });

  it('begins a new file after a saved state, and removes the old ones', async () => {
    const { journal } = await StreamJournal.open(folder, 0);
    await journal.append([entry(1), entry(2)]);
    const [old] = files();
    await journal.startAfter(2);
    expect(files()).to.have.lengthOf(1).and.not.include(old);
    await journal.append([entry(3)]);
    await journal.close();
    expect(await reopen(2)).to.deep.equal([entry(3)]);
  });

  it('ignores entries that the saved state contains, if the process was killed before it removed them', async () => {
    const { journal } = await StreamJournal.open(folder, 0);
    await journal.append([entry(1), entry(2), entry(3)]);
    await journal.close();
    expect(await reopen(2)).to.deep.equal([entry(3)]);
    expect(await reopen(3)).to.deep.equal([]);
  });
});
