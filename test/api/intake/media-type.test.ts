import { expect } from 'chai';

import { mediaTypeOf, requireMediaType } from '../../../src/api/intake/media-type.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { cpuMillis } from '../../helpers/cpu-millis.ts';

describe('mediaTypeOf', () => {
  const good: readonly [string, string, Record<string, string>][] = [
    ['text/csv', 'text/csv', {}],
    ['Text/CSV', 'text/csv', {}],
    // RFC 9110, 8.3.1: these four are equivalent.
    ['text/html;charset=utf-8', 'text/html', { charset: 'utf-8' }],
    ['Text/HTML;Charset="utf-8"', 'text/html', { charset: 'utf-8' }],
    ['text/html; charset="utf-8"', 'text/html', { charset: 'utf-8' }],
    ['text/html;charset=utf-8 ', 'text/html', { charset: 'utf-8' }],
    ['multipart/form-data; boundary="a;b=\\"c\\""; x=1', 'multipart/form-data', { boundary: 'a;b="c"', x: '1' }],
    [' application/vnd.apache.parquet\t; ;', 'application/vnd.apache.parquet', {}],
    ['a/b; c=1; C=2', 'a/b', { c: '1' }],
    ['a/b; __proto__=1', 'a/b', { ['__proto__']: '1' }],
  ];
  for (const [header, type, parameters] of good) {
    it(`parses '${header}'`, () => {
      const media = mediaTypeOf(header);
      expect(media?.type).to.equal(type);
      expect([...(media?.parameters ?? [])]).to.deep.equal(Object.entries(parameters));
    });
  }

  const bad = [
    '',
    'text',
    'text/',
    '/csv',
    'text/csv/x',
    'text/csv charset=x',
    'a/b; c',
    'a/b; c="',
    'a/b; c=d e',
    'a b/c',
    'a/b,c/d',
  ];
  for (const header of [undefined, ...bad]) {
    it(`returns undefined for ${JSON.stringify(header)}`, () => {
      expect(mediaTypeOf(header)).to.equal(undefined);
    });
  }

  it('parses a hostile header in linear time', () => {
    const start = cpuMillis();
    mediaTypeOf(`a/b;${' '.repeat(20_000)}x="${'\\'.repeat(20_001)}`);
    mediaTypeOf(`a/b${';'.repeat(20_000)}=`);
    expect(cpuMillis() - start).to.be.below(200);
  });
});

describe('requireMediaType', () => {
  const accepted = ['application/json', 'text/csv'] as const;

  it('returns an accepted type, regardless of case and parameters', () => {
    expect(requireMediaType('Text/CSV; header=present; charset=UTF-8', accepted)).to.equal('text/csv');
    expect(requireMediaType('application/json;charset=us-ascii', accepted)).to.equal('application/json');
  });

  const refused: readonly [string, string | undefined, RegExp][] = [
    ['another type', 'text/plain', /application\/json or text\/csv\. Got 'text\/plain'/],
    ['none', undefined, /Got none/],
    ['an empty one', '', /Got none/],
    ['an invalid media type', 'csv\u0000', /Got 'csv/],
    ['another charset', 'text/csv; charset=latin1', /must be UTF-8\. Got the charset 'latin1'/],
    ['a type with an accepted type as prefix', 'application/jsonp', /Got 'application\/jsonp'/],
  ];
  for (const [title, header, detail] of refused) {
    it(`answers 415 for ${title}`, () => {
      expect(() => requireMediaType(header, accepted))
        .to.throw(ServiceProblem, detail)
        .with.property('status', 415);
    });
  }

  it('shortens a long header in the message', () => {
    expect(() => requireMediaType('x'.repeat(5000), accepted))
      .to.throw(ServiceProblem)
      .with.property('message')
      .that.has.length.below(200);
  });

  const FORM = 'application/x-www-form-urlencoded';
  const suggested: readonly [string, string, readonly string[], RegExp][] = [
    ['curl -d without -H', FORM, accepted, /-H 'content-type: application\/json'/],
    ['curl -d without -H if only JSON is accepted', FORM, ['application/json'], /-H 'content-type: application\/json'/],
    ['curl -d instead of a form', FORM, ['multipart/form-data'], /curl: -F 'file=@data\.csv'/],
    ['a form instead of a table', 'multipart/form-data; boundary=x', accepted, /send the table itself as the body/i],
    [
      'a form instead of JSON',
      'multipart/form-data; boundary=x',
      ['application/json'],
      /send the JSON itself as the body/i,
    ],
    ['a CSV instead of a form', 'text/csv', ['multipart/form-data'], /curl: -F 'file=@data\.csv'/],
    ['a misspelt type', 'text/cvs', accepted, /Did you mean 'text\/csv'/],
    [
      'curl -d where lines are accepted',
      FORM,
      ['application/x-ndjson', 'application/jsonl'],
      /Add -H 'content-type: application\/x-ndjson'\. For lines, use --data-binary instead of -d\.$/,
    ],
    [
      'curl -d where JSON and forms are accepted',
      FORM,
      [...accepted, 'multipart/form-data'],
      /^This is the default of curl -d\. Add -H 'content-type: application\/json'/,
    ],
  ];
  for (const [title, header, types, suggestion] of suggested) {
    it(`suggests a fix for ${title}`, () => {
      expect(() => requireMediaType(header, types))
        .to.throw(ServiceProblem)
        .with.property('suggestion')
        .that.matches(suggestion);
    });
  }
});
