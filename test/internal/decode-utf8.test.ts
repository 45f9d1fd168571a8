import { Readable } from 'node:stream';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { decodeUtf8, utf8Lines, Utf8Stream } from '../../src/internal/decode-utf8.ts';

/** Bytes that are not UTF-8, and the offset of the first invalid byte, from RFC 3629 (section 4, table of sequences). */
const BROKEN: readonly (readonly [title: string, bytes: readonly number[], offset: number])[] = [
  ['a Latin-1 letter at the start', [0xe9], 0],
  ['a Latin-1 letter between ASCII', [0x61, 0xe9, 0x62], 1],
  ['a continuation byte alone', [0x61, 0x62, 0x80], 2],
  ['an overlong slash', [0x61, 0xc0, 0xaf], 1],
  ['an overlong sequence of three', [0xe0, 0x80, 0xaf], 0],
  ['a surrogate', [0x61, 0xed, 0xa0, 0x80], 1],
  ['a code point beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80], 0],
  ['a byte that occurs in no sequence', [0x61, 0xff], 1],
  ['a sequence cut short by the end', [0x61, 0x62, 0xe2, 0x82], 2],
  ['a sequence cut short by a letter', [0xc3, 0xa9, 0xc3, 0x61], 2],
];

describe('decoding UTF-8', () => {
  it('returns the text of valid bytes, without a byte order mark', () => {
    for (const text of ['', 'plain', 'é è', '€', '🐦', '\u0000', '\uffff', '\u{10ffff}']) {
      expect(decodeUtf8(Buffer.from(text), 'The body')).to.equal(text);
    }
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61), 'The body')).to.equal('a');
  });

  for (const [title, bytes, offset] of BROKEN) {
    it(`reports the offset of the first invalid byte for ${title}`, () => {
      expect(() => decodeUtf8(Uint8Array.from(bytes), 'The body'))
        .to.throw(
          DataValidationError,
          `The body is not UTF-8: byte 0x${(bytes[offset] ?? 0).toString(16)} at offset ${offset}`,
        )
        .with.nested.property('context.offset', offset);
    });

    it(`reports the same offset for single bytes for ${title}`, () => {
      const decoder = new Utf8Stream('The input');
      const decode = () => {
        for (const byte of [0x78, 0xc3, 0xa9, ...bytes]) decoder.write(Uint8Array.of(byte));
        decoder.end();
      };
      expect(decode)
        .to.throw(DataValidationError)
        .with.nested.property('context.offset', 3 + offset);
    });
  }

  it('decodes a stream to the same text for all chunk sizes', () => {
    const bytes = Buffer.from('\ufeffaé€🐦z\ufeff');
    for (let size = 1; size <= bytes.length; size++) {
      const decoder = new Utf8Stream('The input');
      let text = '';
      for (let from = 0; from < bytes.length; from += size) text += decoder.write(bytes.subarray(from, from + size));
      expect(text + decoder.end()).to.equal('aé€🐦z\ufeff');
    }
  });

  it('splits a stream into lines, with both kinds of line ends', async () => {
    const bytes = Buffer.from('{"g":"é"}\r\n\n{"g":"\u2028"}\nlast');
    for (const size of [1, 2, 3, 100]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const lines: string[] = [];
      for await (const line of utf8Lines(Readable.from(chunks), 'The input')) lines.push(line);
      expect(lines).to.deep.equal(['{"g":"é"}', '', '{"g":"\u2028"}', 'last']);
    }
  });

  it('reports where a stream of lines is not UTF-8, after the lines before it', async () => {
    const lines: string[] = [];
    const read = async () => {
      const chunks = [Buffer.from('one\ntwo\n'), Buffer.from([0x74, 0xe9, 0x0a])];
      for await (const line of utf8Lines(Readable.from(chunks), 'The input')) lines.push(line);
    };
    const error = await read().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(DataValidationError).with.nested.property('context.offset', 9);
    expect(lines).to.deep.equal(['one', 'two']);
  });
});
