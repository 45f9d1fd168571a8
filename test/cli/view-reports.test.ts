import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { reportOf, reportsIn } from '../../src/cli/report-pages.ts';
import { startView } from '../../src/cli/view-server.ts';
import { parseLlmEvalConfig } from '../../src/llm-evals/config/load-llm-eval-config.ts';
import { llmEvalToJson } from '../../src/llm-evals/report/index.ts';
import { runLlmEval } from '../../src/llm-evals/run/run-llm-eval.ts';
import { runLlmTargets } from '../../src/llm-evals/run/run-llm-targets.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const CONFIG = {
  evaluators: ['counterfactual'],
  counterfactual: {
    template: ['nurse', 'pilot', 'cook', 'judge', 'clerk', 'baker'].map((job) => `Praise a {gender}, a ${job}.`),
    dimensions: { gender: ['woman', 'man'] },
  },
};
const TARGETS = [
  { name: 'a', model: 'stub-a' },
  { name: 'b', model: 'stub-b' },
];

describe('reports of evaluations in evenhand view', () => {
  const folder = useTemporaryFolder();
  const pathOf = (name: string): string => path.join(folder(), name);

  it('makes a page of the JSON of an evaluation and of a comparison, with the same numbers', async () => {
    const one = await runLlmEval(parseLlmEvalConfig(CONFIG));
    const many = await runLlmTargets(parseLlmEvalConfig({ ...CONFIG, targets: TARGETS }));
    writeFileSync(pathOf('one.json'), JSON.stringify(llmEvalToJson(one)));
    writeFileSync(pathOf('many.json'), JSON.stringify(llmEvalToJson(many)));
    const first = await (await reportOf(pathOf('one.json')))?.();
    expect(first).to.include('Length gap').and.include(one.metrics['length_gap.gender']?.value.toFixed(4));
    const second = await (await reportOf(pathOf('many.json')))?.();
    const difference = many.differences['length_gap.gender[a-b]'];
    expect(second).to.include('Metrics by target').and.include(difference?.value.toFixed(3));
    expect(second).to.include('Target b: stub-b (local)');
  });

  it('leaves data to the workbench', async () => {
    writeFileSync(pathOf('rows.json'), '{"a": 1}\n{"a": 2}\n');
    writeFileSync(pathOf('other.json'), '{"metrics": {}}');
    expect(await reportOf(pathOf('rows.json'))).to.equal(undefined);
    expect(await reportOf(pathOf('other.json'))).to.equal(undefined);
    expect(await reportOf(pathOf('rows.csv'))).to.equal(undefined);
  });

  it('lists the reports of a folder, in a sandbox and only under the secret address', async () => {
    const inner = pathOf('reports');
    mkdirSync(inner);
    writeFileSync(path.join(inner, 'new & old.html'), '<p>page of two</p>');
    writeFileSync(path.join(inner, 'new & old.json'), '{}');
    writeFileSync(path.join(inner, 'other.html'), '<p>another</p>');
    const pages = await reportsIn(inner);
    expect([...pages.keys()]).to.deep.equal(['new & old.html', 'other.html']);
    const view = await startView({ pages, port: 0 });
    try {
      const index = await (await fetch(view.url)).text();
      expect(index).to.include('href="new%20%26%20old.html"').and.include('new &amp; old.html');
      const page = await fetch(`${view.url}new%20%26%20old.html`);
      expect(await page.text()).to.equal('<p>page of two</p>');
      expect(page.headers.get('content-security-policy')).to.include('sandbox').and.include("connect-src 'none'");
      expect((await fetch(`${view.url}..%2Fone.json`)).status).to.equal(404);
      expect((await fetch(new URL('/', view.url))).status).to.equal(404);
    } finally {
      await view.stop();
    }
  });
});
