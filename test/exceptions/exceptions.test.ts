import { AssertionError } from 'node:assert';

import { expect } from 'chai';

import * as exceptions from '../../src/exceptions/index.ts';

const { FairnessToolkitError, FairnessAssertionError, ValueError } = exceptions;

describe('errors', () => {
  const subclasses = [
    'DataValidationError',
    'DependencyError',
    'TrainingError',
    'ConfigValidationError',
    'MetricComputationError',
    'PipelineExecutionError',
    'LLMClientError',
    'CacheMissError',
  ] as const;

  for (const name of subclasses) {
    it(`${name} derives from FairnessToolkitError and carries message, context, suggestion and cause`, () => {
      const cause = new Error('below');
      const error = new exceptions[name]('what', { context: { row: 3 }, suggestion: 'mend', cause });
      expect(error).to.be.instanceOf(FairnessToolkitError);
      expect(error).to.include({ name, message: 'what', suggestion: 'mend', cause });
      expect(error.context).to.deep.equal({ row: 3 });
    });
  }

  it('ValueError is a RangeError, FairnessAssertionError an AssertionError, and both are ours', () => {
    expect(new ValueError('x')).to.be.instanceOf(RangeError);
    expect(new FairnessAssertionError('x')).to.be.instanceOf(AssertionError);
    for (const error of [new ValueError('x'), new FairnessAssertionError('x')]) {
      expect(FairnessToolkitError.isInstance(error)).to.equal(true);
    }
  });

  it('the marker is found across copies of the package, and nowhere else', () => {
    const foreign = Object.defineProperty(new Error('x'), Symbol.for('evenhand.FairnessToolkitError'), { value: true });
    expect(FairnessToolkitError.isInstance(foreign)).to.equal(true);
    for (const other of [new Error('x'), null, undefined, 'x', {}]) {
      expect(FairnessToolkitError.isInstance(other)).to.equal(false);
    }
  });
});
