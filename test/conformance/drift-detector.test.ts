import { inspect } from 'node:util';

import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError, FairnessToolkitError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import {
  createDriftDetector,
  DRIFT_DETECTOR_NAMES,
  type DriftDetectorChoice,
  type DriftDetectorName,
  type DetectorState,
  type DriftDetector,
} from '../../src/monitoring/drift/index.ts';
import { check } from '../property/check.ts';

/** The number of decisions after a change of the rate from 0.1 to 0.9 within which each detector must find it. */
const BEFORE = 1500;
const FOUND_WITHIN: Readonly<Record<DriftDetectorName, number>> = {
  adwin: 64,
  page_hinkley: 150,
  cusum: 30,
  ewma: 30,
  ddm: 200,
  hddm_a: 100,
  hddm_w: 30,
  ks_windows: 120,
  betting: 150,
};

/** Detectors whose state changes soon, so that a few values reach every part of it. */
const SMALL: Readonly<Record<DriftDetectorName, DriftDetectorChoice>> = {
  adwin: { name: 'adwin', params: { delta: 0.3, clock: 4, maxBuckets: 2, minWindowLength: 2, gracePeriod: 4 } },
  page_hinkley: { name: 'page_hinkley', params: { minInstances: 3, threshold: 1 } },
  cusum: { name: 'cusum', params: { minInstances: 5, threshold: 2 } },
  ewma: { name: 'ewma', params: { minInstances: 5, threshold: 1.5 } },
  ddm: { name: 'ddm', params: { warmStart: 5, warningThreshold: 1, driftThreshold: 1.5 } },
  hddm_a: { name: 'hddm_a', params: { driftConfidence: 0.2, warningConfidence: 0.5, twoSidedTest: true } },
  hddm_w: { name: 'hddm_w', params: { driftConfidence: 0.2, warningConfidence: 0.5, twoSidedTest: true } },
  ks_windows: { name: 'ks_windows', params: { windowSize: 6, alpha: 0.2, clock: 2 } },
  betting: { name: 'betting', params: { warmUp: 4, tolerance: 0, alpha: 0.9 } },
};

/** Detectors that accept any number; the others accept numbers from 0 to 1. */
const OF_NUMBERS = new Set<DriftDetectorName>(['adwin', 'page_hinkley', 'cusum', 'ewma', 'ks_windows']);

const decisions = (seed: number, rate: number, n: number) => {
  const random = createRandom(seed);
  return Array.from({ length: n }, () => Number(random.next() < rate));
};
const feed = (detector: DriftDetector, values: readonly number[]) => values.map((value) => detector.update(value));
/** Returns a detector's alarms for some values, and the age of the change at each alarm. */
const future = (detector: DriftDetector, values: readonly number[]) =>
  values.map((value) => [detector.update(value), detector.changeAge]);
const throughJson = (state: DetectorState) => JSON.parse(JSON.stringify(state)) as DetectorState;

for (const name of DRIFT_DETECTOR_NAMES) {
  const make = () => createDriftDetector(name);
  const values = OF_NUMBERS.has(name)
    ? fc.oneof(fc.double({ min: -10, max: 10, noNaN: true }), fc.constantFrom(0, 1), fc.constantFrom(-1e100, 1e100))
    : fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1));
  const jumps = fc
    .tuple(fc.nat(60), fc.nat(60))
    .map(([zeros, ones]) => [...Array<number>(zeros).fill(0), ...Array<number>(ones).fill(1)]);
  const streams = fc.oneof(fc.array(values, { maxLength: 120 }), jumps);

  describe(`the conformance of the detector ${name}`, () => {
    it('has its name, and reports no change before the first value', () => {
      expect(make().name).to.equal(name);
      expect(make().changeAge).to.equal(null);
    });

    for (const constant of [0, 1, 0.3, 0.1, 1 / 3]) {
      it(`never alarms on a stream that is always ${constant.toFixed(2)}`, () => {
        const detector = make();
        expect(feed(detector, Array<number>(5000).fill(constant))).to.not.include(true);
        expect(detector.changeAge).to.equal(null);
      });
    }

    it(`finds a change of a rate from 0.1 to 0.9 within ${FOUND_WITHIN[name]} values`, () => {
      for (const seed of [1, 2, 3, 4, 5]) {
        const detector = make();
        feed(detector, decisions(seed, 0.1, BEFORE));
        const at = feed(detector, decisions(seed + 100, 0.9, 500)).indexOf(true);
        expect(at, `seed ${seed}`).to.be.within(0, FOUND_WITHIN[name] - 1);
      }
    });

    it('dates the change at a value that it has seen', () => {
      check(fc.array(values, { minLength: 30, maxLength: 200 }), (stream) => {
        const detector = createDriftDetector(SMALL[name]);
        stream.forEach((value, index) => {
          if (!detector.update(value) || detector.changeAge === null) return;
          expect(detector.changeAge).to.be.within(0, index);
          expect(detector.changeAge % 1).to.equal(0);
        });
      });
    });

    it('restarts after a detection', () => {
      const detector = make();
      const stream = [...decisions(1, 0.1, BEFORE), ...decisions(2, 0.9, 500)];
      const first = stream.findIndex((value) => detector.update(value));
      const rest = [...stream.slice(first + 1), ...decisions(3, 0.1, 500), ...decisions(4, 0.9, 500)];
      expect(feed(detector, rest)).to.deep.equal(feed(make(), rest));
    });

    it('continues from a state, through JSON and at any point, without a difference', () => {
      let alarms = 0;
      check(fc.tuple(streams, streams), ([before, after]) => {
        const stopped = createDriftDetector(SMALL[name]);
        alarms += feed(stopped, before).filter(Boolean).length;
        const resumed = createDriftDetector(SMALL[name]);
        // No information from before may remain.
        feed(resumed, [0, 1, 1, 0, 1, 0, 0, 0, 1]);
        resumed.restore(throughJson(stopped.state()));
        expect(resumed.changeAge).to.equal(stopped.changeAge);
        expect(resumed.state()).to.deep.equal(stopped.state());
        expect(future(resumed, after)).to.deep.equal(future(stopped, after));
        expect(resumed.state()).to.deep.equal(stopped.state());
      });
      expect(alarms, 'alarms before the stops').to.be.above(0);
    });

    it('returns a state that later values do not change', () => {
      const detector = createDriftDetector(SMALL[name]);
      feed(detector, decisions(6, 0.4, 50));
      const state = detector.state();
      const before = JSON.stringify(state);
      const other = createDriftDetector(SMALL[name]);
      other.restore(state);
      feed(detector, decisions(7, 0.4, 50));
      feed(other, decisions(8, 0.6, 50));
      expect(JSON.stringify(state)).to.equal(before);
    });

    it('returns a state that survives JSON, even at the start', () => {
      for (const n of [0, 1, 5, 40, 700]) {
        const detector = make();
        feed(detector, decisions(8, 0.4, n));
        expect(throughJson(detector.state())).to.deep.equal(detector.state());
      }
    });

    it('gives the same result twice for the same values', () => {
      check(streams, (stream) => {
        const [one, other] = [createDriftDetector(SMALL[name]), createDriftDetector(SMALL[name])];
        expect(future(one, stream)).to.deep.equal(future(other, stream));
        expect(one.state()).to.deep.equal(other.state());
      });
    });

    it('keeps its state small over 100,000 values', () => {
      const detector = make();
      let largest = 0;
      decisions(9, 0.5, 100_000).forEach((value, index) => {
        detector.update(value);
        if (index % 5000 === 0) largest = Math.max(largest, JSON.stringify(detector.state()).length);
      });
      expect(largest).to.be.below(4000);
    });

    for (const wrong of [NaN, Infinity, -Infinity, '1', true, null, undefined, 1n, Symbol('one'), {}, [1]]) {
      it(`rejects ${inspect(wrong)} as a value, and stays as it was`, () => {
        const detector = make();
        feed(detector, decisions(10, 0.4, 60));
        const before = detector.state();
        expect(() => detector.update(wrong as number)).to.throw(DataValidationError, /^The value for \w+ must be /);
        expect(detector.state()).to.deep.equal(before);
      });
    }

    const rubbish: readonly (readonly [title: string, state: unknown])[] = [
      ['nothing', undefined],
      ['null', null],
      ['text', 'state'],
      ['an empty object', {}],
      ['a list', []],
      ['a state without memory', { ...make().state(), memory: undefined }],
      ['a state whose memory is empty', { ...make().state(), memory: {} }],
      ['a state with an additional field', { ...make().state(), more: 1 }],
      ['an age that is not a count', { ...make().state(), changeAge: -1 }],
      ['other parameters', createDriftDetector(SMALL[name]).state()],
      ...DRIFT_DETECTOR_NAMES.filter((other) => other !== name).map(
        (other) => [`a state of ${other}`, createDriftDetector(other).state()] as const,
      ),
    ];
    for (const [title, state] of rubbish) {
      it(`rejects ${title} as a state, and stays as it was`, () => {
        const detector = make();
        feed(detector, decisions(11, 0.4, 60));
        const before = detector.state();
        expect(() => {
          detector.restore(state as DetectorState);
        }).to.throw(DataValidationError, /^This is (not )?a state of /);
        expect(detector.state()).to.deep.equal(before);
      });
    }

    it('rejects each number of its memory as text', () => {
      const detector = make();
      feed(detector, decisions(12, 0.4, 60));
      const state = throughJson(detector.state());
      const memory = state['memory'] as Record<string, unknown>;
      for (const [key, value] of Object.entries(memory)) {
        const broken = { ...state, memory: { ...memory, [key]: JSON.stringify(value) } };
        expect(() => {
          make().restore(broken);
        }, key).to.throw(DataValidationError, `memory.${key}`);
      }
    });

    it('rejects an unknown parameter and lists the known ones', () => {
      const wrong = { name, params: { treshold: 3 } } as unknown as DriftDetectorChoice;
      expect(() => createDriftDetector(wrong)).to.throw(
        /^The params parameter must be one of .*Got 'treshold' instead/,
      );
    });

    it('rejects each of its parameters as text, NaN and below its range, by name', () => {
      const { parameters } = make() as unknown as { readonly parameters: Readonly<Record<string, unknown>> };
      expect(Object.keys(parameters)).to.have.length.above(0);
      for (const parameter of Object.keys(parameters)) {
        for (const wrong of ['a', NaN, -1, {}, []]) {
          const choice = { name, params: { [parameter]: wrong } } as unknown as DriftDetectorChoice;
          const pattern = new RegExp(`^The ${parameter} parameter must .*\\. Got .* instead\\.$`);
          expect(() => createDriftDetector(choice), `${parameter} ${JSON.stringify(wrong)}`)
            .to.throw(RangeError, pattern)
            .that.satisfies((error: unknown) => FairnessToolkitError.isInstance(error));
        }
      }
    });
  });
}
