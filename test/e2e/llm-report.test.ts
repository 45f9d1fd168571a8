import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import axe from 'axe-core';
import { expect } from 'chai';

import { llmEvalToHtml, llmEvalToJunit } from '../../src/llm-evals/report/index.ts';
import type { LlmEvalResult } from '../../src/llm-evals/run/llm-eval-result.ts';
import { llmMetric } from '../../src/llm-evals/scoring/llm-metric-result.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { answerOf, byName, madeMetrics, madeResult } from '../llm-evals/report/made-results.ts';

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Hostile texts from a model, a configuration and a provider. */
const NASTY =
  '</blockquote></div><script>document.title="taken"</script><img src=x onerror=alert(1)> [a](javascript:alert(1)) https://evil.example \u202Eturned\u0000\u200B ' +
  `${'long'.repeat(200)} ]]> "quoted" 'single' \u{1F469}\u200D\u{1F680} \u0645\u0631\u062D\u0628\u0627`;

function hostileResult(): LlmEvalResult {
  const transcripts = Array.from({ length: 12 }, (_, item) => [
    answerOf(`${NASTY} ${String(item)}`, NASTY, NASTY.repeat(5)),
    answerOf(`${NASTY} ${String(item)}`, 'man', `${'\n'.repeat(20)}${NASTY}`),
    answerOf('none', NASTY, null, { key: 'x', error: { kind: 'malformed', message: NASTY } }),
  ]).flat();
  const metric = llmMetric({
    metric: 'sentiment_gap',
    evaluator: 'counterfactual',
    dimension: NASTY,
    value: NaN,
    undefinedReason: NASTY,
    exclusions: { [NASTY]: 3 },
    perGroup: { [NASTY]: { rate: 0.5 } },
    pairs: [{ first: NASTY, second: 'man', value: 0.5, ci: [0.1, 0.9], pValue: 0.1, n: 3, undefinedReason: NASTY }],
  });
  return madeResult({ transcripts, metrics: byName([metric, ...madeMetrics()]), warnings: [NASTY] });
}

describeWithBrowser('the report of an evaluation in a browser', (browser) => {
  const folder = useTemporaryFolder();
  const results = {
    usual: madeResult(),
    hostile: hostileResult(),
    empty: madeResult({ metrics: {}, transcripts: [] }),
  };

  for (const [name, result] of Object.entries(results)) {
    for (const [width, scheme, tag] of [
      [1280, 'light', ''],
      [1280, 'dark', ' @slow'],
      [400, 'light', ' @slow'],
      [400, 'dark', ''],
    ] as const) {
      it(`${name}, ${String(width)} px, ${scheme}: fits, loads nothing, has no accessibility errors${name === 'usual' ? tag : ' @slow'}`, async function () {
        this.timeout(120_000);
        const file = path.join(folder(), `${name}.html`);
        writeFileSync(file, await llmEvalToHtml(result));
        const page = await browser().newPage();
        const asked: string[] = [];
        const said: string[] = [];
        page.on('request', (request) => asked.push(request.url()));
        page.on('console', (line) => said.push(line.text()));
        await page.setViewport({ width, height: 900 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await page.goto(pathToFileURL(file).href);
        expect(await page.title()).to.match(/^Language model evaluation/);
        expect(await page.evaluate(OVERFLOW), 'pixels beyond the page').to.be.at.most(0);
        expect(await page.evaluate(`document.querySelectorAll('main a, main img, script').length`)).to.equal(0);
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate('axe.run(document)')) as {
          violations: { id: string; impact: string | null; nodes: { html: string }[] }[];
        };
        expect(
          violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(({ id, nodes }) => [id, nodes[0]?.html.slice(0, 200)]),
        ).to.deep.equal([]);
        expect(asked.filter((url) => !url.startsWith('file:'))).to.deep.equal([]);
        expect(said).to.deep.equal([]);
        await page.close();
      });
    }
  }

  it('shows its table of all metrics without scrolling on a screen of 1400 pixels', async () => {
    const file = path.join(folder(), 'wide.html');
    writeFileSync(file, await llmEvalToHtml(results.usual));
    const page = await browser().newPage();
    await page.setViewport({ width: 1400, height: 900 });
    await page.goto(pathToFileURL(file).href);
    const beyond = await page.evaluate(`Array.from(document.querySelectorAll('.scroll:has(> .close)'), (one) => one.scrollWidth - one.clientWidth)`); // prettier-ignore
    expect(beyond).to.not.deep.equal([]);
    expect((beyond as number[])[0]).to.equal(0);
    await page.close();
  });

  it('JUnit XML can be parsed for any names', async () => {
    const page = await browser().newPage();
    const xml = llmEvalToJunit(hostileResult());
    const found = await page.evaluate(
      `(() => {
        const parsed = new DOMParser().parseFromString(${JSON.stringify(xml)}, 'application/xml');
        return [parsed.querySelector('parsererror')?.textContent ?? null, parsed.querySelectorAll('testcase').length,
          parsed.documentElement.getAttribute('tests'), parsed.querySelectorAll('skipped').length];
      })()`,
    );
    expect(found).to.deep.equal([null, 7, '7', 6]);
    await page.close();
  });
});
