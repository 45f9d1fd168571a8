import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { fetchFailureOf, parseHttpDate, readLimitedText, retryAfterMillis } from '../../src/internal/http.ts';

// The example of RFC 9110, section 5.6.7, in its three formats.
const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37);
const NOW = Date.UTC(1994, 10, 6, 8, 49, 7);

describe('an HTTP date (RFC 9110, section 5.6.7)', () => {
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    '  Sun, 06 Nov 1994 08:49:37 GMT ',
  ]) {
    it(`is read from '${text}'`, () => {
      expect(parseHttpDate(text, NOW)).to.equal(EXAMPLE);
    });
  }

  for (const [text, expected] of [
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Thu Dec 31 23:59:59 2026', Date.UTC(2026, 11, 31, 23, 59, 59)],
    // A leap second is the first second of the next minute.
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
  ] as const) {
    it(`'${text}' is ${new Date(expected).toISOString()}`, () => {
      expect(parseHttpDate(text, NOW)).to.equal(expected);
    });
  }

  // "A timestamp that appears to be more than 50 years in the future" is the most recent year in the past with these digits.
  for (const [digits, now, year] of [
    ['94', Date.UTC(2026, 0, 1), 1994],
    ['76', Date.UTC(2026, 11, 31), 2076],
    ['76', Date.UTC(2026, 0, 1), 1976],
    ['77', Date.UTC(2026, 11, 31), 1977],
    ['26', Date.UTC(2026, 0, 1), 2026],
    ['05', Date.UTC(2095, 0, 1), 2105],
  ] as const) {
    it(`in RFC 850 format with the year '${digits}' is of ${year} at ${new Date(now).toISOString()}`, () => {
      expect(parseHttpDate(`Sunday, 06-Nov-${digits} 08:49:37 GMT`, now)).to.equal(Date.UTC(year, 10, 6, 8, 49, 37));
    });
  }

  for (const text of [
    '',
    'soon',
    '1994-11-06T08:49:37Z',
    '784111777',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Son, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nob 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Wed, 29 Feb 2023 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 1994 GMT',
  ]) {
    it(`is not read from '${text}'`, () => {
      expect(parseHttpDate(text, NOW)).to.equal(undefined);
    });
  }
});

describe('Retry-After (RFC 9110, section 10.2.3)', () => {
  const waitOf = (
    retryAfter: string | undefined,
    others: Readonly<Record<string, string>> = {},
    options?: Parameters<typeof retryAfterMillis>[2],
  ) => {
    const headers = new Headers(others);
    if (retryAfter !== undefined) headers.set('retry-after', retryAfter);
    return retryAfterMillis(headers, NOW, options);
  };

  for (const [value, expected] of [
    ['120', 120_000],
    ['0', 0],
    ['007', 7000],
    [' 2 ', 2000],
    [' 0 ', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
    ['Sun Nov  6 08:49:37 1994', 30_000],
    ['Sun, 06 Nov 1994 08:49:07 GMT', 0],
    ['Fri, 31 Dec 1999 23:59:59 GMT', Date.UTC(1999, 11, 31, 23, 59, 59) - NOW],
    // In the past.
    ['Sun, 06 Nov 1994 08:48:37 GMT', 0],
  ] as const) {
    it(`'${value}' is a wait of ${expected} ms`, () => {
      expect(waitOf(value)).to.equal(expected);
    });
  }

  for (const value of [
    undefined,
    '',
    'soon',
    '-4',
    '-5x',
    '+4',
    '1.5',
    '1e3',
    '0x10',
    '12s',
    '5, 5',
    '1994-11-06T08:49:37Z',
  ]) {
    it(`${value === undefined ? 'that is missing' : `'${value}'`} is no wait`, () => {
      expect(waitOf(value)).to.equal(undefined);
    });
  }

  it('is compared with the clock of the server if the response has a Date', () => {
    const date = 'Sun, 06 Nov 1994 08:49:27 GMT';
    expect(waitOf('Sun, 06 Nov 1994 08:49:37 GMT', { date })).to.equal(10_000);
    expect(waitOf('Sun, 06 Nov 1994 08:49:17 GMT', { date })).to.equal(0);
    expect(waitOf('7', { date })).to.equal(7000);
  });

  it('is compared with the given clock if the Date of the response is malformed', () => {
    expect(waitOf('Sun, 06 Nov 1994 08:49:37 GMT', { date: 'today' })).to.equal(30_000);
  });

  it('beyond the maximum is no wait, in seconds and as a date', () => {
    const options = { maxSeconds: 30 };
    expect(waitOf('30', {}, options)).to.equal(30_000);
    expect(waitOf('31', {}, options)).to.equal(undefined);
    expect(waitOf('Sun, 06 Nov 1994 08:49:37 GMT', {}, options)).to.equal(30_000);
    expect(waitOf('Sun, 06 Nov 1994 08:49:38 GMT', {}, options)).to.equal(undefined);
  });

  it('is no wait if its number of seconds is not exact', () => {
    expect(waitOf('9'.repeat(400))).to.equal(undefined);
  });

  for (const [value, others, expected] of [
    ['1.5', {}, 1500],
    ['-4', {}, 0],
    [undefined, { 'retry-after-ms': '250' }, 250],
    ['9', { 'retry-after-ms': '250.5' }, 250.5],
    ['9', { 'retry-after-ms': 'x' }, 9000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', {}, 30_000],
    ['soon', {}, undefined],
    ['1e3', {}, undefined],
  ] as const) {
    it(`'${value}' with ${JSON.stringify(others)} is ${expected} ms in the forms of model servers`, () => {
      expect(waitOf(value, others, { acceptsModelServerForms: true })).to.equal(expected);
    });
  }

  it('reads retry-after-ms only for model servers', () => {
    expect(waitOf('9', { 'retry-after-ms': '250' })).to.equal(9000);
  });
});

describe('the text of a response', () => {
  const responseOf = (...chunks: readonly (string | Uint8Array)[]) => {
    const state = { isCancelled: false };
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks[index++];
        if (chunk === undefined) controller.close();
        else controller.enqueue(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk);
      },
      cancel() {
        state.isCancelled = true;
      },
    });
    let index = 0;
    return { response: new Response(stream), state };
  };

  it('is complete up to the limit', async () => {
    const { response } = responseOf('ab', 'c€');
    expect(await readLimitedText(response, 6)).to.deep.equal({ text: 'abc€', isComplete: true });
    expect(await readLimitedText(new Response(null), 6)).to.deep.equal({ text: '', isComplete: true });
  });

  it('ends before the limit if there is more, without half a character, and cancels the rest', async () => {
    const { response, state } = responseOf('ab', 'c€', 'never read', 'never read');
    expect(await readLimitedText(response, 5)).to.deep.equal({ text: 'abc', isComplete: false });
    expect(state.isCancelled).to.equal(true);
  });

  it('raises an error if it is not UTF-8, but not for bytes beyond the limit', async () => {
    const latin1 = Uint8Array.of(0xe9, 0x61);
    const error = await readLimitedText(responseOf('ab', latin1).response, 10).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DataValidationError);
    const { response } = responseOf('ab', latin1);
    expect(await readLimitedText(response, 2)).to.deep.equal({ text: 'ab', isComplete: false });
  });
});

describe('the reason of a failed fetch', () => {
  const coded = (message: string, code: string) => Object.assign(new Error(message), { code });
  for (const [title, thrown, expected] of [
    [
      'is in its cause',
      new TypeError('fetch failed', { cause: coded('connect ECONNREFUSED ::1:80', 'ECONNREFUSED') }),
      { message: 'connect ECONNREFUSED ::1:80', code: 'ECONNREFUSED' },
    ],
    [
      'is in the first of several causes',
      new TypeError('fetch failed', {
        cause: Object.assign(new AggregateError([coded('connect ECONNREFUSED ::1:80', 'X')], ''), {
          code: 'ECONNREFUSED',
        }),
      }),
      { message: 'connect ECONNREFUSED ::1:80', code: 'ECONNREFUSED' },
    ],
    [
      'is the code if there is no message',
      new TypeError('fetch failed', { cause: coded('', 'EPIPE') }),
      { message: 'EPIPE', code: 'EPIPE' },
    ],
    ['is its own message if it has no cause', new TypeError('bad port'), { message: 'bad port', code: undefined }],
    ['is its own message if its cause is no error', new Error('x', { cause: 'y' }), { message: 'x', code: undefined }],
    ['is unknown for something else', 'thrown', undefined],
  ] as const) {
    it(title, () => {
      expect(fetchFailureOf(thrown)).to.deep.equal(expected);
    });
  }
});
