import { expect } from 'chai';
import fc from 'fast-check';

import { canonicalLabel, losesDigits } from '../../src/internal/label-text.ts';

describe('the canonical text of a group label', () => {
  // Written by hand: the decimal number of each text.
  const numbers: Readonly<Record<string, string>> = {
    '1': '1',
    '1.0': '1',
    '1.': '1',
    '1e0': '1',
    '10e-1': '1',
    ' 1': '1',
    '1 ': '1',
    '-0': '0',
    '-0.0': '0',
    '0e7': '0',
    '.5': '0.5',
    '2.50': '2.5',
    '-1.50': '-1.5',
    '1e3': '1000',
    '1e21': '1e+21',
    '1000000000000000000000': '1e+21',
    '0.0000001': '1e-7',
    '9007199254740992': '9007199254740992',
    '9007199254740993': '9007199254740993',
    '9007199254740993.0': '9007199254740993',
    '123456789012345678901234567890': '123456789012345678901234567890',
    '0.1234567890123456789': '0.1234567890123456789',
    '0.1234567890123456788': '0.1234567890123456788',
    '1e400': '1e+400',
    '1e500': '1e+500',
    '123456.7890123456789012345': '123456.7890123456789012345',
  };
  for (const [text, label] of Object.entries(numbers)) {
    it(`is '${label}' for '${text}'`, () => {
      expect(canonicalLabel(text)).to.equal(label);
      expect(canonicalLabel(label)).to.equal(label);
    });
  }

  for (const text of [
    '01',
    '00',
    '-01',
    '+1',
    '0x1',
    '0b1',
    '1_000',
    '1,5',
    '1e',
    'e1',
    '.',
    '-',
    '',
    ' ',
    'true',
    'True',
    'NaN',
    'Infinity',
    '1 2',
    '1n',
    '١',
  ]) {
    it(`is unchanged for '${text}'`, () => {
      expect(canonicalLabel(text)).to.equal(text);
    });
  }

  it('equals the text of the number in JavaScript', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(canonicalLabel(String(value))).to.equal(String(value));
        expect(canonicalLabel(value.toExponential())).to.equal(String(value));
      }),
    );
  });

  it('is the same for two integers only if the numbers are equal', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), fc.nat(3), (a, b, zeros) => {
        expect(canonicalLabel(`${a}.${'0'.repeat(zeros)}`) === canonicalLabel(String(b))).to.equal(a === b);
      }),
    );
  });

  it('detects numbers that lose digits in a float64', () => {
    for (const text of ['9007199254740993', '0.1234567890123456789', '1e400', '1e-400', '12345678901234567890']) {
      expect(losesDigits(text), text).to.equal(true);
    }
    for (const text of ['9007199254740992', '0.1', '1.0', '0.30000000000000004', '1e300', '-0', '5e-324']) {
      expect(losesDigits(text), text).to.equal(false);
    }
  });
});
