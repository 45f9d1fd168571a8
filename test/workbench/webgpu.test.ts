import path from 'node:path';

import { expect } from 'chai';

import { sampleData, writeCsv } from '../../src/io/index.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { until } from '../helpers/waiting.ts';
import { giveFile, openWorkbench, saved, textOf, useBuiltPage, type WorkbenchPage } from '../helpers/workbench.ts';

/** Chromium imitates a graphics processor with these flags. */
const SOFTWARE_GPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan'];

/** Hides from the page, but not from its workers, that the graphics processor is imitated. */
const AS_HARDWARE = `{
  const { prototype } = GPU;
  const { requestAdapter } = prototype;
  prototype.requestAdapter = async function (...args) {
    const adapter = await requestAdapter.apply(this, args);
    return adapter === null ? null : { info: { isFallbackAdapter: false } };
  };
}`;

/** Makes each worker lose its device after a time. */
const losesDevice = (millis: number): string => `{
  const hook = ${JSON.stringify(
    `{
    const { prototype } = globalThis.GPUAdapter ?? { prototype: {} };
    const { requestDevice } = prototype;
    prototype.requestDevice = async function (...args) {
      const device = await requestDevice.apply(this, args);
      setTimeout(() => { device.destroy(); }, MILLIS);
      return device;
    };
  };`.replace('MILLIS', String(millis)),
  )};
  const Plain = Blob;
  globalThis.Blob = class extends Plain {
    constructor(parts, options) {
      super(options?.type?.includes('javascript') ? [hook, ...parts] : parts, options);
    }
  };
}`;

interface Points {
  readonly points: readonly Readonly<Record<string, number>>[];
}

/** Opens the Trade-off page with the sample of wages. */
async function openTradeOff(opened: WorkbenchPage, file: string): Promise<void> {
  await giveFile(opened, file);
  await opened.page.evaluate(`[...document.querySelectorAll('nav a')][1].click()`);
  await opened.page.waitForSelector('button[type=submit]:not(:disabled)');
}

describeWithBrowser(
  'training on a graphics processor in the browser @slow',
  (browser) => {
    const folder = useTemporaryFolder();
    const page = useBuiltPage();
    let file: string;
    before(async function () {
      const tab = await browser().newPage();
      await tab.goto(`file://${page()}`);
      const hasAdapter = await tab.evaluate(
        `navigator.gpu?.requestAdapter().then((adapter) => adapter !== null) ?? false`,
      );
      await tab.close();
      if (hasAdapter !== true) {
        console.log('    skipped: this browser imitates no graphics processor (--use-webgpu-adapter=swiftshader)');
        this.skip();
      }
      file = path.join(folder(), 'wages.csv');
      await writeCsv(file, sampleData('cps-wages'));
    });

    for (const kind of ['hosted', 'self-contained'] as const) {
      it(`gives the points of the command line in the ${kind} page`, async function () {
        this.timeout(180_000);
        const opened = await openWorkbench(browser(), { kind, file: page(), script: AS_HARDWARE });
        const tab = opened.page;
        try {
          await openTradeOff(opened, file);
          await tab.waitForSelector('#backend');
          await tab.select('#backend', 'webgpu');
          await until(async () => (await tab.evaluate(`document.querySelector('#backend').value`)) === 'webgpu');
          await tab.evaluate(`new Promise((resolve) => { setTimeout(resolve, 500); })`);
          await tab.evaluate(`document.querySelector('button[type=submit]').click()`);
          await tab.waitForSelector('.point-details, .problem', { timeout: 120_000 });
          expect(await textOf(opened, '.problem')).to.equal('');
          const command = await textOf(opened, '.trade-off pre');
          expect(command).to.contain('--backend webgpu');
          const own = JSON.parse(await saved(opened, folder(), 'Save the points', '.json')) as Points;
          // The command line has no graphics processor here. Its processor gives the same networks, but for rounding.
          const args = command.replace('--backend webgpu', '--backend wasm').split(' ').slice(1);
          const { stdout } = await runCli([...args, '--threads', '1', '--json'], { cwd: folder() });
          const { points } = JSON.parse(stdout) as Points;
          expect(own.points).to.have.length(points.length);
          for (const [index, point] of points.entries()) {
            for (const name of ['eta', 'accuracy', 'dp_diff', 'eo_diff', 'loss'])
              expect(own.points[index]?.[name], `${name} of point ${String(index)}`).to.be.closeTo(
                point[name] ?? NaN,
                1e-6,
              );
          }
          expect(opened.problems).to.deep.equal([]);
        } finally {
          await opened.close();
        }
      });
    }

    it('is not used if the graphics processor is imitated, which the page says', async function () {
      this.timeout(60_000);
      const opened = await openWorkbench(browser(), { kind: 'self-contained', file: page() });
      const tab = opened.page;
      try {
        await openTradeOff(opened, file);
        await tab.select('#backend', 'webgpu');
        await tab.waitForSelector('fieldset [role=status]');
        expect(await textOf(opened, 'fieldset [role=status]')).to.contain('the processor is used');
        expect(await tab.evaluate(`document.querySelector('#backend').value`)).to.equal('wasm');
        expect(opened.problems).to.deep.equal([]);
      } finally {
        await opened.close();
      }
    });

    for (const { when, millis } of [
      { when: 'while it starts', millis: 0 },
      { when: 'during the training', millis: 1500 },
    ]) {
      it(`says that the graphics processor failed, and shows no points, if it is lost ${when}`, async function () {
        this.timeout(120_000);
        const script = AS_HARDWARE + losesDevice(millis);
        const opened = await openWorkbench(browser(), { kind: 'self-contained', file: page(), script });
        const tab = opened.page;
        try {
          await openTradeOff(opened, file);
          await tab.select('#backend', 'webgpu');
          await until(async () => (await tab.evaluate(`document.querySelector('#backend').value`)) === 'webgpu');
          await tab.evaluate(`document.querySelector('button[type=submit]').click()`);
          await tab.waitForSelector('.point-details, .problem', { timeout: 90_000 });
          expect(await textOf(opened, '.problem')).to.contain('The graphics processor failed');
          expect(await tab.$('.point-details')).to.equal(null);
        } finally {
          await opened.close();
        }
      });
    }
  },
  SOFTWARE_GPU,
);
