import { expect } from 'chai';

import { DARK, DASHES, LIGHT, MAX_LINES } from '../../src/charts/palette.ts';
import { contrast } from './contrast.ts';

describe('the contrast ratio', () => {
  // From the definition: black on white is 21 to 1; #767676 is the lightest grey with 4.5 to 1 on white.
  for (const [one, other, ratio] of [
    ['#000000', '#ffffff', 21],
    ['#767676', '#ffffff', 4.54],
    ['#abcdef', '#abcdef', 1],
  ] as const) {
    it(`is ${ratio} for ${one} on ${other}`, () => {
      expect(contrast(one, other)).to.be.closeTo(ratio, 0.01);
    });
  }
});

for (const [name, palette] of Object.entries({ light: LIGHT, dark: DARK })) {
  describe(`the ${name} palette`, () => {
    for (const key of ['ink', 'quiet'] as const) {
      it(`has ${key} text of at least 4.5 to 1`, () => {
        expect(contrast(palette[key], palette.surface)).to.be.at.least(4.5);
      });
    }

    for (const key of ['axis', 'main', 'alarm', 'calm'] as const) {
      it(`has ${key} marks of at least 3 to 1`, () => {
        expect(contrast(palette[key], palette.surface)).to.be.at.least(3);
      });
    }

    it('has distinct colours for the maximum number of lines, each with at least 3 to 1', () => {
      expect(new Set(palette.series).size).to.equal(MAX_LINES);
      for (const colour of palette.series) expect(contrast(colour, palette.surface), colour).to.be.at.least(3);
    });
  });
}

it('has distinct dashes for the maximum number of lines', () => {
  expect(new Set(DASHES.map(String)).size).to.equal(MAX_LINES);
});
