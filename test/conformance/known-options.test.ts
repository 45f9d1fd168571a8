import { expect } from 'chai';

import * as exceptions from '../../src/exceptions/index.ts';
import { FairnessAnalyzer } from '../../src/metrics/index.ts';
import { GridSearchReduction, ReductionsWrapper } from '../../src/training/index.ts';
import { listOptionParameters } from '../helpers/option-parameters.ts';

/** Constructors and functions that do not reject unknown options, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...Object.keys(exceptions).filter((name) => name.endsWith('Error')), 'ServiceError'].map((name) => [
      name,
      'an error must not be replaced by another one',
    ]),
  ),
  BoundAnalyzer: 'made by FairnessAnalyzer, which has checked the options',
  MetricFrame: 'made by metricFrame, which has checked the options',
  'GroupFairnessCalibrator.ofState': 'restores what was fitted, not what a caller configures',
  addRows: 'accepts rows with additional columns',
  parseBbqAnswer: 'takes an item of BBQ with all its fields',
  buildEstimate: 'takes the counts of a plan, not options',
};

/** A name that no caller would use; the functions are never really called. */
const UNKNOWN = 'zzUnknownOption';

describe('an unknown option', () => {
  it('is rejected with its owner and a similar name, even an abbreviated one', () => {
    expect(() => new ReductionsWrapper({ diffBound: 0.05 } as object))
      .to.throw(exceptions.ValueError, "ReductionsWrapper has no option 'diffBound'. Did you mean 'differenceBound'?")
      .with.property('context')
      .that.includes({ parameter: 'diffBound', nearest: 'differenceBound' });
    expect(() => new FairnessAnalyzer({ minGroupsize: 5 } as object)).to.throw("Did you mean 'minGroupSize'?");
  });

  it('is rejected even if its value is undefined, with a list of all names if none is similar', () => {
    expect(() => new GridSearchReduction({ zzzzzz: undefined } as object)).to.throw(/The options are 'constraint', /);
  });

  it('is not an inherited or hidden property, and missing options are accepted', () => {
    const inherited = Object.create({ diffBound: 1 }, { hidden: { value: 1, enumerable: false } }) as object;
    for (const options of [undefined, {}, { eps: undefined }, inherited]) new ReductionsWrapper(options);
  });

  it('is reported for a value that is not an options object', () => {
    expect(() => new FairnessAnalyzer(30 as never)).to.throw(
      'The options parameter of FairnessAnalyzer must be an object. Got a number',
    );
    expect(() => new FairnessAnalyzer([30] as never)).to.throw('Got an array instead');
  });
});

describe('every public constructor and function with options', () => {
  const parameters = listOptionParameters();

  it('is found by its types; there are hundreds', () => {
    expect(parameters.length).to.be.above(150);
    expect(parameters.map(({ owner }) => owner)).to.include.members([
      'ReductionsWrapper',
      'ReductionsWrapper.fit',
      'FairnessAnalyzer.fromFile',
      'demographicParityDifference',
      'bootstrapCi',
      'loadTensorflow',
      'createApp',
    ]);
  });

  it('has only public names as exceptions', () => {
    expect(parameters.map(({ owner }) => owner)).to.include.members(Object.keys(EXCEPTIONS));
  });

  for (const parameter of parameters.filter(({ owner }) => !Object.hasOwn(EXCEPTIONS, owner))) {
    it(`${parameter.owner} rejects an unknown name in '${parameter.name}'`, async () => {
      const error: unknown = await Promise.resolve()
        .then(() => parameter.call({ [UNKNOWN]: 1 }))
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(exceptions.FairnessToolkitError.isInstance(error), String(error)).to.equal(true);
      expect((error as Error).message).to.include(`'${UNKNOWN}'`);
    });
  }
});
