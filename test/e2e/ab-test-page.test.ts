import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect } from 'chai';

import { FairnessABTestAnalyzer } from '../../src/monitoring/ab-test/index.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { armOf } from '../monitoring/ab-test/made-arms.ts';

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Measures for each chart how far its box scrolls, and how much of it cannot be reached by scrolling. */
const PICTURES = `Array.from(document.querySelectorAll('.picture'), (box) => {
  box.scrollLeft = box.scrollWidth;
  return box.querySelector('svg').getBoundingClientRect().right - box.getBoundingClientRect().right;
})`;

describeWithBrowser('the page of an A/B test in a browser', (browser) => {
  const folder = useTemporaryFolder();

  for (const width of [1280, 400]) {
    it(`at ${String(width)} px fits, and every chart can be seen completely by scrolling in its box`, async function () {
      this.timeout(60_000);
      const file = path.join(folder(), `ab-${String(width)}.html`);
      const analyzer = new FairnessABTestAnalyzer({ protected: ['sex'], outcome: 'approved' });
      const [control, treatment] = [armOf({ f: [200, 400], m: [200, 400] }), armOf({ f: [140, 400], m: [240, 400] })];
      writeFileSync(file, await analyzer.analyze(control, treatment).toHtml());
      const page = await browser().newPage();
      await page.setViewport({ width, height: 900 });
      await page.goto(pathToFileURL(file).href);
      expect(await page.evaluate(OVERFLOW), 'pixels beyond the page').to.be.at.most(0);
      const beyond = (await page.evaluate(PICTURES)) as number[];
      expect(beyond).to.have.length(2);
      for (const pixels of beyond) expect(pixels).to.be.at.most(1);
      await page.close();
    });
  }
});
