import { expect } from 'chai';

import { logAppErrors } from '../../../src/api/app/process-app.ts';
import { keptLogger } from './bare-app.ts';

describe('logAppErrors', () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']) {
    it(`takes a client that has gone (${code}) for no error`, () => {
      const { logger, lines } = keptLogger('info');
      logAppErrors(logger)(Object.assign(new Error('x'), { code }));
      expect(lines).to.deep.equal([]);
    });
  }

  for (const [title, error] of [
    ['a fault of ours', new Error('the disk is gone')],
    ['what is no error', 'a private text'],
  ] as const) {
    it(`tells of ${title}, without what else it holds`, () => {
      const { logger, lines } = keptLogger('info');
      logAppErrors(logger)(error);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.not.include('private');
    });
  }
});
