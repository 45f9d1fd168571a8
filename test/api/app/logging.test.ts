import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { checkFolders } from '../../../src/api/app/create-owner.ts';
import { embeddedLogger } from '../../../src/api/app/process-app.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { keptLogger } from '../middleware/bare-app.ts';

describe('the logger of an embedded app', () => {
  const cases: readonly (readonly [Record<string, string>, level: string, told: readonly string[]])[] = [
    [{}, 'info', ['warn']],
    [{ EVENHAND_JSON_LOGS: '0' }, 'info', ['warn']],
    [{ EVENHAND_LOG_FILE: '' }, 'info', ['warn']],
    [{ EVENHAND_JSON_LOGS: '1' }, 'info', ['info', 'warn']],
    [{ EVENHAND_LOG_FILE: 'x.log' }, 'info', ['info', 'warn']],
    [{ EVENHAND_LOG_LEVEL: 'debug' }, 'debug', ['debug', 'info', 'warn']],
    [{}, 'error', []],
    [{}, 'silent', []],
  ];
  for (const [environment, level, reported] of cases) {
    it(`logs ${reported.join(', ') || 'no warning'} at ${level} with ${JSON.stringify(environment)}`, () => {
      const { logger, lines } = keptLogger(level);
      const embedded = embeddedLogger(logger, environment);
      for (const name of ['debug', 'info', 'warn'] as const) embedded[name](name);
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal(reported);
    });
  }
});

describe('checkFolders', () => {
  const folder = useTemporaryFolder();

  it('warns about a missing monitor folder, and is silent if it exists', () => {
    const { logger, lines } = keptLogger();
    const monitorFolder = path.join(folder(), 'later');
    checkFolders({ monitorFolder }, logger);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include(monitorFolder).and.include('"level":40');
    mkdirSync(monitorFolder);
    checkFolders({ monitorFolder, llmFolder: monitorFolder }, logger);
    expect(lines).to.have.length(1);
  });
});
