import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import {
  AdwinDetector,
  createDriftDetector,
  DRIFT_DETECTOR_NAMES,
  type DriftDetectorChoice,
} from '../../../src/monitoring/drift/index.ts';

describe('createDriftDetector', () => {
  it('knows nine detectors', () => {
    expect(DRIFT_DETECTOR_NAMES).to.deep.equal(['adwin', 'page_hinkley', 'cusum', 'ewma', 'ddm', 'hddm_a', 'hddm_w', 'ks_windows', 'betting']); // prettier-ignore
  });

  it('creates a new detector on each call', () => {
    expect(createDriftDetector('adwin')).to.be.instanceOf(AdwinDetector);
    expect(createDriftDetector('adwin')).to.not.equal(createDriftDetector('adwin'));
  });

  it('uses the given parameters, and defaults for undefined ones', () => {
    const detector = createDriftDetector({ name: 'adwin', params: { delta: 0.01, clock: undefined } });
    const { parameters } = detector as unknown as Pick<AdwinDetector, 'parameters'>;
    expect(parameters).to.deep.equal({ delta: 0.01, clock: 32, maxBuckets: 5, minWindowLength: 5, gracePeriod: 10 }); // prettier-ignore
    expect(parameters).to.be.frozen;
  });

  it('returns the detector of a function', () => {
    const own = new AdwinDetector();
    expect(createDriftDetector(() => own)).to.equal(own);
  });

  const wrong: readonly (readonly [title: string, choice: unknown, message: RegExp])[] = [
    ['an unknown name', 'adwim', /^The detector parameter must be one of adwin, page_hinkley, .*betting\. Got 'adwim' instead/],
    ['an unknown name with parameters', { name: 'eddm' }, /Got 'eddm' instead/],
    ['no name', { params: {} }, /^The detector parameter must be one of .*Got undefined instead/],
    ['a name that every object has', 'constructor', /Got 'constructor' instead/],
    ['null', null, /^The detector parameter must be a name, a name with params, or a function\. Got null instead/],
    ['a number', 3, /Got 3 instead/],
    ['a function that returns nothing', () => undefined, /must be a function that returns a detector\. Got undefined/],
    ['a function that returns a name', () => 'adwin', /must be a function that returns a detector\. Got string/],
    ['an unknown parameter', { name: 'adwin', params: { window: 3 } }, /^The params parameter must be one of delta, clock/],
    ['parameters in a list', { name: 'adwin', params: [] }, /^The params parameter must be an object of parameters/],
    ['null parameters', { name: 'adwin', params: null }, /^The params parameter must be an object of parameters\. Got null/],
    ['a delta of 1', { name: 'adwin', params: { delta: 1 } }, /^The delta parameter must be a number between 0 and 1, both excluded\. Got 1 instead/],
    ['a delta of text', { name: 'adwin', params: { delta: '0.5' } }, /^The delta parameter must be a number .* Got '0\.5' instead/],
    ['an unknown mode', { name: 'cusum', params: { mode: 'sideways' } }, /^The mode parameter must be one of up, down, both\. Got 'sideways'/],
    ['half a value', { name: 'ks_windows', params: { clock: 1.5 } }, /^The clock parameter must be a whole number of at least 1\. Got 1\.5/],
    ['yes for true', { name: 'hddm_a', params: { twoSidedTest: 'yes' } }, /^The twoSidedTest parameter must be true or false\. Got 'yes'/],
    ['a reference above 1', { name: 'betting', params: { referenceMean: 1.5 } }, /^The referenceMean parameter must be a number from 0 to 1\. Got 1\.5/],
    ['a tolerance of 1', { name: 'betting', params: { tolerance: 1 } }, /^The tolerance parameter must be a number of at least 0 and below 1\. Got 1/],
  ]; // prettier-ignore
  for (const [title, choice, message] of wrong) {
    it(`rejects ${title}`, () => {
      expect(() => createDriftDetector(choice as DriftDetectorChoice)).to.throw(ValueError, message);
    });
  }
});
