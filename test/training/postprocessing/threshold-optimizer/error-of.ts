import { expect } from 'chai';

import { FairnessToolkitError } from '../../../../src/exceptions/index.ts';

/** Returns the error of work that must fail with an error of the toolkit. */
export async function errorOf(work: Promise<unknown>): Promise<FairnessToolkitError> {
  const thrown: unknown = await work.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error,
  );
  expect(FairnessToolkitError.isInstance(thrown), String(thrown)).to.equal(true);
  return thrown as FairnessToolkitError;
}
