import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { loadData } from '../../src/io/load-data.ts';
import { sampleData, writeCsv } from '../../src/io/index.ts';
import { splitRows } from '../../src/training/data/row-splits.ts';
import { readTrainingData } from '../../src/training/data/training-data.ts';
import { loadModel } from '../../src/training/index.ts';
import { describeWithBrowser, findingsOfAxe } from '../helpers/browser.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { until } from '../helpers/waiting.ts';
import { useBuiltPage, giveFile, openWorkbench, saved, textOf } from '../helpers/workbench.ts';

interface Points {
  readonly points: readonly Readonly<Record<string, number>>[];
}

/**
 * Counts the decisions of a saved network on the held-out rows, one row after the other.
 * @param args the arguments of the command that trained it
 */
async function heldOutDecisions(file: string, network: string, args: readonly string[]) {
  const option = (name: string): string => args[args.indexOf(name) + 1] ?? '';
  const source = {
    ...{ table: await loadData(file), target: option('--target'), sensitive: option('--sensitive') },
    features: option('--features').split(','),
  };
  const [split] = splitRows(readTrainingData(source), { folds: undefined, trainSize: 0.8, seed: 42 });
  if (split === undefined) throw new Error('There is no split.');
  const { y, groups, table } = split.test;
  const probabilities = await (await loadModel(network)).predictProba(table);
  const countsAt = (threshold: number, group?: number): number[] => {
    const counts = { n: 0, tp: 0, fp: 0, tn: 0, fn: 0 };
    for (const [row, label] of y.entries()) {
      if (group !== undefined && groups.codes[row] !== group) continue;
      counts.n++;
      const isPositive = (probabilities[row] ?? NaN) >= threshold;
      if (label === 1) counts[isPositive ? 'tp' : 'fn']++;
      else counts[isPositive ? 'fp' : 'tn']++;
    }
    return Object.values(counts);
  };
  const ratesOf = ([n = 0, tp = 0, fp = 0, tn = 0, fn = 0]: number[]): [number, number, number] => [
    (tp + fp) / n,
    tp / (tp + fn),
    fp / (fp + tn),
  ];
  return {
    tableAt: (threshold: number): string[][] =>
      [...groups.labels.keys(), undefined].map((group) => {
        const counts = countsAt(threshold, group);
        const name = group === undefined ? 'All rows' : (groups.labels[group] ?? '');
        return [name, ...counts.map(String), ...ratesOf(counts).map((rate) => rate.toFixed(4))];
      }),
    factsAt: (threshold: number): string[] => {
      const [n = 0, tp = 0, , tn = 0] = countsAt(threshold);
      const rates = [...groups.labels.keys()].map((group) => ratesOf(countsAt(threshold, group)));
      const gaps = [0, 1, 2].map((index) => {
        const values = rates.map((own) => own[index] ?? NaN);
        return Math.max(...values) - Math.min(...values);
      });
      return [(tp + tn) / n, gaps[0] ?? NaN, Math.max(gaps[1] ?? NaN, gaps[2] ?? NaN)].map((one) => one.toFixed(4));
    },
  };
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
        expect(await findingsOfAxe(tab)).to.deep.equal([]);

        const command = await textOf(opened, '.trade-off pre');
        const args = command.split(' ').slice(1);
        const { stdout } = await runCli([...args, '--threads', '1', '--save-model', 'networks', '--json'], {
          cwd: folder(),
        });
        const expected = JSON.parse(stdout) as Points;
        const plain = await heldOutDecisions(file, path.join(folder(), 'networks/eta-8'), args);
        for (const threshold of [0.5, 0.3, 0.655, 1]) {
          await tab.evaluate(`{
            const slider = document.querySelector('#point-threshold');
            slider.value = '${String(threshold)}';
            slider.dispatchEvent(new Event('input', { bubbles: true }));
          }`);
          await until(async () =>
            (await textOf(opened, '.confusion caption')).includes(`threshold ${String(threshold)},`),
          );
          const rows = (await tab.evaluate(
            `[...document.querySelectorAll('.confusion tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))`,
          )) as string[][];
          expect(rows, String(threshold)).to.deep.equal(plain.tableAt(threshold));
          const facts = (await tab.evaluate(
            `[...document.querySelectorAll('.point-details dd')].map((one) => one.firstChild.textContent)`,
          )) as string[];
          expect(facts, String(threshold)).to.deep.equal(plain.factsAt(threshold));
        }
        const last = expected.points[5];
        expect(plain.factsAt(0.5)).to.deep.equal(
          [last?.['accuracy'], last?.['dp_diff'], last?.['eo_diff']].map((value) => value?.toFixed(4)),
        );

        // Another page in between does not lose the networks.
        for (const index of [0, 1]) await tab.evaluate(`document.querySelectorAll('nav a')[${String(index)}].click()`);
        expect(await textOf(opened, '.point-details h3')).to.equal('Eta 8');

        const own = JSON.parse(await saved(opened, folder(), 'Save the points', '.json')) as Points;
        expect(own.points.length).to.equal(6);
        for (const [index, point] of expected.points.entries()) {
          for (const [name, value] of Object.entries(point)) {
            if (typeof value === 'number') expect(own.points[index]?.[name], name).to.be.closeTo(value, 1e-6);
          }
        }

        // A file with other rows, also of the same name and size, has no networks yet.
        await tab.evaluate(`document.querySelectorAll('nav a')[0].click()`);
        const [header = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
        writeFileSync(file, [header, ...lines.reverse(), ''].join('\n'));
        await giveFile(opened, file);
        await until(async () => {
          await tab.evaluate(`for (const index of [0, 1]) document.querySelectorAll('nav a')[index].click()`);
          return (await textOf(opened, '.trade-off .results')).includes('Ready to train');
        });
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
