import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { fileProblemOf } from '../../src/io/file-problem.ts';

describe('the reason why a file cannot be written', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-problem-'));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const problemOf = (file: string) => {
    try {
      openSync(path.join(folder, file), 'a');
    } catch (cause) {
      return fileProblemOf(cause);
    }
    return undefined;
  };

  it('is known for errors of the system', () => {
    writeFileSync(path.join(folder, 'file'), '');
    expect(problemOf('.')).to.deep.equal({ code: 'EISDIR', reason: 'it is a folder' });
    expect(problemOf('file/inner')).to.deep.equal({ code: 'ENOTDIR', reason: 'a part of the path is a file' });
    expect(problemOf('missing/file')).to.deep.equal({ code: 'ENOENT', reason: 'the folder does not exist' });
  });

  it('is undefined for codes that are rare, and for errors without a code', () => {
    expect(fileProblemOf(Object.assign(new Error('x'), { code: 'EXDEV' }))).to.deep.equal({
      code: 'EXDEV',
      reason: undefined,
    });
    for (const cause of [new Error('x'), 'x', undefined, Object.assign(new Error('x'), { code: 7 })]) {
      expect(fileProblemOf(cause)).to.deep.equal({ code: '', reason: undefined });
    }
  });
});
