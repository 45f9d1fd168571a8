import { AssertionError } from 'node:assert';
import { readFileSync } from 'node:fs';

import { expect } from 'chai';

import { ERRORS_FILE, errorsPageText } from '../../scripts/error-codes.ts';
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
    it(`include ${name}, a FairnessToolkitError with message, context, suggestion and cause`, () => {
      const cause = new Error('below');
      const error = new exceptions[name]('what', { context: { row: 3 }, suggestion: 'fix', cause });
      expect(error).to.be.instanceOf(FairnessToolkitError);
      expect(error).to.include({ name, message: 'what', suggestion: 'fix', cause });
      expect(error.context).to.deep.equal({ row: 3 });
    });
  }

  it('include ValueError, a RangeError, and FairnessAssertionError, an AssertionError', () => {
    expect(new ValueError('x')).to.be.instanceOf(RangeError);
    expect(new FairnessAssertionError('x')).to.be.instanceOf(AssertionError);
    for (const error of [new ValueError('x'), new FairnessAssertionError('x')]) {
      expect(FairnessToolkitError.isInstance(error)).to.equal(true);
    }
  });

  it('have the given code, or the general code of their class', () => {
    const codes = [...subclasses, 'ValueError', 'FairnessAssertionError', 'FairnessToolkitError'] as const;
    const found = Object.fromEntries(codes.map((name) => [name, new exceptions[name]('x').code]));
    expect(found).to.deep.equal({
      DataValidationError: 'invalid-data',
      DependencyError: 'missing-package',
      TrainingError: 'training-failed',
      ConfigValidationError: 'invalid-config',
      MetricComputationError: 'metric-unavailable',
      PipelineExecutionError: 'step-failed',
      LLMClientError: 'provider-failed',
      CacheMissError: 'live-calls-not-allowed',
      ValueError: 'invalid-argument',
      FairnessAssertionError: 'gate-failed',
      FairnessToolkitError: 'toolkit-error',
    });
    expect(new exceptions.DataValidationError('x', { code: 'unknown-column' }).code).to.equal('unknown-column');
  });

  it('have codes in kebab case, all of which docs/errors.md lists', async () => {
    const page = readFileSync(ERRORS_FILE, 'utf8');
    expect(page, 'run npm run docs:errors').to.equal(await errorsPageText());
    for (const code of Object.keys(exceptions.ERROR_CODES)) {
      expect(code).to.match(/^[a-z]+(?:-[a-z]+)*$/);
      expect(page).to.include(`\`${code}\``);
    }
  });

  it('are recognised across copies of the package, and other values are not', () => {
    const foreign = Object.defineProperty(new Error('x'), Symbol.for('evenhand.FairnessToolkitError'), { value: true });
    expect(FairnessToolkitError.isInstance(foreign)).to.equal(true);
    for (const other of [new Error('x'), null, undefined, 'x', {}]) {
      expect(FairnessToolkitError.isInstance(other)).to.equal(false);
    }
  });
});
