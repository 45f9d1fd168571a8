import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { expect } from 'chai';

import { FileResultStore, type FileResultStoreOptions } from '../../../src/api/store/index.ts';
import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const LOCK = '.evenhand-lock';

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('FileResultStore', () => {
  const root = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  const freshFolder = () => mkdtempSync(path.join(root(), 'store-'));
  const opened: FileResultStore[] = [];
  const children: ChildProcess[] = [];
  const open = async (folder: string, options?: FileResultStoreOptions<unknown>) => {
    const store = await FileResultStore.open(folder, options);
    opened.push(store);
    return store;
  };
  /** Opens a store with these entries, each used a second after the previous one. */
  const leftBehind = async (ids: readonly string[]) => {
    const folder = freshFolder();
    const store = await open(folder);
    for (const id of ids) await store.set(id, { of: id });
    await store.close();
    ids.forEach((id, i) => {
      utimesSync(path.join(folder, `${id}.json`), 1000 + i, 1000 + i);
    });
    return folder;
  };
  const filesIn = (folder: string) => readdirSync(folder).sort();
  const idsOf = (store: FileResultStore) => store.entries().map(([id]) => id);

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
  });

  it('has one complete file per entry, and nothing else except its lock', async () => {
    const folder = path.join(freshFolder(), 'made', 'for it');
    const store = await open(folder, { capacity: 3 });
    await Promise.all(['a', 'b', 'c'].map((id) => store.set(id, { of: id })));
    expect(filesIn(folder)).to.deep.equal([LOCK, 'a.json', 'b.json', 'c.json']);
    await store.delete('b');
    await store.set('d', 1);
    await store.set('e', 2);
    await store.close();
    expect(filesIn(folder)).to.deep.equal(idsOf(store).map((id) => `${id}.json`));
    for (const file of filesIn(folder))
      expect(() => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as unknown).not.to.throw();
  });

  it('is the same after a restart, including the order of use', async () => {
    const folder = await leftBehind(['b', 'c', 'a']);
    const store = await open(folder);
    expect(store.entries()).to.deep.equal(['b', 'c', 'a'].map((id) => [id, { of: id }]));
    expect(warnings()).to.deep.equal([]);
  });

  it('remembers after a restart when entries were read, to the minute', async () => {
    const folder = await leftBehind(['a', 'b', 'c']);
    const first = await open(folder, { clock: () => 1_030_000 });
    first.get('b');
    await first.close();
    const second = await open(folder, { clock: () => 1_100_000 });
    expect(idsOf(second), 'uses within a minute are not written').to.deep.equal(['a', 'b', 'c']);
    second.get('b');
    await second.close();
    expect(idsOf(await open(folder))).to.deep.equal(['a', 'c', 'b']);
  });

  it('drops the least recently used entries and their files if its capacity is smaller than before', async () => {
    const folder = await leftBehind(['a', 'b', 'c', 'd']);
    const evicted: string[] = [];
    const store = await open(folder, { capacity: 2, onEvict: (id) => evicted.push(id) });
    expect(idsOf(store)).to.deep.equal(['c', 'd']);
    expect(evicted).to.deep.equal(['a', 'b']);
    expect(filesIn(folder)).to.deep.equal([LOCK, 'c.json', 'd.json']);
  });

  it('limits the size of its files, including those of earlier processes', async () => {
    const folder = await leftBehind(['a', 'b', 'c', 'd']);
    const store = await open(folder, { maxBytes: 20, sizeOf: () => 10 });
    expect(idsOf(store)).to.deep.equal(['c', 'd']);
    await store.set('e', 1);
    await store.close();
    expect(filesIn(folder)).to.deep.equal(['d.json', 'e.json']);
  });

  it('does not change foreign files, and reports them', async () => {
    const folder = await leftBehind(['a']);
    const foreign = {
      'broken.json': '{"format":"evenhand-result-1","id":"brok',
      'notes.txt': 'mine',
      'null.json': 'null',
      'other.json': '{"id":"other","value":1}',
      'renamed.json': '{"format":"evenhand-result-1","id":"a","value":1}',
      'with space.json': '{"format":"evenhand-result-1","id":"with space","value":1}',
    };
    for (const [name, text] of Object.entries(foreign)) writeFileSync(path.join(folder, name), text);
    mkdirSync(path.join(folder, 'files'));
    mkdirSync(path.join(folder, 'folder.json'));
    const store = await open(folder, { capacity: 1 });
    await store.set('b', 1);
    await store.close();
    expect(idsOf(store)).to.deep.equal(['b']);
    for (const [name, text] of Object.entries(foreign)) {
      expect(readFileSync(path.join(folder, name), 'utf8')).to.equal(text);
      expect(warnings().filter((line) => line.includes(`${name}'`))).to.have.length(1);
    }
    expect(warnings()).to.have.length(Object.keys(foreign).length);
    expect(filesIn(folder)).to.include.members(['files', 'folder.json']);
  });

  it('removes leftovers of interrupted writes', async () => {
    const folder = await leftBehind(['a']);
    writeFileSync(path.join(folder, '.evenhand-0123456789ab.tmp'), 'half');
    await open(folder);
    expect(filesIn(folder)).to.deep.equal([LOCK, 'a.json']);
    expect(warnings()).to.deep.equal([]);
  });

  it('keeps the last of many values that are set, read and deleted concurrently', async () => {
    const folder = freshFolder();
    const store = await open(folder, { capacity: 4 });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const work = Array.from({ length: 240 }, (_, i) => {
      const id = ids[i % 6] ?? '';
      return i % 11 === 0 ? store.delete(id) : store.set(id, i);
    });
    await Promise.all(work);
    await store.close();
    expect(filesIn(folder)).to.deep.equal(
      idsOf(store)
        .sort()
        .map((id) => `${id}.json`),
    );
    const again = await open(folder);
    expect(new Map(again.entries())).to.deep.equal(new Map(store.entries()));
    for (const [id, value] of again.entries()) {
      // The last value of an ID is 234 plus its index; an ID that was evicted later is missing.
      expect(value).to.equal(234 + ids.indexOf(id));
    }
  });

  for (const id of ['', '.', '..', '../a', 'a/b', 'a\\b', 'a\0', 'é', '-a', 'a'.repeat(129)]) {
    it(`rejects the ID ${JSON.stringify(id.slice(0, 9))}`, async () => {
      const folder = freshFolder();
      const store = await open(folder);
      const failure = await failureOf(store.set(id, 1));
      expect(failure).to.be.instanceOf(ValueError);
      expect((failure as ValueError).message).to.include('The id parameter must be a file name');
      expect(store.get(id)).to.be.undefined;
      expect(await store.delete(id)).to.be.false;
      expect(filesIn(folder)).to.deep.equal([LOCK]);
    });
  }

  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const [what, value] of Object.entries({ undefined, 'a function': () => 1, 'a cycle': cycle, 'a bigint': 1n })) {
    it(`rejects ${what}, which is not JSON, and keeps the old value`, async () => {
      const store = await open(freshFolder());
      await store.set('a', 'old');
      const failure = await failureOf(store.set('a', value));
      expect(failure).to.be.instanceOf(ValueError);
      expect((failure as ValueError).message).to.include('The value parameter must be JSON');
      expect(store.get('a')).to.equal('old');
    });
  }

  it('rejects and keeps the old entry if a file cannot be written', async () => {
    const folder = freshFolder();
    const store = await open(folder);
    await store.set('a', 'old');
    // A folder in place of the file cannot be replaced by a file, even by a privileged user.
    mkdirSync(path.join(folder, 'b.json'));
    const failure = await failureOf(store.set('b', 1));
    expect(failure).to.be.instanceOf(DataValidationError);
    expect((failure as Error).message).to.include(path.join(folder, 'b.json'));
    expect(store.has('b')).to.be.false;
    expect(filesIn(folder)).to.deep.equal([LOCK, 'a.json', 'b.json']);
  });

  it('rejects and keeps the old entry if a file may not grow', async function () {
    if (process.platform === 'win32') this.skip();
    this.timeout(30_000);
    const folder = freshFolder();
    const program = path.join(import.meta.dirname, 'set-until-full.ts');
    const command = `ulimit -f 8 && exec "${process.execPath}" --import tsx "${program}" "${folder}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    const { message, kept } = JSON.parse(stdout) as { message: string; kept: string };
    expect(message).to.match(/^Cannot write '.*run\.json': /);
    expect(kept).to.equal('small');
    expect(filesIn(folder)).to.deep.equal(['run.json']);
    expect((await open(folder)).entries()).to.deep.equal([['run', 'small']]);
  });

  it('can be read but not changed after it was closed', async () => {
    const store = await open(freshFolder());
    await store.set('a', 1);
    await store.close();
    await store.close();
    expect(store.get('a')).to.equal(1);
    for (const work of [store.set('a', 2), store.delete('a')]) {
      expect(await failureOf(work))
        .to.be.instanceOf(DataValidationError)
        .with.property('message')
        .includes('closed');
    }
  });

  it('is closed after pending writes have finished', async () => {
    const folder = freshFolder();
    const store = await open(folder);
    const writing = store.set('a', 1);
    await store.close();
    expect(filesIn(folder)).to.deep.equal(['a.json']);
    await writing;
  });

  describe('locks its folder', () => {
    const holdElsewhere = async (folder: string) => {
      const program = path.join(import.meta.dirname, 'hold-folder.ts');
      const child = spawn(process.execPath, ['--import', 'tsx', program, folder], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(child);
      await once(child.stdout, 'data');
      return child;
    };
    const assertInUse = async (folder: string, pid: number | undefined) => {
      const failure = await failureOf(FileResultStore.open(folder));
      expect(failure).to.be.instanceOf(DataValidationError);
      expect((failure as DataValidationError).message).to.equal(
        `The folder '${folder}' is in use by process ${String(pid)}.`,
      );
      expect((failure as DataValidationError).suggestion).to.match(/separate folder/);
    };

    it('within the process, and releases it when closed', async () => {
      const folder = freshFolder();
      const store = await open(folder);
      await assertInUse(folder, process.pid);
      const link = path.join(root(), `link-to-${path.basename(folder)}`);
      symlinkSync(folder, link);
      await assertInUse(link, process.pid);
      await store.close();
      expect(existsSync(path.join(folder, LOCK))).to.be.false;
      await open(folder);
    });

    it('against another process, until that process ends or is killed', async function () {
      this.timeout(60_000);
      const folder = freshFolder();
      const first = await holdElsewhere(folder);
      await assertInUse(folder, first.pid);
      first.kill('SIGKILL');
      await once(first, 'exit');
      const store = await open(folder);
      expect(store.get('held')).to.equal(first.pid);
      await store.close();

      const second = await holdElsewhere(folder);
      await assertInUse(folder, second.pid);
      second.stdin.end();
      await once(second, 'exit');
      await open(folder);
    });

    for (const [what, text] of Object.entries({
      'an empty lock': '',
      'a lock without a process ID': '{"pid":"many"}',
      'a lock of a process that has ended': '{"pid":4194399,"startedAt":"1"}',
      'a lock of an earlier process with the same ID': JSON.stringify({ pid: process.pid, startedAt: '1' }),
    })) {
      it(`and takes over ${what}`, async () => {
        const folder = await leftBehind(['a']);
        writeFileSync(path.join(folder, LOCK), text);
        const store = await open(folder);
        expect(store.has('a')).to.be.true;
        await store.close();
        expect(filesIn(folder)).to.deep.equal(['a.json']);
      });
    }

    it('and takes over a lock whose process ID belongs to a newer process', async function () {
      if (!existsSync('/proc/self/stat')) this.skip();
      const folder = freshFolder();
      writeFileSync(path.join(folder, LOCK), JSON.stringify({ pid: process.ppid, startedAt: '1' }));
      await open(folder);
    });

    it('for only one of two that open it at once', async () => {
      const folder = freshFolder();
      const outcomes = await Promise.allSettled([open(folder), open(folder), open(folder)]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    });

    // The mkdir of Node.js with missing parents never returns there.
    const [title, nowhere] = ['and fails immediately where the system cannot create folders', '/proc/x/y'];
    (process.platform === 'linux' ? it : it.skip)(title, async () => {
      const start = performance.now();
      const failure = await failureOf(FileResultStore.open(nowhere));
      expect(failure).to.be.instanceOf(DataValidationError);
      expect((failure as Error).message).to.include(
        `'${nowhere}' cannot be created: the system cannot create folders there`,
      );
      expect(performance.now() - start).to.be.below(1000);
    });

    it('and creates missing parent folders, also from several processes at once', async () => {
      const base = freshFolder();
      const folders = ['one', 'two', 'three'].map((name) => path.join(base, 'a', 'b', 'c', name));
      for (const store of await Promise.all(folders.map((folder) => open(folder)))) expect(store.size).to.equal(0);
    });

    it('and fails if the path is a file or is not writable', async function () {
      const file = path.join(freshFolder(), 'file');
      writeFileSync(file, '');
      const failure = await failureOf(FileResultStore.open(file));
      expect(failure).to.be.instanceOf(DataValidationError);
      expect((failure as Error).message).to.include(`'${file}' cannot be created: a part of the path is a file`);
      const below = await failureOf(FileResultStore.open(path.join(file, 'below', 'more')));
      expect((below as Error).message).to.include('cannot be created: a part of the path is a file');
      if (process.getuid?.() === 0) return;
      const closed = freshFolder();
      chmodSync(closed, 0o500);
      expect(await failureOf(FileResultStore.open(closed))).to.be.instanceOf(DataValidationError);
      this.timeout(10_000);
    });
  });
});
