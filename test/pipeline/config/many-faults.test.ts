import { expect } from 'chai';

import type { ConfigValidationError } from '../../../src/exceptions/index.ts';
import type { ConfigFault } from '../../../src/io/config-text/config-fault.ts';
import { parseConfigText } from '../../../src/pipeline/config/index.ts';

const NAMES = Array.from({ length: 60 }, (_, place) => place);

const TEXTS: Readonly<Record<string, string>> = {
  'unknown keys': `sensitive: [sex]\n${NAMES.map((place) => `alpha${String(place)}: 1\n`).join('')}`,
  'unknown parameters': `sensitive: [sex]\ntraining: { method: reductions, target_column: y, params: { ${NAMES.map((place) => `nu${String(place)}: 1`).join(', ')} } }`,
  'intersections of names that are not attributes': `sensitive: [sex]\nintersections: [${NAMES.map((place) => `[sex, sex${String(place)}]`).join(', ')}]`,
  'benchmarks of names that are not attributes': `sensitive: [sex]\nbenchmarks: { ${NAMES.map((place) => `sex${String(place)}: { f: 1 }`).join(', ')} }`,
};

describe('a configuration with many problems', () => {
  for (const [title, text] of Object.entries(TEXTS)) {
    it(`${title}: all are reported, with suggestions for the first 50`, async () => {
      const error = (await parseConfigText(text, 'c', { profile: null }).catch(
        (reason: unknown) => reason,
      )) as ConfigValidationError;
      const faults = error.context['faults'] as readonly ConfigFault[];
      expect(faults).to.have.length(60);
      faults.forEach(({ suggestion }, place) => {
        if (place < 50) expect(suggestion, String(place)).to.match(/Did you mean/);
        else expect(suggestion, String(place)).to.match(/take it out\.$/i);
      });
    });
  }
});
