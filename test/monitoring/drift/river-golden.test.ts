import { readFileSync } from 'node:fs';

import { expect } from 'chai';

import { createDriftDetector, type DriftDetectorSpec } from '../../../src/monitoring/drift/index.ts';

type GoldenCase = DriftDetectorSpec & {
  readonly stream: string;
  readonly alarms: readonly number[];
  readonly warnings: readonly number[];
};

/** Decisions are stored as a text of 0 and 1. */
interface Golden {
  readonly versions: { readonly river: string };
  readonly streams: Readonly<Record<string, string | readonly number[]>>;
  readonly cases: readonly GoldenCase[];
}

const golden = JSON.parse(
  readFileSync(new URL('../../golden/drift-detectors.json', import.meta.url), 'utf8'),
) as Golden;

const streamOf = (name: string) => Array.from(golden.streams[name] ?? [], Number);

describe(`random streams compared with river ${golden.versions.river}`, () => {
  for (const { name, params, stream, alarms, warnings } of golden.cases) {
    it(`${name} ${JSON.stringify(params)} on ${stream}: ${alarms.length} alarms, ${warnings.length} warnings`, () => {
      const detector = createDriftDetector({ name, params } as DriftDetectorSpec);
      const found: number[] = [];
      const warned: number[] = [];
      streamOf(stream).forEach((value, index) => {
        if (detector.update(value)) found.push(index);
        if ('isWarning' in detector && detector.isWarning === true) warned.push(index);
      });
      expect(found).to.deep.equal(alarms);
      expect(warned).to.deep.equal(warnings);
    });
  }
});
