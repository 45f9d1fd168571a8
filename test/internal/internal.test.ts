import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { ConfigValidationError, DependencyError } from '../../src/exceptions/index.ts';
import { nearestNames, suggestNames } from '../../src/internal/arguments.ts';
import { createLogger } from '../../src/internal/logger.ts';
import { importOptional } from '../../src/internal/packages.ts';
import { createRandom, shuffle } from '../../src/internal/random.ts';
import { VERSION } from '../../src/internal/version.ts';

describe('seeded randomness', () => {
  it('is the same for the same seed, and differs between seeds and between streams of a seed', () => {
    const draw = (seed: number, stream?: number) => {
      const random = createRandom(seed, stream);
      return [random.next(), random.next(), random.next()];
    };
    expect(draw(1)).to.deep.equal(draw(1));
    expect(draw(1)).to.not.deep.equal(draw(2));
    expect(draw(1, 1)).to.not.deep.equal(draw(1, 2));
  });

  it('is uniform: mean 1/2 and variance 1/12 over 100,000 draws, to 4 standard errors', () => {
    const random = createRandom(42);
    const values = Float64Array.from({ length: 100_000 }, () => random.next());
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(mean).to.be.closeTo(0.5, 4 * Math.sqrt(1 / 12 / 100_000));
    expect(variance).to.be.closeTo(1 / 12, 4 * Math.sqrt(1 / 180 / 100_000));
    expect(Math.min(...values)).to.be.at.least(0);
    expect(Math.max(...values)).to.be.below(1);
  });

  it('has normal draws of mean 0 and variance 1, to 4 standard errors', () => {
    const random = createRandom(42);
    const values = Float64Array.from({ length: 100_000 }, () => random.normal());
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(mean).to.be.closeTo(0, 4 / Math.sqrt(100_000));
    expect(variance).to.be.closeTo(1, 4 * Math.sqrt(2 / 100_000));
  });

  it('shuffles every order equally often: 6 orders of 3 over 60,000 shuffles', () => {
    const random = createRandom(7);
    const counts = new Map<string, number>();
    for (let run = 0; run < 60_000; run++) {
      const values = Int32Array.of(1, 2, 3);
      shuffle(values, random);
      const order = values.join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).to.equal(6);
    // Binomial(60,000, 1/6): standard deviation 91.
    for (const count of counts.values()) expect(count).to.be.closeTo(10_000, 4 * 91.3);
  });
});

describe('suggestions', () => {
  it('list near names, nearest first, and no distant ones', () => {
    expect(nearestNames('incom', ['incomes', 'age', 'income'])).to.deep.equal(['income', 'incomes']);
    expect(nearestNames('zzz', ['income', 'age'])).to.deep.equal([]);
  });

  it('list the known names if none is near', () => {
    expect(suggestNames('x0', [], 'columns')).to.equal('There are no columns.');
    expect(suggestNames('zzzzzz', ['income', 'age'], 'columns')).to.equal("The columns are 'income' and 'age'.");
  });
});

describe('optional packages', () => {
  it('give the install command and the cause if they are missing', async () => {
    const cause = new Error("Cannot find package 'danfojs-node'");
    const error: unknown = await importOptional('danfojs-node', 'to read data frames', () =>
      Promise.reject(cause),
    ).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(DependencyError);
    expect(error).to.include({ suggestion: 'Install it with: npm install danfojs-node@1.2.0', cause });
  });
});

describe('the logger', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-log-'));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const logTo = (name: string, environment: Record<string, string>): string => {
    const file = path.join(folder, name);
    const logger = createLogger({ EVENHAND_LOG_FILE: file, ...environment });
    logger.debug('quiet');
    logger.info({ rows: 3 }, 'counted');
    logger.warn('careful');
    return readFileSync(file, 'utf8');
  };

  it('writes one line per message, also if the data contain line breaks', () => {
    const file = path.join(folder, 'one-line.log');
    createLogger({ EVENHAND_LOG_FILE: file }).warn("column 'two\nlines' is\r\n\n left out");
    expect(readFileSync(file, 'utf8')).to.match(/^\S+ WARN column 'two lines' is left out\n$/);
  });

  it('writes plain lines of level info and above by default', () => {
    const lines = logTo('plain.log', {}).trim().split('\n');
    expect(lines).to.have.length(2);
    expect(lines[0]).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z INFO counted rows=3$/);
    expect(lines[1]).to.match(/WARN careful$/);
  });

  it('writes the fields of a plain line as text, one line per message, whatever they contain', () => {
    const file = path.join(folder, 'fields.log');
    const logger = createLogger({ EVENHAND_LOG_FILE: file });
    logger.info({ method: 'GET', ms: 1.25, bytes: null, path: '/a b"\n=', ids: [1, 2], empty: '' }, 'answered');
    logger.error({ err: new Error('two\nlines') }, 'failed');
    const [first = '', second = '', ...rest] = readFileSync(file, 'utf8').split('\n');
    expect(first).to.match(/INFO answered method=GET ms=1.25 bytes=null path="\/a b\\"\\n=" ids=\[1,2\] empty=""$/);
    expect(second).to.match(/ERROR failed err\.type=Error err\.message="two\\nlines" err\.stack="Error: two/);
    expect(rest).to.deep.equal(['']);
  });

  it('writes one JSON object per line with EVENHAND_JSON_LOGS', () => {
    const [line = ''] = logTo('json.log', { EVENHAND_JSON_LOGS: '1' }).split('\n');
    expect(JSON.parse(line)).to.include({ level: 30, rows: 3, msg: 'counted' });
  });

  it('applies the requested level', () => {
    expect(logTo('debug.log', { EVENHAND_LOG_LEVEL: 'debug' }).trim().split('\n')).to.have.length(3);
    expect(logTo('error.log', { EVENHAND_LOG_LEVEL: 'error' })).to.equal('');
  });

  it('rejects an unknown level', () => {
    expect(() => createLogger({ EVENHAND_LOG_LEVEL: 'loud' })).to.throw(ConfigValidationError, "Got 'loud'");
  });

  it('rejects a file that cannot be opened', () => {
    expect(() => createLogger({ EVENHAND_LOG_FILE: path.join(folder, 'plain.log', 'x.log') })).to.throw(
      ConfigValidationError,
      'cannot be opened',
    );
  });
});

describe('the version', () => {
  it('equals the version in package.json', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(VERSION).to.equal(version);
  });
});
