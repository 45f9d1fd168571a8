import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { giveFile, openWorkbench, textOf } from '../helpers/workbench.ts';

const ROWS = 2_000_000;
const LIMIT_MILLIS = 10_000;

/** This file runs after the other slow tests and not beside them (`npm run test:alone`), because its limits are times. */
describeWithBrowser('a file of 2 million rows @slow', (browser) => {
  const folder = useTemporaryFolder();

  /** The settings in the address, and what the page must say. */
  const audits = {
    decisions: { settings: 'decision=approved', verdict: 'Passed: all 2 limits hold' },
    scores: { settings: 'score=score&score_threshold=0.5&truth=repaid', verdict: 'Passed: all 2 limits hold' },
  };
  for (const [kind, { settings, verdict }] of Object.entries(audits)) {
    it(`has a verdict on ${kind} within 10 s, and no task of the page takes 100 ms`, async function () {
      this.timeout(120_000);
      const file = path.join(folder(), 'rows.csv');
      writeRows(file);
      const opened = await openWorkbench(browser(), {
        kind: 'hosted',
        hash: `#audit?${settings}&group=sex&group=race&limit=demographic_parity_difference:0.1`,
      });
      try {
        await opened.page.evaluate(`
          globalThis.longest = 0;
          new PerformanceObserver((list) => {
            for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
          }).observe({ type: 'longtask' });`);
        const begun = performance.now();
        await giveFile(opened, file, 60_000);
        const millis = performance.now() - begun;
        const longest = await opened.page.evaluate('longest');
        console.log(`      ${kind}: verdict after ${(millis / 1000).toFixed(1)} s; longest task ${String(longest)} ms`);
        expect(await textOf(opened, '.verdict h2')).to.include(verdict);
        expect(await textOf(opened, '.made')).to.include('2,000,000 rows');
        expect(millis).to.be.below(LIMIT_MILLIS);
        expect(longest).to.be.below(100);
        expect(opened.problems).to.deep.equal([]);
      } finally {
        await opened.close();
      }
    });
  }
});

function writeRows(file: string): void {
  const random = createRandom(7);
  const races = ['white', 'black', 'asian', 'hispanic', 'other'];
  const descriptor = openSync(file, 'w');
  let text = 'id,sex,race,score,approved,repaid\n';
  for (let row = 0; row < ROWS; row++) {
    const score = random.next();
    const cells = [row, random.next() < 0.5 ? 'female' : 'male', races[random.integer(5)], score.toFixed(6)];
    text += `${[...cells, Number(score > 0.5), Number(random.next() < score)].join(',')}\n`;
    if (text.length < 4_000_000) continue;
    writeSync(descriptor, text);
    text = '';
  }
  writeSync(descriptor, text);
  closeSync(descriptor);
}
