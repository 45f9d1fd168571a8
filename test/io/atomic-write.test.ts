import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { assertFileWritable, createRemovable, writeFileAtomic, writeFolderAtomic } from '../../src/io/atomic-write.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('writing a file', () => {
  it('creates missing folders and leaves no temporary file', async () => {
    const target = path.join(folder(), 'a/b/c.txt');
    await writeFileAtomic(target, 'text');
    expect(readFileSync(target, 'utf8')).to.equal('text');
    expect(readdirSync(path.dirname(target))).to.deep.equal(['c.txt']);
  });

  it('replaces an older file completely', async () => {
    const target = path.join(folder(), 'old.txt');
    writeFileSync(target, 'a long older text');
    await writeFileAtomic(target, 'new');
    expect(readFileSync(target, 'utf8')).to.equal('new');
  });

  it('follows a link and keeps it', async () => {
    const target = path.join(folder(), 'real.txt');
    const link = path.join(folder(), 'link.txt');
    writeFileSync(target, 'old');
    symlinkSync(target, link);
    await writeFileAtomic(link, 'new');
    expect(readFileSync(target, 'utf8')).to.equal('new');
    expect(lstatSync(link).isSymbolicLink()).to.equal(true);
  });

  it('writes directly to a device, and never replaces it', async () => {
    await writeFileAtomic('/dev/null', 'text');
    expect(lstatSync('/dev/null').isCharacterDevice()).to.equal(true);
  });

  it('can be checked beforehand without leaving files', async () => {
    await assertFileWritable(path.join(folder(), 'not/yet/there.txt'));
    expect(existsSync(path.join(folder(), 'not'))).to.equal(false);
  });

  it('rejects a path that contains a file as a folder, with a clear message, and leaves no files', async () => {
    const file = path.join(folder(), 'plain');
    writeFileSync(file, 'x');
    const out = path.join(file, 'out.json');
    for (const write of [() => writeFileAtomic(out, '1'), () => assertFileWritable(out)]) {
      const error = await errorOf(write());
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(/Cannot write '.*out\.json': a part of the path is a file/);
    }
    expect(readdirSync(folder()).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });

  it('rejects a folder as the target, before and after the work', async () => {
    const target = path.join(folder(), 'taken');
    mkdirSync(target);
    expect(await errorOf(assertFileWritable(target))).to.be.instanceOf(DataValidationError);
    expect(await errorOf(writeFileAtomic(target, 'x'))).to.be.instanceOf(DataValidationError);
    expect(readdirSync(folder()).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });
});

describe('writing a folder', () => {
  const isOurs = (found: string): boolean => readdirSync(found).includes('card.json');

  it('writes it completely, and replaces a folder of the same kind', async () => {
    const target = path.join(folder(), 'model');
    for (const content of ['1', '2']) {
      await writeFolderAtomic(target, (location) => writeFile(path.join(location, 'card.json'), content), isOurs);
      expect(readFileSync(path.join(target, 'card.json'), 'utf8')).to.equal(content);
    }
    expect(readdirSync(folder()).filter((name) => name.includes('model'))).to.deep.equal(['model']);
  });

  it('never replaces a folder with other content', async () => {
    const target = path.join(folder(), 'precious');
    mkdirSync(target);
    writeFileSync(path.join(target, 'thesis.txt'), 'years');
    const error = await errorOf(writeFolderAtomic(target, () => Promise.resolve(), isOurs));
    expect((error as Error).message).to.match(/contains other data/);
    expect(readFileSync(path.join(target, 'thesis.txt'), 'utf8')).to.equal('years');
  });

  it('keeps the older folder and leaves no partial files after a failure', async () => {
    const target = path.join(folder(), 'kept');
    await writeFolderAtomic(target, (location) => writeFile(path.join(location, 'card.json'), 'old'), isOurs);
    const fail = async (location: string): Promise<void> => {
      await writeFile(path.join(location, 'card.json'), 'new');
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    };
    const error = await errorOf(writeFolderAtomic(target, fail, isOurs));
    expect((error as Error).message).to.match(/the disk is full/);
    expect(readFileSync(path.join(target, 'card.json'), 'utf8')).to.equal('old');
    expect(readdirSync(folder()).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
  });
});

describe('temporary files that are removed at SIGTERM', () => {
  it('share one listener, which ends with the last of them', () => {
    const before = process.listenerCount('SIGTERM');
    const added = before === 0 ? 1 : process.listeners('SIGTERM').some(({ name }) => name === 'terminate') ? 0 : 1;
    const files = Array.from({ length: 20 }, (_, index) => createRemovable(() => path.join(folder(), String(index))));
    expect(process.listenerCount('SIGTERM')).to.equal(before + added);
    expect(() => createRemovable(() => {
      throw new Error('The disk is full.');
    })).to.throw('The disk is full.'); // prettier-ignore
    const [first, ...others] = files;
    first?.forget();
    first?.forget();
    expect(process.listenerCount('SIGTERM')).to.equal(before + added);
    for (const { forget } of others) forget();
    expect(process.listenerCount('SIGTERM')).to.equal(before);
  });
});
