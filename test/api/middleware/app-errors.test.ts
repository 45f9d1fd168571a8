import { expect } from 'chai';

import { logAppErrors } from '../../../src/api/app/process-app.ts';
import { keptLogger } from './bare-app.ts';

describe('logAppErrors', () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']) {
    it(`does not treat a disconnected client (${code}) as an error`, () => {
      const { logger, lines } = keptLogger('info');
      logAppErrors(logger)(Object.assign(new Error('x'), { code }));
      expect(lines).to.deep.equal([]);
    });
  }

  for (const [title, error] of [
    ['an internal error', new Error('the disk is gone')],
    ['a value that is not an Error', 'a private text'],
  ] as const) {
    it(`logs ${title}, without its other properties`, () => {
      const { logger, lines } = keptLogger('info');
      logAppErrors(logger)(error);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.not.include('private');
    });
  }
});
