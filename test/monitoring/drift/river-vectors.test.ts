import { expect } from 'chai';

import { AdwinDetector } from '../../../src/monitoring/drift/adwin-detector.ts';
import {
  createDriftDetector,
  type DriftDetectorName,
  type DriftDetectorSpec,
} from '../../../src/monitoring/drift/create-drift-detector.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface DetectorCase {
  readonly id: string;
  readonly detector: string;
  readonly params: Readonly<Record<string, number | boolean | string>>;
  readonly stream: string;
  readonly drift_indices: readonly number[];
  readonly first_warning_indices?: readonly number[];
}

interface RiverVectors {
  readonly streams: Readonly<Record<string, readonly number[]>>;
  readonly cases: readonly DetectorCase[];
  readonly adwin_state: { readonly n: number; readonly total: number; readonly sum_sq_dev: number; readonly buckets_per_row: readonly number[] }; // prettier-ignore
}

const NAMES: Readonly<Record<string, DriftDetectorName>> = {
  ADWIN: 'adwin',
  PageHinkley: 'page_hinkley',
  CUSUM: 'cusum',
  EWMA: 'ewma',
  DDM: 'ddm',
  HDDM_A: 'hddm_a',
  HDDM_W: 'hddm_w',
};

/** max_buckets is called maxBuckets here. */
const inCamelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns where a detector raises alarms, and where it first warns: once before each alarm. */
function watch({ detector, params }: DetectorCase, stream: readonly number[]) {
  const name = NAMES[detector] as DriftDetectorName;
  const given = Object.fromEntries(Object.entries(params).map(([key, value]) => [inCamelCase(key), value]));
  const watcher = createDriftDetector({ name, params: given } as DriftDetectorSpec);
  const alarms: number[] = [];
  const warnings: number[] = [];
  let hasWarned = false;
  stream.forEach((value, index) => {
    const isAlarm = watcher.update(value);
    if ('isWarning' in watcher && watcher.isWarning === true && !hasWarned) {
      warnings.push(index);
      hasWarned = true;
    }
    if (!isAlarm) return;
    alarms.push(index);
    hasWarned = false;
  });
  return { alarms, warnings };
}

describeWithReference("river's streams and alarms", () => {
  const { streams, cases, adwin_state: adwinState } = readVectors('river_drift.json') as RiverVectors;

  it('are complete', () => {
    expect(cases).to.have.length(17);
  });

  for (const one of cases) {
    it(`${one.id}: alarms at ${one.drift_indices.join(', ')}`, () => {
      const { alarms, warnings } = watch(one, streams[one.stream] as readonly number[]);
      expect(alarms).to.deep.equal(one.drift_indices);
      if (one.first_warning_indices !== undefined) expect(warnings).to.deep.equal(one.first_warning_indices);
    });
  }

  it('ADWIN keeps the total, the squared deviations and the layout of its buckets', () => {
    // A clock that never triggers a check, so the values are only stored.
    const detector = new AdwinDetector({ clock: adwinState.n + 1 });
    for (let index = 0; index < adwinState.n; index++) detector.update(index % 7);
    expect(detector.width).to.equal(adwinState.n);
    expect(detector.mean * detector.width).to.be.closeTo(adwinState.total, 1e-9);
    expect(detector.variance * detector.width).to.be.closeTo(adwinState.sum_sq_dev, 1e-9);
    const { rows } = detector.state()['memory'] as { rows: unknown[][] };
    expect(rows.map(({ length }) => length)).to.deep.equal(adwinState.buckets_per_row);
  });
});
