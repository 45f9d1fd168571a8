import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { newSpoolFolder, removeUploadsOf } from '../../../src/api/intake/spool-folder.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

describe('removeUploadsOf', () => {
  const root = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  const createTree = (names: readonly string[]) => {
    const spool = mkdtempSync(path.join(root(), 'spool-'));
    for (const name of names) {
      mkdirSync(path.join(spool, name, 'inner'), { recursive: true });
      writeFileSync(path.join(spool, name, 'upload.csv'), 'a,b\n');
    }
    return spool;
  };
  const nothing = { isInUse: () => false, pauseMillis: 0 };

  it('removes the uploads of the process, but not those of runs and of other processes', async () => {
    const others = ['files', 'request-1-aaaaaa', 'request-123-bbbbbb', 'request-x', 'xrequest-12-cccccc'];
    const spool = createTree([...others, 'request-12-used01', 'request-12-left01', 'request-12-left02']);
    const used = path.join(spool, 'request-12-used01');
    await removeUploadsOf(spool, 12, { isInUse: (folder) => folder === used, pauseMillis: 0 });
    expect(readdirSync(spool).sort()).to.deep.equal([...others, 'request-12-used01'].sort());
    expect(existsSync(path.join(used, 'upload.csv'))).to.be.true;
  });

  it('recognizes uploads by the names that requests give them', async () => {
    const spool = createTree([]);
    await newSpoolFolder(spool);
    expect(readdirSync(spool)).to.have.length(1);
    await removeUploadsOf(spool, process.pid, nothing);
    expect(readdirSync(spool)).to.deep.equal([]);
  });

  it('keeps uploads whose run arrives a moment later, and later uploads of a new process with the same ID', async () => {
    const spool = createTree(['request-12-late01', 'request-12-left01']);
    const runs = new Set<string>();
    const removing = removeUploadsOf(spool, 12, { isInUse: (folder) => runs.has(folder), pauseMillis: 100 });
    setTimeout(() => {
      runs.add(path.join(spool, 'request-12-late01'));
      mkdirSync(path.join(spool, 'request-12-new001'));
    }, 30);
    // The pause does not keep the process alive, but the test must.
    const alive = setTimeout(() => undefined, 5_000);
    await removing;
    clearTimeout(alive);
    expect(readdirSync(spool).sort()).to.deep.equal(['request-12-late01', 'request-12-new001']);
  });

  it('ignores that the complete folder is gone', async () => {
    const spool = createTree([]);
    rmSync(spool, { recursive: true });
    await removeUploadsOf(spool, 12, nothing);
    expect(warnings()).to.deep.equal([]);
  });
});
