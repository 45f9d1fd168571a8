import { writeFileSync } from 'node:fs';
import path from 'node:path';

import axe from 'axe-core';
import { expect } from 'chai';

import { sampleData, writeCsv } from '../../src/io/index.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { giveFile, openWorkbench, type WorkbenchPage } from '../helpers/workbench.ts';

/** The width of the text on A4 paper with the margins of the page (14 mm), in CSS pixels. */
const PAPER_WIDTH = Math.floor(((210 - 2 * 14) / 25.4) * 96);

/** What a printed page shows. */
interface Printed {
  /** The controls that have a place on paper. */
  readonly controls: readonly string[];
  /** The elements that end outside the paper, or whose content is wider or higher than they show. */
  readonly cut: readonly string[];
  readonly background: string;
  /** The text that has a place on paper. */
  readonly text: string;
  readonly tables: number;
  readonly pictures: number;
}

/** Finds controls, cut content, and texts in the page, as the print media show it. */
const READ_PAGE = `(() => {
  const isShown = (element) => {
    if (element.closest('[hidden]') !== null) return false;
    const { visibility, opacity, clipPath } = getComputedStyle(element);
    const { width, height } = element.getBoundingClientRect();
    // An element for screen readers has a box of one pixel.
    return element.getClientRects().length > 0 && visibility === 'visible' && opacity !== '0' && width > 1 && height > 1 && clipPath === 'none';
  };
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + (element.getAttribute('class') ?? '') + ' ' + (element.textContent ?? '').trim().slice(0, 40);
  const shown = [...document.body.querySelectorAll('*')].filter(isShown);
  const isCut = (element) => {
    const style = getComputedStyle(element);
    const { right, left } = element.getBoundingClientRect();
    if (right > innerWidth + 1 || left < -1) return true;
    if (element instanceof SVGElement) return false;
    const hides = (overflow) => overflow !== 'visible';
    return (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1) || (hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1);
  };
  return {
    controls: shown.filter((one) => one.matches('button, input, select, textarea, nav, progress, [role=slider], [role=button]')).map(nameOf),
    cut: shown.filter(isCut).map(nameOf),
    background: getComputedStyle(document.body).backgroundColor,
    text: document.body.innerText,
    tables: shown.filter((one) => one.matches('table')).length,
    pictures: shown.filter((one) => one.matches('img, svg')).filter((one) => one.getBoundingClientRect().width > 100).length,
  };
})()`;

describeWithBrowser('the printed workbench', (browser) => {
  const folder = useTemporaryFolder();

  /** Shows the page as it is printed, checks what holds for every page, and returns what it shows. */
  async function print({ page }: WorkbenchPage): Promise<Printed> {
    await page.emulateMediaType('print');
    await page.setViewport({ width: PAPER_WIDTH, height: 1000 });
    // A browser prints only when the pictures are there. On a busy machine, that takes a moment.
    await page.waitForFunction(
      `[...document.querySelectorAll('figure img')].every(({ complete, naturalWidth }) => complete && naturalWidth > 0)`,
    );
    const printed = (await page.evaluate(READ_PAGE)) as Printed;
    expect(printed.controls, 'no control is printed').to.deep.equal([]);
    expect(printed.cut, 'nothing is cut off').to.deep.equal([]);
    expect(printed.background, 'the paper is white').to.be.oneOf(['rgb(255, 255, 255)', 'rgba(0, 0, 0, 0)']);
    await page.evaluate(axe.source);
    const pale = await page.evaluate(
      `axe.run(document, { runOnly: ['color-contrast'], resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ nodes }) => nodes.map(({ html, failureSummary }) => html.slice(0, 80) + failureSummary)))`,
    );
    expect(pale, 'texts are legible').to.deep.equal([]);
    const pdf = Buffer.from(await page.pdf({ preferCSSPageSize: true, format: 'A4' }));
    expect(pdf.subarray(0, 5).toString()).to.equal('%PDF-');
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).to.have.length.within(1, 30);
    await page.emulateMediaType();
    return printed;
  }

  for (const scheme of ['light', 'dark']) {
    it(`shows an audit on white paper, without controls, complete, in the ${scheme} scheme @slow`, async function () {
      this.timeout(60_000);
      const file = path.join(folder(), 'wages.csv');
      await writeCsv(file, sampleData('cps-wages'));
      // The wages are outcomes, on which there is no verdict unless a limit is chosen.
      const hash = '#audit?decision=wage_above_median&group=gender&limit=demographic_parity_difference:0.1';
      const opened = await openWorkbench(browser(), { kind: 'hosted', hash });
      const tab = opened.page;
      try {
        await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await giveFile(opened, file);
        await tab.waitForSelector('.verdict');
        await tab.waitForSelector('figure img');
        const onScreen = (await tab.evaluate(
          `({ verdict: document.querySelector('.verdict h2')?.textContent ?? document.querySelector('.verdict').textContent.trim().split('\\n')[0], tables: document.querySelectorAll('.made table').length })`,
        )) as { readonly verdict: string; readonly tables: number };
        const { text, tables, pictures } = await print(opened);
        expect(onScreen.verdict).not.to.equal('');
        // The mark of the verdict has a line of its own.
        expect(text.replaceAll(/\s/g, '')).to.include(onScreen.verdict.replaceAll(/\s/g, ''));
        expect(tables).to.be.at.least(1);
        expect(pictures).to.be.at.least(1);
        // On a narrow screen there are controls, and tables that scroll: the checks find them.
        await tab.setViewport({ width: 360, height: 800 });
        const screen = (await tab.evaluate(READ_PAGE)) as Printed;
        expect(screen.controls).not.to.deep.equal([]);
        expect(screen.cut).not.to.deep.equal([]);
        expect(opened.problems).to.deep.equal([]);
      } finally {
        await opened.close();
      }
    });
  }

  it('breaks long names of groups instead of cutting them off @slow', async function () {
    this.timeout(60_000);
    const file = path.join(folder(), 'long-names.csv');
    const hash = '#audit?decision=hired_after_the_second_interview&group=group&limit=demographic_parity_difference:0.1';
    const groups = ['people who live in the northern districts of the town', 'x'.repeat(70), 'others'];
    const rows = Array.from({ length: 600 }, (_, row) => `${String(row % 2)},${groups[row % 3] ?? ''}`);
    writeFileSync(file, ['hired_after_the_second_interview,group', ...rows, ''].join('\n'));
    const opened = await openWorkbench(browser(), { kind: 'hosted', hash });
    try {
      await giveFile(opened, file);
      await opened.page.waitForSelector('.verdict');
      await opened.page.waitForSelector('figure img');
      const { text } = await print(opened);
      // A word of 70 letters is shortened, as on the screen.
      for (const group of ['people who live in the northern districts of the town', 'others'])
        expect(text.replaceAll(/\s/g, '')).to.include(group.replaceAll(' ', ''));
      expect(opened.problems).to.deep.equal([]);
    } finally {
      await opened.close();
    }
  });

  it('shows a trade-off with its picture and the table of the chosen network @slow', async function () {
    this.timeout(120_000);
    const file = path.join(folder(), 'wages.csv');
    await writeCsv(file, sampleData('cps-wages'));
    const opened = await openWorkbench(browser(), { kind: 'hosted' });
    const tab = opened.page;
    try {
      await giveFile(opened, file);
      await tab.evaluate(`[...document.querySelectorAll('nav a')][1].click()`);
      await tab.waitForSelector('button[type=submit]:not(:disabled)');
      await tab.evaluate(`document.querySelector('button[type=submit]').click()`);
      await tab.waitForSelector('.point-details', { timeout: 60_000 });
      await tab.waitForSelector('.pareto .point');
      const { text, tables } = await print(opened);
      expect(text).to.include('Eta').and.include('All rows');
      expect(tables).to.be.at.least(1);
      expect(opened.problems).to.deep.equal([]);
    } finally {
      await opened.close();
    }
  });
});
