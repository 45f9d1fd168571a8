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
