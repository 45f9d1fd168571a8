import { expect } from 'chai';

import { cannotUse } from '../../../src/api/store/folder-lock.ts';
import { DataValidationError } from '../../../src/exceptions/index.ts';

describe('cannotUse', () => {
  for (const [code, reason] of [
    ['ENOSPC', 'the disk is full'],
    ['EDQUOT', 'the disk quota is used up'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
    ['ENOTDIR', 'a part of the path is a file'],
    ['EOTHER', 'the system says EOTHER'],
  ] as const) {
    it(`reports ${code} as: ${reason}`, () => {
      const error = cannotUse('/data', 'be written', Object.assign(new Error(code), { code }));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.equal(`'/data' cannot be written: ${reason}.`);
      expect(error.context).to.deep.equal({ path: '/data', code });
    });
  }

  it('returns an error that already says so', () => {
    const error = new DataValidationError('in use');
    expect(cannotUse('/data', 'be read', error)).to.equal(error);
  });
});
