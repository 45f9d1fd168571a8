import { expect } from 'chai';

import type { ConfigValidationError } from '../../../src/exceptions/index.ts';
import type { ConfigProblem } from '../../../src/io/config-text/config-problem.ts';
import { parseConfigText } from '../../../src/pipeline/config/index.ts';

const NAMES = Array.from({ length: 60 }, (_, index) => index);

const TEXTS: Readonly<Record<string, string>> = {
  'unknown keys': `sensitive: [sex]\n${NAMES.map((index) => `alpha${String(index)}: 1\n`).join('')}`,
  'unknown parameters': `sensitive: [sex]\ntraining: { method: reductions, target_column: y, params: { ${NAMES.map((index) => `nu${String(index)}: 1`).join(', ')} } }`,
  'intersections of names that are not attributes': `sensitive: [sex]\nintersections: [${NAMES.map((index) => `[sex, sex${String(index)}]`).join(', ')}]`,
  'benchmarks of names that are not attributes': `sensitive: [sex]\nbenchmarks: { ${NAMES.map((index) => `sex${String(index)}: { f: 1 }`).join(', ')} }`,
};

describe('a configuration with many problems', () => {
  for (const [title, text] of Object.entries(TEXTS)) {
    it(`${title}: all are reported, with suggestions for the first 50`, async () => {
      const error = (await parseConfigText(text, 'c', { profile: null }).catch(
        (reason: unknown) => reason,
      )) as ConfigValidationError;
      const allProblems = error.context['faults'] as readonly ConfigProblem[];
      expect(allProblems).to.have.length(60);
      allProblems.forEach(({ suggestion }, index) => {
        if (index < 50) expect(suggestion, String(index)).to.match(/Did you mean/);
        else expect(suggestion, String(index)).to.match(/(?:take it out|Remove it)\.$/i);
      });
    });
  }
});
