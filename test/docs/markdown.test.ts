import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { parseLlmEvalConfig } from '../../src/llm-evals/config/index.ts';
import { readYaml } from '../../src/io/read-yaml.ts';
import { parseConfigText } from '../../src/pipeline/index.ts';
import { gatesSchema } from '../../src/schemas/gates.ts';
import { codeBlocks, expectedOutput, isShown, runTypeScript, shownCommands } from '../helpers/code-blocks.ts';
import { filesIn, projectRoot } from '../helpers/project-files.ts';
import { type CliRun, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { type TutorialProject, tutorialProject } from '../helpers/tutorial-project.ts';

const pages = ['README.md', ...filesIn('docs', '.md')];

/** The command lines of a block; a backslash at the end joins lines. */
function commandsOf(code: string): string[] {
  return code
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** Words of a command line, as a shell splits them. */
function splitWords(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
}

/** The ids that GitHub gives the headings of a page. Headings of the docs are distinct within a page. */
function headingIds(markdown: string): string[] {
  return markdown
    .replaceAll(/^```.*?^```/gms, '')
    .split('\n')
    .filter((line) => /^#+ /.test(line))
    .map((line) => line.replace(/^#+ /, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    .map((heading) =>
      heading
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    );
}

/** Keys of an evaluation of a language model, which the configuration of a workflow does not have. */
const EVALUATION = /^(provider|counterfactual|outcome|judge|targets):/m;

/** A configuration with prompts, which a page leaves out if it shows a part of one. */
const withPrompts = (code: string): string =>
  /^(counterfactual|prompt_templates):/m.test(code)
    ? code
    : `counterfactual: { dimensions: { gender: [woman, man] } }\nprompt_templates: { rating: 'Rate a {gender}.' }\n${code}`;

/** Commands that set the checkout up or run this very suite; `.ci/run` runs them from a fresh clone. */
const RUN_ELSEWHERE = /^(npm (ci|install|start|test|run)|npx tsx scripts\/|EVENHAND_REFERENCE_DIR=)/;

for (const page of pages) {
  // The code of the other pages takes ten seconds.
  describe(`code in ${page}${page === 'README.md' ? '' : ' @slow'}`, () => {
    const folder = useTemporaryFolder();
    const blocks = codeBlocks(readFileSync(path.join(projectRoot, page), 'utf8'));
    const isTutorial = page.startsWith('docs/tutorials/');
    let project: TutorialProject | undefined;

    before(() => {
      if (isTutorial) project = tutorialProject(folder());
    });
    after(() => project?.end());

    /** Runs a command of a console block. Commands of tutorials run in bash, so that they can have pipes. */
    async function runShown(command: string): Promise<CliRun> {
      if (project !== undefined) return project.run(command);
      const [program, evenhand, ...args] = splitWords(command);
      expect([program, evenhand], command).to.deep.equal(['npx', 'evenhand']);
      return runCli(args, { cwd: folder() });
    }

    for (const [index, { language, code, file }] of blocks.entries()) {
      const title = `block ${String(index + 1)} (${language}): ${code.trim().split('\n')[0] ?? ''}`;
      if (file !== undefined) {
        it(`${title} is saved as ${file}`, () => {
          expect(isTutorial, 'only tutorials save files').to.equal(true);
          writeFileSync(path.join(folder(), file), code);
        });
      }
      if (language === 'python') {
        it(`${title} is the program of the example`, () => {
          const program = readFileSync(path.join(projectRoot, 'examples/scikit-learn/train.py'), 'utf8');
          expect(program).to.include(code);
        });
      } else if (file !== undefined && language !== 'yaml') {
        it(`${title} is used by another block`, () => {
          expect(blocks.some((block) => block.file !== file && block.code.includes(file))).to.equal(true);
        });
      } else if (language === 'ts') {
        it(`${title} prints what it says`, async () => {
          expect(await runTypeScript(code)).to.equal(expectedOutput(code));
        });
      } else if (language === 'sh') {
        it(`${title} exits 0`, async () => {
          for (const command of commandsOf(code)) {
            if (RUN_ELSEWHERE.test(command)) continue;
            const [npx, evenhand, ...args] = splitWords(command);
            expect([npx, evenhand], command).to.deep.equal(['npx', 'evenhand']);
            const { code: exit, stderr } = await runCli(args, { cwd: folder() });
            expect(exit, `${command}\n${stderr}`).to.equal(0);
          }
        });
      } else if (language === 'console') {
        it(`${title} prints what it shows`, async () => {
          for (const { command, output, code: shownCode } of shownCommands(code)) {
            const [program, ...args] = splitWords(command);
            if (program === 'cat') {
              const text = readFileSync(path.join(folder(), args.join(' ')), 'utf8');
              if (!isShown(text, output)) expect(text.trim(), command).to.equal(output);
              continue;
            }
            if (project !== undefined && args[1] === 'serve') {
              await project.start(command, output);
              continue;
            }
            const { code: exit, stdout, stderr } = await runShown(command);
            expect(exit, `${command}\n${stderr}`).to.equal(shownCode);
            if (!isShown(stdout, output)) expect(stdout.trim(), command).to.equal(output);
          }
        });
      } else if (language === 'yaml') {
        it(`${title} is a valid configuration`, async () => {
          const isListOfGates = code.startsWith('- ');
          if (isListOfGates) expect(gatesSchema.parse((await readYaml(code)).value)).not.to.deep.equal([]);
          else if (EVALUATION.test(code)) await parseLlmEvalConfig(`${withPrompts(code)}\n`);
          else expect((await parseConfigText(code)).sensitive).not.to.deep.equal([]);
        });
      } else {
        it(`${title} is of a kind that is only shown`, () => {
          expect(language).to.be.oneOf(['text', 'json']);
        });
      }
    }
  });

  describe(`links in ${page}`, () => {
    it('lead to files that exist', () => {
      const text = readFileSync(path.join(projectRoot, page), 'utf8');
      const links = [...text.matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)].map(([, target = '']) => target);
      for (const target of links.filter((link) => !/^https?:/.test(link))) {
        expect(existsSync(path.join(projectRoot, path.dirname(page), target)), target).to.equal(true);
      }
    });

    it('lead to headings that exist', () => {
      const text = readFileSync(path.join(projectRoot, page), 'utf8');
      const missing = [...text.matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)]
        .map(([, target = '', id = '']) => ({ target: target === '' ? path.basename(page) : target, id }))
        .filter(({ target }) => target.endsWith('.md') && !/^https?:/.test(target))
        .filter(({ target, id }) => {
          const file = path.join(projectRoot, path.dirname(page), target);
          return !existsSync(file) || !headingIds(readFileSync(file, 'utf8')).includes(id);
        });
      expect(missing).to.deep.equal([]);
    });

    it('explain the terms', () => {
      const text = readFileSync(path.join(projectRoot, page), 'utf8');
      if (page !== 'docs/glossary.md') expect(text).to.match(/\]\((?:docs\/|(?:\.\.\/)+)?glossary\.md/);
    });
  });
}

describe('docs/architecture.md', () => {
  const page = readFileSync(path.join(projectRoot, 'docs/architecture.md'), 'utf8');

  it('names only files and folders that exist', () => {
    const named = [...page.matchAll(/`(src\/[\w./-]+)`/g)].map(([, file]) => file as string);
    expect(named.length).to.be.above(60);
    expect(named.filter((file) => !existsSync(path.join(projectRoot, file)))).to.deep.equal([]);
  });

  it('walks through each of three commands in at most 22 files', () => {
    const walks = page.split('## Three walkthroughs')[1]?.split(/^\*\*/m).slice(1) ?? [];
    const lengths = walks.map((walk) => [...walk.matchAll(/^\d+\. `src\//gm)].length);
    expect(lengths).to.have.length(3);
    for (const length of lengths) expect(length).to.be.within(10, 22);
  });
});

describe('docs/glossary.md', () => {
  const page = readFileSync(path.join(projectRoot, 'docs/glossary.md'), 'utf8');

  it('lists all terms from A to Z', () => {
    const terms = [...page.matchAll(/^### (.+)$/gm)].map(([, term]) => term as string);
    const line = page.split('\n').find((text) => text.startsWith('A to Z: ')) ?? '';
    const listed = [...line.matchAll(/\[([^\]]+)\]/g)].map(([, term]) => term);
    expect(listed).to.deep.equal(terms.sort((a, b) => a.localeCompare(b, 'en')));
  });

  it('gives each term an example and a page with details', () => {
    for (const entry of page.split(/^### /m).slice(1)) expect(entry).to.match(/^- Example: .*\n- Details: \[/m);
  });
});
