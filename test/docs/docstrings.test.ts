import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { codeBlocks, expectedOutput, runTypeScript } from '../helpers/code-blocks.ts';
import { filesIn, projectRoot } from '../helpers/project-files.ts';

/** The examples in docstrings: blocks of ts behind the example tag. Blocks of text need a server. */
function examplesOf(file: string): string[] {
  const source = readFileSync(path.join(projectRoot, file), 'utf8');
  const comments = source.match(/\/\*\*.*?\*\//gs) ?? [];
  return comments
    .filter((comment) => comment.includes('@example'))
    .flatMap((comment) => codeBlocks(comment.replaceAll(/^ ?\s*\* ?/gm, '')))
    .filter(({ language }) => language !== 'text')
    .map(({ code }) => code);
}

describe('examples in docstrings run and print what they say @slow', () => {
  const files = filesIn('src', '.ts');
  const examples = files.flatMap((file) => examplesOf(file).map((code) => ({ file, code })));

  it('are there', () => {
    expect(examples.length).to.be.at.least(8);
  });

  for (const { file, code } of examples) {
    it(file, async () => {
      expect(await runTypeScript(code)).to.equal(expectedOutput(code));
    });
  }
});
