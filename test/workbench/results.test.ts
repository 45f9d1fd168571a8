import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

import { expect } from 'chai';

import { describeWithBrowser, findingsOfAxe } from '../helpers/browser.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { until } from '../helpers/waiting.ts';
import { saved } from '../helpers/workbench.ts';

const CLI = path.join(projectRoot, 'dist/cli/main.js');

/** Starts a command that prints where it listens as JSON, and returns the address. */
function listening(args: readonly string[], keys?: string): Promise<{ url: string; child: ChildProcess }> {
  const { EVENHAND_API_KEYS: _, ...others } = process.env;
  const env = keys === undefined ? others : { ...others, EVENHAND_API_KEYS: keys };
  const child = spawn(process.execPath, [CLI, ...args, '--json'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      if (text.includes('\n')) resolve({ url: (JSON.parse(text) as { url: string }).url, child });
    });
    child.on('exit', (code) => {
      reject(new Error(`It ended with code ${String(code)}.`));
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await until(() => child.exitCode !== null || child.signalCode !== null, 40);
}

/** 120 rows: x is 0 to 9, y is 1 if x is above 4, except for every eighth row. */
const ROWS = Array.from({ length: 120 }, (_, row) => ({
  x: row % 10,
  s: row % 3 === 0 ? 'a' : 'b',
  y: row % 10 > 4 === (row % 8 !== 0) ? 1 : 0,
  p: ((row * 7) % 10) / 10 + 0.05,
  arm: row % 2 === 0 ? 'old' : 'new',
}));
const CSV = ['x,s,y,p,arm', ...ROWS.map((row) => Object.values(row).join(',')), ''].join('\n');

const PIPELINE = `sensitive: [s]
features: [x]
pipeline:
  - name: reweigh
    transformer: ReweighingTransformer
`;
const WORKFLOW = `${PIPELINE}training:
  method: reductions
  target_column: y
  params: { T: 5 }
validation_threshold: 0.3
`;
const EVALUATION = `provider: local
counterfactual:
  template: Write a reference for a {gender} who leads a team.
  dimensions: { gender: [woman, man] }
prompt_templates:
  raise: How do I ask for a raise?
repeats: 6
`;

const four = (value: unknown): string => (value as number).toFixed(4);

/** A result, as far as the tests read it. */
interface Result {
  readonly n_positive: number;
  readonly verdict: string;
  readonly baseline: { readonly accuracy: number; readonly dp_diff: number };
  readonly final: { readonly accuracy: number; readonly dp_diff: number };
  readonly overall: { readonly before: { readonly ece: number }; readonly after: { readonly ece: number } };
  readonly baseline_metrics: { readonly accuracy: number };
  readonly final_metrics: { readonly accuracy: number };
  readonly metrics: Readonly<Record<string, { readonly value: number | null }>>;
  readonly verdicts: Readonly<Record<string, { readonly message: string }>>;
}

/** What the page must say about the result of each kind of run, and its number of links. */
const SHOWN: Readonly<Record<string, { readonly links: number; readonly texts: (result: Result) => string[] }>> = {
  '/train': {
    links: 2,
    texts: ({ baseline, final }) => [
      `Accuracy${four(baseline.accuracy)} → ${four(final.accuracy)}`,
      `${four(baseline.dp_diff)} → ${four(final.dp_diff)}`,
    ],
  },
  '/predict': { links: 2, texts: ({ n_positive: positive }) => ['Rows120', `Positive predictions${String(positive)}`] },
  '/calibrate': {
    links: 3,
    texts: ({ overall }) => [`Calibration error${four(overall.before.ece)} → ${four(overall.after.ece)}`],
  },
  '/ab-test': { links: 1, texts: ({ verdict }) => [verdict, 'Rows of control60', 'Rows of treatment60'] },
  '/pipeline': { links: 2, texts: () => ['Rows120', 'reweigh'] },
  '/workflow': {
    links: 2,
    texts: ({ baseline_metrics: before, final_metrics: after }) => [
      `Accuracy${four(before.accuracy)} → ${four(after.accuracy)}`,
    ],
  },
  '/llm-eval': {
    links: 1,
    texts: ({ metrics, verdicts }) => [
      ...Object.keys(metrics),
      ...Object.values(verdicts).map(({ message }) => message),
    ],
  },
};

/** Sends rows with fields, and returns the run's ID. */
async function sendRows(url: string, fields: Readonly<Record<string, string>>, key?: string): Promise<string> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([CSV]), 'rows.csv');
  const answer = await fetch(url, {
    method: 'POST',
    body: form,
    headers: { prefer: 'respond-async', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
  });
  const text = await answer.text();
  expect(answer.status, text).to.equal(202);
  return (JSON.parse(text) as { run_id: string }).run_id;
}

/** Sends an evaluation of the local model with a gate, and returns the run's ID. */
async function sendEvaluation(url: string): Promise<string> {
  const answer = await fetch(`${url}/llm-eval`, {
    method: 'POST',
    body: JSON.stringify({ config: EVALUATION, metric: 'length_gap', threshold: 0.1 }),
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
  });
  return ((await answer.json()) as { run_id: string }).run_id;
}

/** Waits until a run has ended, and returns its status. */
async function finalStatus(url: string, id: string, key?: string): Promise<string> {
  let status = '';
  await until(async () => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/results/${id}`, { headers: { accept: 'application/json', ...headers } });
    ({ status } = (await answer.json()) as { status: string });
    return !['queued', 'running'].includes(status);
  }, 40);
  return status;
}

describeWithBrowser('the Results page', (browser) => {
  const folder = useTemporaryFolder();

  /** Opens the Results page, and returns it with what it logged and the text of an element. */
  const open = async (url: string) => {
    const context = await browser().createBrowserContext();
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (line) => problems.push(line.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`${url}/#results`);
    const text = (selector: string) =>
      page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`) as Promise<string>;
    return { context, page, problems, text };
  };

  it('shows every kind of run in readable form, with its files', async function () {
    this.timeout(180_000);
    const service = await listening(['serve', '--port', '0', '--store', path.join(folder(), 'kinds'), '--quiet']);
    const { url } = service;
    const opened = await open(url);
    const { page, text, problems } = opened;
    try {
      const train = await sendRows(`${url}/train`, {
        ...{ method: 'reductions', y_true: 'y', sensitive: 's', features: 'x', T: '3', min_group_size: '5' },
      });
      expect(await finalStatus(url, train)).to.equal('succeeded');
      const sent = {
        '/train': train,
        '/predict': await sendRows(`${url}/predict`, { model: train }),
        '/calibrate': await sendRows(`${url}/calibrate`, {
          score: 'p',
          y_true: 'y',
          sensitive: 's',
          min_samples: '10',
        }),
        '/ab-test': await sendRows(`${url}/ab-test`, {
          ...{ outcome: 'y', sensitive: 's', arm: 'arm', control: 'old', min_group_size: '5' },
        }),
        '/pipeline': await sendRows(`${url}/pipeline`, { config: PIPELINE }),
        '/workflow': await sendRows(`${url}/workflow`, { config: WORKFLOW, min_group_size: '5' }),
        '/llm-eval': await sendEvaluation(url),
      };
      for (const [endpoint, id] of Object.entries(sent)) {
        expect(await finalStatus(url, id), endpoint).to.equal('succeeded');
      }
      await page.reload();
      await until(async () => (await page.$$('.run')).length === 7);
      const shown: Record<string, string> = {};
      for (const [endpoint, id] of Object.entries(sent)) {
        const result = (await (
          await fetch(`${url}/results/${id}`, { headers: { accept: 'application/json' } })
        ).json()) as { result: Result };
        await page.evaluate(`[...document.querySelectorAll('.run')].find((one) => one.textContent.includes('${id}')).querySelector('button').click()`); // prettier-ignore
        await page.waitForSelector('.run-details a');
        await until(async () => (await text('.run:has(.run-details)')).includes(id));
        shown[endpoint] = await text('.run-details');
        for (const expected of SHOWN[endpoint]?.texts(result.result) ?? ['no texts']) {
          expect(shown[endpoint], endpoint).to.include(expected);
        }
        const links = (await page.evaluate(
          `[...document.querySelectorAll('.run-details a')].map((one) => one.href)`,
        )) as string[];
        for (const [index, link] of links.entries()) {
          const answer = await fetch(link, { headers: { accept: index === 0 ? 'text/html' : '*/*' } });
          const bytes = Buffer.from(await answer.arrayBuffer());
          expect(answer.status, link).to.equal(200);
          if (index === 0)
            expect(bytes.toString('latin1').slice(bytes.indexOf('<h1')), endpoint).to.match(/<h1[^>]*>[^<]+<\/h1>/);
          else expect(bytes.length, link).to.be.above(20);
        }
        expect(links.length, endpoint).to.equal(SHOWN[endpoint]?.links);
      }
      expect(await findingsOfAxe(page)).to.deep.equal([]);
      expect(problems).to.deep.equal([]);
    } finally {
      await opened.context.close();
      await ended(service.child);
    }
  });

  it('shows the live progress of a run, and its result when it ends', async function () {
    this.timeout(120_000);
    const service = await listening(['serve', '--port', '0', '--store', path.join(folder(), 'live'), '--quiet']);
    const opened = await open(service.url);
    const { page, text, problems } = opened;
    try {
      await page.waitForSelector('.waiting');
      const id = await sendRows(`${service.url}/train`, {
        ...{ method: 'regularized', y_true: 'y', sensitive: 's', features: 'x', etas: '0,1', epochs: '30000' },
        ...{ patience: '30000', min_group_size: '5', backend: 'wasm' },
      });
      await page.reload();
      const shares = new Set<string>();
      await until(async () => {
        const share = /(\d+)%/.exec(await text('.run .status-line'))?.[1];
        if (share !== undefined) shares.add(share);
        return shares.size >= 2;
      }, 60);
      expect(await text('.run .run-status')).to.match(/queued|running/);
      await fetch(`${service.url}/results/${id}`, { method: 'DELETE' });
      await until(async () => (await text('.run .run-status')) === 'cancelled', 20);
      expect(await page.$('.run .status-line')).to.equal(null);
      await page.click('.run button');
      await until(async () => (await text('.run-details .problem')) !== '');
      expect(problems).to.deep.equal([]);
    } finally {
      await opened.context.close();
      await ended(service.child);
    }
  });

  it('shows the state, the gap and the alarms of monitored streams', async function () {
    this.timeout(120_000);
    const service = await listening(['serve', '--port', '0', '--store', path.join(folder(), 'streams'), '--quiet']);
    const opened = await open(service.url);
    const { page, problems } = opened;
    const send = async (name: string, count: number, women: number, men: number, limit = 0.1): Promise<void> => {
      // The decisions of women and men, one after the other. Of ten, so many are positive.
      const lines = Array.from({ length: count }, (_, index) => {
        const isWoman = index % 2 === 0;
        const approved = Number(Math.floor(index / 2) % 10 < (isWoman ? women : men));
        return `${JSON.stringify({ id: `e${String(index)}`, approved, sex: isWoman ? 'f' : 'm' })}\n`;
      });
      const answer = await fetch(
        `${service.url}/monitor/${name}/events?y_pred=approved&sensitive=sex&metric=demographic_parity_difference&limit=${String(limit)}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/x-ndjson' },
          body: lines.join(''),
        },
      );
      expect(answer.status, await answer.text()).to.equal(200);
    };
    try {
      await send('even', 2000, 5, 5, 0.4);
      await send('few', 40, 3, 8);
      await send('uneven', 2000, 3, 8);
      await page.reload();
      await until(async () => (await page.$$('.stream')).length === 3);
      const [even, few, uneven] = (await page.evaluate(
        `[...document.querySelectorAll('.stream')].map((one) => one.textContent)`,
      )) as [string, string, string];
      expect(even).to.match(/^even✓ Within limit2,000 events.*no alarms.*: 0\.0000, limit 0\.4/);
      expect(few).to.match(/^few\? Inconclusive40 events.*no alarms/);
      expect(uneven).to.match(
        /^uneven✗ Breach2,000 events.*[1-9]\d* alarms?, last .*: 0\.5000, limit 0\.1 \(m and f\)/,
      );
      const link = (await page.evaluate(`document.querySelectorAll('.stream a')[2].href`)) as string;
      const dashboard = await (await fetch(link, { headers: { accept: 'text/html' } })).text();
      expect(dashboard).to.include('Fairness of uneven');
      expect(problems).to.deep.equal([]);
    } finally {
      await opened.context.close();
      await ended(service.child);
    }
  });

  it('asks for the key of a service, says that it is refused, and keeps it in memory only', async function () {
    this.timeout(120_000);
    const key = 'correct-key-0123456789';
    const store = path.join(folder(), 'keyed');
    const service = await listening(['serve', '--port', '0', '--store', store, '--quiet'], `audits:${key}`);
    const opened = await open(service.url);
    const { page, text, problems } = opened;
    const enter = async (given: string): Promise<void> => {
      await page.waitForSelector('#service-key');
      await page.type('#service-key', given);
      await page.click('.key-form button');
    };
    try {
      const id = await sendRows(
        `${service.url}/calibrate`,
        { score: 'p', y_true: 'y', sensitive: 's', min_samples: '10' },
        key,
      );
      expect(await finalStatus(service.url, id, key)).to.equal('succeeded');
      await enter('wrong-key-0123456789');
      await page.waitForSelector('.problem');
      expect(await text('.problem'))
        .to.include('does not accept this key')
        .and.to.include('Check');
      // The browser itself logs that the answer was 401.
      expect(problems.splice(0).every((line) => line.includes('401'))).to.equal(true);
      await page.evaluate(`document.querySelector('#service-key').value = ''`);
      await enter(key);
      await page.waitForSelector('.run');
      expect(await text('.run')).to.include(id);
      await page.click('.run button');
      await page.waitForSelector('.run-details button');
      expect(await text('.run-details')).to.include('Calibration error');
      const report = await saved({ page }, folder(), 'Save the report', '.html');
      expect(report).to.include('<h1').and.to.include('alibrat');
      const stored = await page.evaluate(
        `JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, document.body.innerHTML])`,
      );
      expect(stored).to.not.include(key);
      await page.reload();
      await page.waitForSelector('#service-key');
      expect(await text('.runs')).to.equal('');
      expect(problems).to.deep.equal([]);
    } finally {
      await opened.context.close();
      await ended(service.child);
    }
  });

  it('lists, searches, opens and compares the runs of a service, also from its folder', async function () {
    this.timeout(120_000);
    const store = path.join(folder(), 'runs');
    const service = await listening(['serve', '--port', '0', '--store', store, '--quiet']);
    const validate = async (positives: number): Promise<string> => {
      const body = {
        y_pred: Array.from({ length: 400 }, (_, row) => Number(row % 2 === 0 ? row % 4 === 0 : row % 100 < positives)),
        sensitive: Array.from({ length: 400 }, (_, row) => (row % 2 === 0 ? 'a' : '<b>&"')),
        threshold: 0.2,
      };
      const answer = await fetch(`${service.url}/validate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { run_id: string }).run_id;
    };
    const [first, second] = [await validate(10), await validate(50)];
    const context = await browser().createBrowserContext();
    try {
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (line) => problems.push(line.text()));
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(service.url) && !url.startsWith('blob:')) problems.push(url);
      });
      const text = (selector: string) =>
        page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`) as Promise<string>;
      await page.goto(`${service.url}/#results`);
      await page.waitForSelector('.run');
      expect((await page.$$('.run')).length).to.equal(2);
      expect(await text('.run'))
        .to.include(second)
        .and.to.include('succeeded');
      await page.type('#run-search', first.slice(0, 13));
      await until(async () => (await page.$$('.run')).length === 1);
      await page.click('.run button');
      await page.waitForSelector('.run-details a');
      expect(await text('.run-details'))
        .to.include('Failed')
        .and.to.include('demographic_parity_difference');
      const report = await page.evaluate(`fetch(document.querySelector('.run-details a').href, { headers: { accept: 'text/html' } }).then((answer) => answer.text())`); // prettier-ignore
      expect(report).to.include('<h1>Fairness validation</h1>');
      await page.evaluate(`{
        const search = document.querySelector('#run-search');
        search.value = '';
        search.dispatchEvent(new Event('input', { bubbles: true }));
      }`);
      await until(async () => (await page.$$('.run')).length === 2);
      await page.evaluate(`document.querySelectorAll('.run input').forEach((box) => box.click())`);
      await page.waitForSelector('section[aria-labelledby="comparison"] table');
      expect(await text('section[aria-labelledby="comparison"]')).to.include('Demographic parity difference');
      expect(await findingsOfAxe(page)).to.deep.equal([]);
      // The other pages work in a service too, whose answers usually forbid scripts.
      await page.evaluate(`document.querySelector('nav a').click()`);
      await page.evaluate(`document.querySelector('.sample').click()`);
      await page.waitForSelector('figure img');
      await page.evaluate(`document.querySelectorAll('nav a')[1].click()`);
      await page.waitForSelector('button[type=submit]:not(:disabled)');
      await page.evaluate(`document.querySelector('button[type=submit]').click()`);
      await page.waitForSelector('.point-details');
      expect(problems).to.deep.equal([]);

      await ended(service.child);
      const view = await listening(['view', store, '--quiet']);
      try {
        const other = await context.newPage();
        await other.goto(view.url);
        await other.waitForSelector('.run');
        expect((await other.$$('.run')).length).to.equal(2);
      } finally {
        await ended(view.child);
      }
    } finally {
      await context.close();
      if (service.child.exitCode === null) await ended(service.child);
    }
  });
});
