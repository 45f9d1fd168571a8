import { expect } from 'chai';

import { parseBy } from '../../src/schemas/parse.ts';
import { serveSchema } from '../../src/schemas/serve.ts';

describe('the options of serve', () => {
  it('have the defaults in the help text', () => {
    expect(parseBy(serveSchema, {}, 'serve')).to.deep.equal({
      host: '127.0.0.1',
      port: 8000,
      reload: false,
      workers: 1,
      insecure: false,
      maxJsonMb: 32,
      maxUploadMb: 2048,
      maxArrayItems: 5_000_000,
      drainSeconds: 30,
    });
  });

  const wrong: [field: string, value: unknown][] = [
    ['port', 65_536],
    ['port', -1],
    ['port', 80.5],
    ['workers', 0],
    ['rateLimit', 0],
    ['threads', 0],
    ['queue', -1],
    ['maxJsonMb', 0],
    ['maxJsonMb', 513],
    ['maxUploadMb', -1],
    ['maxArrayItems', 0],
    ['drainSeconds', -1],
    ['host', ''],
    ['corsOrigin', ['audit.example.com']],
    ['corsOrigin', ['https://audit.example.com/']],
    ['corsOrigin', ['*']],
    ['allowedHost', ['audit.example.com:8000']],
    ['allowedHost', ['http://audit.example.com']],
    ['basePath', 'fairness'],
    ['basePath', '/fairness/'],
    ['basePath', '/a b'],
  ];
  for (const [field, value] of wrong) {
    it(`rejects ${field} ${JSON.stringify(value)}, naming the field`, () => {
      expect(() => parseBy(serveSchema, { [field]: value }, 'serve')).to.throw(field);
    });
  }

  it('limit uploads to what Redis should hold, if it holds them', () => {
    const redis = 'redis://h';
    const limitOf = (options: object) => parseBy(serveSchema, options, 'serve').maxUploadMb;
    expect([{}, { redis }, { redis, maxUploadMb: 3 }, { maxUploadMb: 9000 }].map(limitOf)).to.deep.equal([
      2048, 512, 3, 9000,
    ]);
    expect(() => limitOf({ redis, maxUploadMb: 8193 })).to.throw('maxUploadMb must be at most 8192');
  });

  for (const [options, message] of [
    [
      { redis: 'redis://h', store: 'folder' },
      'Results are stored either in Redis (redis, for several hosts) or in a folder (store',
    ],
    [{ work: false }, 'add redis'],
    [{ redisPrefix: 'a' }, 'add redis'],
    [{ redis: 'redis://h', redisPrefix: 'a:b' }, 'redisPrefix'],
    [{ redis: 'redis://h', redisPrefix: '' }, 'redisPrefix'],
    [{ redis: '' }, 'redis'],
  ] as const) {
    it(`reject ${JSON.stringify(options)}`, () => {
      expect(() => parseBy(serveSchema, options, 'serve')).to.throw(message);
    });
  }

  for (const [field, value] of [
    ['corsOrigin', ['https://audit.example.com', 'http://localhost:3000']],
    ['allowedHost', ['audit.example.com', '[::1]', '10.0.0.1']],
    ['basePath', '/fairness/v1'],
    ['port', 0],
    ['drainSeconds', 0],
  ] as const) {
    it(`accepts ${field} ${JSON.stringify(value)}`, () => {
      expect(parseBy(serveSchema, { [field]: value }, 'serve')).to.deep.include({ [field]: value });
    });
  }
});
