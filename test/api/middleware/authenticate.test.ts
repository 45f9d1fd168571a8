import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { authenticate, checkKeys, readKeys } from '../../../src/api/middleware/authenticate.ts';
import { logRequests, requestId } from '../../../src/api/middleware/service-layers.ts';
import { ConfigValidationError, DataValidationError } from '../../../src/exceptions/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { ask, bareApp, keptLogger, serviceWith } from './bare-app.ts';

const folder = useTemporaryFolder();

const KEY = 'first-key-0123456789';
const OTHER = 'second-key-9876543210';

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE' | 'OPTIONS';

function appOf(keys: readonly string[]) {
  const { logger, lines } = keptLogger();
  const service = serviceWith({ keys, logger });
  const layers = [requestId(service), logRequests(service), answerProblems(service), authenticate(service)];
  const app = bareApp(layers, (context) => {
    context.body = { client: context.state.client };
  });
  return { app, lines };
}

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const digestOf = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 12);

describe('authenticate', () => {
  const cases: readonly (readonly [string, Method, string, string | undefined, number])[] = [
    ['no key', 'GET', '/results', undefined, 401],
    ['no key', 'POST', '/validate', undefined, 401],
    ['no key', 'OPTIONS', '/validate', undefined, 401],
    ['no key', 'GET', '/metrics', undefined, 401],
    ['no key', 'GET', '/no/such/path', undefined, 401],
    ['no key', 'GET', '/health', undefined, 200],
    ['no key', 'HEAD', '/health', undefined, 200],
    ['no key', 'POST', '/health', undefined, 401],
    ['no key', 'GET', '/', undefined, 200],
    ['no key', 'GET', '/assets/index-a1_B2.js', undefined, 200],
    ['no key', 'POST', '/', undefined, 401],
    ['no key', 'GET', '/assets/../results', undefined, 401],
    ['no key', 'GET', '/assets/x/y', undefined, 401],
    ['no key', 'GET', '/docs', undefined, 401],
    ['no key', 'GET', '/health/', undefined, 401],
    ['no key', 'GET', '/Health', undefined, 401],
    ['no key', 'GET', '//health', undefined, 401],
    ['no key', 'GET', '/health/../results', undefined, 401],
    ['a wrong key', 'GET', '/health', 'Bearer nonsense', 200],
    ['the first key', 'GET', '/results', `Bearer ${KEY}`, 200],
    ['the second key', 'POST', '/validate', `Bearer ${OTHER}`, 200],
    ['the scheme in lower case', 'GET', '/results', `bearer ${KEY}`, 200],
    ['a key with text after it', 'GET', '/results', `Bearer ${KEY}x`, 401],
    ['a prefix of a key', 'GET', '/results', `Bearer ${KEY.slice(0, -1)}`, 401],
    ['both keys as a list', 'GET', '/results', `Bearer ${KEY},${OTHER}`, 401],
    ['the key without a scheme', 'GET', '/results', KEY, 401],
    ['another scheme', 'GET', '/results', `Digest ${KEY}`, 401],
    ['an empty header', 'GET', '/results', '', 401],
    ['a scheme alone', 'GET', '/results', 'Bearer', 401],
    ['8 KB', 'GET', '/results', `Bearer ${'x'.repeat(8192)}`, 401],
    ['non-ASCII text', 'GET', '/results', 'Bearer schlüssel-schlüssel', 401],
    ['a line break', 'GET', '/results', `Bearer x\r\n${KEY}`, 401],
    ['the key as a password', 'GET', '/docs', basic('', KEY), 200],
    ['the key as a password with a user name', 'HEAD', '/docs', basic('me', KEY), 200],
    ['the key as a password for a change', 'POST', '/validate', basic('', KEY), 401],
    ['the key as a password for a change', 'DELETE', '/results/x', basic('', KEY), 401],
    ['the key as a user name', 'GET', '/docs', basic(KEY, ''), 401],
    ['an undecodable password', 'GET', '/docs', 'Basic !!!!', 401],
    ['a pair without a colon', 'GET', '/docs', `Basic ${Buffer.from('nothing').toString('base64')}`, 401],
  ];
  for (const [title, method, url, authorization, status] of cases) {
    it(`answers ${method} ${url} with ${title} by ${String(status)}`, async () => {
      const { app } = appOf([KEY, OTHER]);
      const headers = authorization === undefined ? {} : { authorization };
      expect((await ask(app, { method, url, headers })).statusCode).to.equal(status);
    });
  }

  it('requires no key if the service has none', async () => {
    const { app } = appOf([]);
    const answer = await ask(app, { method: 'POST', url: '/validate', headers: { authorization: 'Bearer x' } });
    expect(answer.json()).to.deep.equal({ client: '' });
  });

  it('names the schemes for sending a key: two for reading, one for changes', async () => {
    const { app } = appOf([KEY]);
    const schemes = async (method: Method) => (await ask(app, { method, url: '/results' })).headers['www-authenticate'];
    const bearer = 'Bearer realm="evenhand"';
    expect(await schemes('GET')).to.deep.equal([bearer, 'Basic realm="evenhand", charset="UTF-8"']);
    expect(await schemes('POST')).to.deep.equal([bearer]);
  });

  it('explains that a valid password only allows reading; says nothing about an invalid one', async () => {
    const { app } = appOf([KEY]);
    const refusal = async (method: Method, authorization: string) =>
      (await ask(app, { method, url: '/results/x', headers: { authorization } })).json<{ detail: string }>().detail;
    for (const method of ['POST', 'DELETE'] as const) {
      expect(await refusal(method, basic('me', KEY))).to.equal(
        'Passwords work for reading only; send Authorization: Bearer.',
      );
      expect(await refusal(method, basic('me', OTHER))).to.equal(await refusal(method, `Bearer ${OTHER}`));
    }
  });

  it('gives the same answer for any invalid key', async () => {
    const { app } = appOf([KEY]);
    const bodies = new Set<string>();
    for (const wrong of ['x', KEY.slice(0, -1), `${KEY}x`, OTHER]) {
      bodies.add(
        (await ask(app, { method: 'GET', url: '/results', headers: { authorization: `Bearer ${wrong}` } })).body,
      );
    }
    expect(bodies.size).to.equal(1);
  });

  it('identifies a client by a prefix of the SHA-256 of its key in logs, and never in answers', async () => {
    const { app, lines } = appOf([KEY, OTHER]);
    const answer = await ask(app, { method: 'GET', url: '/results', headers: { authorization: `Bearer ${OTHER}` } });
    expect(answer.json()).to.deep.equal({ client: digestOf(OTHER) });
    expect((JSON.parse(lines[0] ?? '{}') as { client: string }).client).to.equal(digestOf(OTHER));
  });

  it('logs neither valid nor invalid keys, nor the query', async () => {
    const { app, lines } = appOf([KEY]);
    for (const authorization of [`Bearer ${KEY}`, `Bearer ${OTHER}`, basic('me', KEY)]) {
      await ask(app, { method: 'GET', url: `/results?key=${KEY}`, headers: { authorization } });
    }
    expect(lines).to.have.length(3);
    expect(lines.join('')).to.not.match(new RegExp(`${KEY}|${OTHER}|Bearer|Basic`));
  });
});

describe('readKeys', () => {
  it('reads a comma-separated list, trimmed and without duplicates', () => {
    expect(readKeys({ EVENHAND_API_KEYS: ` ${KEY} ,${OTHER},, ${KEY}` })).to.deep.equal([KEY, OTHER]);
  });

  for (const text of [undefined, '', ' ', ',']) {
    it(`returns no keys for ${text === undefined ? 'nothing' : JSON.stringify(text)}`, () => {
      expect(readKeys({ EVENHAND_API_KEYS: text })).to.deep.equal([]);
    });
  }

  describe('from the file that EVENHAND_API_KEYS_FILE names', () => {
    const write = (text: string): string => {
      const file = path.join(folder(), 'keys.txt');
      writeFileSync(file, text);
      return file;
    };

    it('reads one key per line, or a comma-separated list', () => {
      for (const text of [`${KEY}\n${OTHER}\n`, `${KEY}\r\n\r\n${OTHER}`, `${KEY}, ${OTHER}`]) {
        expect(readKeys({ EVENHAND_API_KEYS_FILE: write(text) })).to.deep.equal([KEY, OTHER]);
      }
      expect(readKeys({ EVENHAND_API_KEYS: OTHER, EVENHAND_API_KEYS_FILE: write(KEY) })).to.deep.equal([OTHER]);
    });

    it('rejects a file without a key, which would make the service public, and one that does not exist', () => {
      for (const text of ['', '\n', ' , ']) {
        expect(() => readKeys({ EVENHAND_API_KEYS_FILE: write(text) })).to.throw(
          ConfigValidationError,
          /^The file of EVENHAND_API_KEYS_FILE contains no key: '.*keys\.txt'\.$/,
        );
      }
      expect(() => readKeys({ EVENHAND_API_KEYS_FILE: '/nowhere/keys' })).to.throw(
        DataValidationError,
        /^The file of EVENHAND_API_KEYS_FILE cannot be read: '\/nowhere\/keys'\.$/,
      );
    });
  });

  for (const [title, key] of [
    ['with a space in it', 'a key with blanks in it'],
    ['with non-ASCII characters', 'schlüssel-schlüssel-schlüssel'],
  ] as const) {
    it(`rejects a key ${title} and names its position and a way to generate one, but not the key`, () => {
      expect(() => readKeys({ EVENHAND_API_KEYS: `${KEY},${key}` }))
        .to.throw(ConfigValidationError)
        .that.satisfies((error: ConfigValidationError) => {
          expect(error.message).to.include('key 2').and.not.include(key);
          expect(JSON.stringify(error.context)).to.not.include(key);
          return error.suggestion?.includes('randomBytes') === true;
        });
    });
  }
});

describe('checkKeys', () => {
  it('rejects a key that has two tenants, by its position', () => {
    expect(() => checkKeys([KEY, `a:${OTHER}`, `b:${OTHER}`], 'The keys parameter'))
      .to.throw(ConfigValidationError, 'key 3 has two')
      .and.satisfy((error: Error) => !error.message.includes(OTHER));
    expect(() => checkKeys([KEY, `a:${KEY}`], 'The keys parameter')).to.throw(ConfigValidationError, 'key 2');
    expect(checkKeys([`a:${KEY}`, `a:${OTHER}`], 'The keys parameter')).to.have.lengthOf(2);
  });

  it('returns valid keys without duplicates', () => {
    expect(checkKeys([KEY, OTHER, KEY], 'The keys parameter')).to.deep.equal([KEY, OTHER]);
    expect(checkKeys([], 'The keys parameter')).to.deep.equal([]);
  });

  for (const [title, key] of [
    ['that is empty, which would open the service', ''],
    ['of spaces', '  '],
    ['with a space in it', 'two words'],
    ['with a space after it', `${KEY} `],
    ['with a line break', `${KEY}\n`],
  ] as const) {
    it(`rejects a key ${title}`, () => {
      expect(() => checkKeys([KEY, key], 'The keys parameter'))
        .to.throw(ConfigValidationError, 'keys parameter')
        .with.nested.property('context.index', 2);
    });
  }
});
