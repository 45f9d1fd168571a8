import { DependencyError } from '../../../src/exceptions/index.ts';

/** Replaces modules that need Node. */

const absent = (): never => {
  throw new DependencyError('This part of evenhand needs Node.js.', {
    suggestion: 'Use the command line of evenhand.',
  });
};

export { absent as danfoBackend, absent as duckDbBackend };
