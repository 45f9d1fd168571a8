import { expect } from 'chai';

import {
  allowedHostsOf,
  assertSafe,
  cannotListen,
  isLoopback,
  positionText,
  urlOf,
} from '../../../src/api/serve/address.ts';
import { ConfigValidationError } from '../../../src/exceptions/index.ts';

const KEYS = ['a-key-that-is-long-enough'];
const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

describe('the address of a service', () => {
  const hosts: [host: string, loopback: boolean][] = [
    ['127.0.0.1', true],
    ['127.255.1.2', true],
    ['::1', true],
    ['localhost', true],
    ['LOCALHOST', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['127.evil.example', false],
    ['localhost.example.com', false],
    ['::ffff:127.0.0.1', false],
  ];
  for (const [host, loopback] of hosts) {
    it(`${host} is ${loopback ? 'only reachable from this machine' : 'treated as reachable from other machines'}`, () => {
      expect(isLoopback(host)).to.equal(loopback);
    });
  }

  it('requires keys, or explicit permission, if other machines can reach it', () => {
    const open = { host: '0.0.0.0', keys: [], insecure: false };
    expect(() => {
      assertSafe(open);
    })
      .to.throw(ConfigValidationError, '0.0.0.0 can be reached from other machines')
      .with.property('suggestion')
      .that.includes('EVENHAND_API_KEYS')
      .and.includes('--insecure');
    assertSafe({ ...open, keys: KEYS });
    assertSafe({ ...open, insecure: true });
    assertSafe({ ...open, host: '127.0.0.1' });
  });

  const names: [string, Parameters<typeof allowedHostsOf>[0], string[] | undefined, readonly string[] | undefined][] = [
    ['local names only, without keys', { host: '127.0.0.1', keys: [], insecure: false }, undefined, LOCAL],
    [
      'local names and the given names',
      { host: '127.0.0.1', keys: [], insecure: false },
      ['a.example'],
      [...LOCAL, 'a.example'],
    ],
    [
      'its own name, if it is another local one',
      { host: '127.0.0.2', keys: [], insecure: false },
      undefined,
      [...LOCAL, '127.0.0.2'],
    ],
    ['any, with keys', { host: '127.0.0.1', keys: KEYS, insecure: false }, undefined, undefined],
    ['any, if insecure', { host: '0.0.0.0', keys: [], insecure: true }, undefined, undefined],
    ['the given names, with keys', { host: '0.0.0.0', keys: KEYS, insecure: false }, ['a.example'], ['a.example']],
  ];
  for (const [title, exposure, given, expected] of names) {
    it(`accepts ${title} as host names`, () => {
      expect(allowedHostsOf(exposure, given)).to.deep.equal(expected);
    });
  }

  const urls: [host: string, url: string][] = [
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['::1', 'http://[::1]:80'],
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['::', 'http://[::1]:80'],
    ['my-host', 'http://my-host:80'],
  ];
  for (const [host, url] of urls) {
    it(`${host} has the URL ${url}`, () => {
      expect(urlOf(host, 80)).to.equal(url);
    });
  }

  const indices: [host: string, text: string][] = [
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['localhost', 'http://localhost:80'],
    ['0.0.0.0', 'http://0.0.0.0:80, reachable from other machines'],
    ['::', 'http://[::]:80, reachable from other machines'],
    ['10.0.0.1', 'http://10.0.0.1:80, reachable from other machines'],
  ];
  for (const [host, text] of indices) {
    it(`${host} is displayed as ${text}`, () => {
      expect(positionText(host, 80)).to.equal(text);
    });
  }

  for (const [code, word] of [
    ['EADDRINUSE', 'in use'],
    ['EACCES', 'this user'],
    ['EADDRNOTAVAIL', 'this machine'],
    ['EOTHER', 'EOTHER'],
  ] as const) {
    it(`reports ${code} on listening as one clear error`, () => {
      const error = cannotListen('127.0.0.1', 81, { code });
      expect(error).to.be.instanceOf(ConfigValidationError);
      expect(error.message).to.include('Port 81 of 127.0.0.1').and.include(word);
      expect(error.suggestion).to.match(/--(?:host|port)/);
    });
  }
});
