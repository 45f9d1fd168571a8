import path from 'node:path';

import axe from 'axe-core';
import { expect } from 'chai';

import { sampleData, writeCsv } from '../../src/io/index.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { useBuiltPage, giveFile, openWorkbench, saved, textOf } from '../helpers/workbench.ts';

interface Points {
  readonly points: readonly Readonly<Record<string, number>>[];
}

describeWithBrowser('the Trade-off page', (browser) => {
  const folder = useTemporaryFolder();
  const page = useBuiltPage();

  for (const kind of ['hosted', 'self-contained'] as const) {
    it(`trains the networks of the command line in the ${kind} page`, async function () {
      this.timeout(120_000);
      const file = path.join(folder(), 'wages.csv');
      await writeCsv(file, sampleData('cps-wages'));
      const opened = await openWorkbench(browser(), { kind, file: page() });
      const tab = opened.page;
      try {
        await giveFile(opened, file);
        await tab.evaluate(`[...document.querySelectorAll('nav a')][1].click()`);
        await tab.waitForSelector('form input[type=checkbox]');
        await tab.waitForSelector('button[type=submit]:not(:disabled)');
        await tab.evaluate(`document.querySelector('button[type=submit]').click()`);
        await tab.waitForSelector('.point-details', { timeout: 60_000 });
        await tab.waitForSelector('.pareto .point');
        expect((await tab.$$('.pareto .point')).length).to.equal(6);
        await tab.evaluate(`document.querySelectorAll('.pareto .point')[5].click()`);
        expect(await textOf(opened, '.point-details h3')).to.equal('Eta 8');
        await tab.evaluate(axe.source);
        expect(
          await tab.evaluate(
            `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))`,
          ),
        ).to.deep.equal([]);

        const own = JSON.parse(await saved(opened, folder(), 'Save the points', '.json')) as Points;
        const command = await textOf(opened, '.trade-off pre');
        const args = command.split(' ').slice(1);
        const { stdout } = await runCli([...args, '--threads', '1', '--json'], { cwd: folder() });
        const expected = JSON.parse(stdout) as Points;
        expect(own.points.length).to.equal(6);
        for (const [index, point] of expected.points.entries()) {
          for (const [name, value] of Object.entries(point)) {
            if (typeof value === 'number') expect(own.points[index]?.[name], name).to.be.closeTo(value, 1e-6);
          }
        }
        expect(opened.problems).to.deep.equal([]);
      } finally {
        await opened.close();
      }
    });
  }

  it('stops when it is asked to, and asks for a file if there is none', async function () {
    this.timeout(60_000);
    const opened = await openWorkbench(browser(), { kind: 'hosted', hash: '#trade-off' });
    const tab = opened.page;
    try {
      expect(await textOf(opened, '.trade-off .waiting h2')).to.equal('Open a file first');
      await tab.evaluate(`document.querySelector('.trade-off .waiting button').click()`);
      await tab.evaluate(`document.querySelector('.sample').click()`);
      await tab.waitForSelector('.made');
      await tab.evaluate(`[...document.querySelectorAll('nav a')][1].click()`);
      await tab.waitForSelector('button[type=submit]:not(:disabled)');
      await tab.evaluate(`{
        const epochs = document.querySelector('#epochs');
        epochs.value = '500';
        epochs.dispatchEvent(new Event('change', { bubbles: true }));
      }`);
      await tab.evaluate(`document.querySelector('button[type=submit]').click()`);
      await tab.waitForSelector('.trade-off progress');
      await tab.evaluate(
        `[...document.querySelectorAll('.trade-off button')].find((one) => one.textContent.includes('Stop')).click()`,
      );
      await tab.waitForSelector('button[type=submit]:not(:disabled)');
      expect(await textOf(opened, '.trade-off .results')).to.include('Ready to train');
      expect(opened.problems).to.deep.equal([]);
    } finally {
      await opened.close();
    }
  });
});
