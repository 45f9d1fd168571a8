import { DependencyError } from '../../../src/exceptions/index.ts';

/**
 * Replaces what needs Node.
 * @throws {DependencyError} always
 */
export function absent(): never {
  throw new DependencyError('This part of evenhand needs Node.js.', {
    suggestion: 'Use the command line of evenhand.',
  });
}
