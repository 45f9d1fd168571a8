import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect } from 'chai';

import { validateRows } from '../../src/integration/validate-rows.ts';
import { validationToHtml } from '../../src/integration/validation-html.ts';
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

/** The headers of each table that are visible without scrolling. */
const VISIBLE = `Array.from(document.querySelectorAll('.scroll'), (box) =>
  Array.from(box.querySelectorAll('thead th')).filter((header) =>
    header.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1).map((header) => header.textContent))`;

describeWithBrowser('the page of an A/B test in a browser', (browser) => {
  const folder = useTemporaryFolder();

  for (const width of [1280, 400, 360]) {
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

  it('at 360 px shows the numbers of each table at once, and that the table continues', async function () {
    this.timeout(60_000);
    const file = path.join(folder(), 'phone.html');
    const validation = await validateRows({
      yPred: [1, 0, 1, 0, 1, 1, 0, 0],
      sensitive: { sex: 'f f f f m m m m'.split(' '), race: 'a b a b a b a b'.split(' ') },
      minGroupSize: 2,
      withCi: false,
    });
    writeFileSync(file, await validationToHtml(validation, 'eight rows'));
    const page = await browser().newPage();
    await page.setViewport({ width: 360, height: 900 });
    await page.goto(pathToFileURL(file).href);
    const [overview, groups] = (await page.evaluate(VISIBLE)) as string[][];
    expect(overview).to.deep.equal(['Attribute', 'Metric', 'Value']);
    expect(groups).to.include('Selection rate');
    expect(await page.evaluate("getComputedStyle(document.querySelector('.scroll')).backgroundAttachment")).to.include('local'); // prettier-ignore
    await page.close();
  });
});
