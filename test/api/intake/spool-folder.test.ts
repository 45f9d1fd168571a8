import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { createSpoolRoot, newSpoolFolder } from '../../../src/api/intake/spool-folder.ts';

describe('the spool folder', () => {
  let base = '';
  beforeEach(async () => {
    base = await mkdtemp(path.join(tmpdir(), 'spool-test-'));
  });
  afterEach(async () => {
    await rm(base, { recursive: true, force: true });
  });

  it('has the ID of its process in its name and is accessible only to its user', async () => {
    const { path: root } = await createSpoolRoot(base);
    expect(path.basename(root)).to.match(new RegExp(`^evenhand-${String(process.pid)}-`));
    expect((await stat(root)).mode & 0o777).to.equal(0o700);
  });

  it('is in the system folder for temporary files by default', async () => {
    const root = await createSpoolRoot();
    expect(path.dirname(root.path)).to.equal(tmpdir());
    await root.remove();
  });

  it('is named in the error if it cannot be used', async () => {
    const wrong = path.join(base, 'missing');
    const error: unknown = await createSpoolRoot(wrong).catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(DataValidationError);
    expect(String(error)).to.include(wrong);
  });

  it('is removed with its content, also repeatedly', async () => {
    const root = await createSpoolRoot(base);
    const folder = await newSpoolFolder(root.path);
    await writeFile(path.join(folder.path, 'body'), 'x');
    await root.remove();
    await root.remove();
    await folder.remove();
    expect(await readdir(base)).to.deep.equal([]);
  });

  it('contains a separate folder for each request', async () => {
    const root = await createSpoolRoot(base);
    const folders = await Promise.all(Array.from({ length: 20 }, () => newSpoolFolder(root.path)));
    expect(new Set(folders.map((folder) => folder.path)).size).to.equal(20);
    await folders[0]?.remove();
    expect(await readdir(root.path)).to.have.length(19);
  });

  it('is created again if a cleaner of temporary files removed it', async () => {
    const root = await createSpoolRoot(base);
    await rm(root.path, { recursive: true });
    const folders = await Promise.all([newSpoolFolder(root.path), newSpoolFolder(root.path)]);
    expect(folders).to.have.length(2);
    expect((await stat(root.path)).mode & 0o777).to.equal(0o700);
  });

  /** Returns the name of a root for another process ID on this machine. */
  async function leftBehind(pid: number, letters = 'AAAAAA'): Promise<string> {
    const root = await createSpoolRoot(base);
    const name = path.basename(root.path).replace(/^evenhand-\d+/, `evenhand-${String(pid)}`);
    const folder = path.join(base, name.replace(/.{6}$/, letters));
    await rename(root.path, folder);
    await writeFile(path.join(folder, 'upload.csv'), 'x');
    return folder;
  }

  /** Returns the ID of a process that has ended. */
  function deadPid(): number {
    return Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  }

  it('removes the folders of processes that have ended', async () => {
    await leftBehind(deadPid());
    const root = await createSpoolRoot(base);
    expect(await readdir(base)).to.deep.equal([path.basename(root.path)]);
  });

  it('keeps folders of a running process, of this one, of another machine, and of similar names', async () => {
    const dead = deadPid();
    const ofParent = await leftBehind(process.ppid);
    const ofThis = (await createSpoolRoot(base)).path;
    const others = [
      `evenhand-${String(dead)}`,
      `evenhand-${String(dead)}-00000000-AAAAAA`,
      `evenhand-x-AAAAAA`,
      'notes',
    ];
    for (const name of others) await mkdir(path.join(base, name), { mode: 0o700 });
    const root = await createSpoolRoot(base);
    const kept = [ofParent, ofThis, root.path].map((folder) => path.basename(folder));
    expect((await readdir(base)).sort()).to.deep.equal([...kept, ...others].sort());
  });

  it('does not follow links', async () => {
    const target = path.join(base, 'target');
    await mkdir(target);
    await writeFile(path.join(target, 'precious'), 'x');
    const left = await leftBehind(deadPid());
    await rm(left, { recursive: true });
    await symlink(target, left);
    await createSpoolRoot(base);
    expect(await readdir(target)).to.deep.equal(['precious']);
  });
});
