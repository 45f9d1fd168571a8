import { expect } from 'chai';

import { FairnessToolkitError } from '../../../../src/exceptions/index.ts';

/** The error of work that must fail, which must be one of ours. */
export async function errorOf(work: Promise<unknown>): Promise<FairnessToolkitError> {
  const thrown: unknown = await work.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error,
  );
  expect(FairnessToolkitError.isInstance(thrown), String(thrown)).to.equal(true);
  return thrown as FairnessToolkitError;
}
