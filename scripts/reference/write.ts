// Writes docs/reference: the commands, the configurations, the HTTP service, and the exports of the library. Run from the
// root of the project, after `npm run build`:
//   node --import tsx scripts/reference/write.ts
// With --check, it changes nothing and exits with 1 if a page is out of date.

import { cliReference } from './cli.ts';
import { configurationReferences } from './configuration.ts';
import { type EntryPoints, readPackage } from './entry-points.ts';
import { writeOrCheck } from './generated-files.ts';
import { httpReference } from './http.ts';
import { libraryReferences } from './library.ts';
import { page } from './markdown.ts';

function contents({ points }: EntryPoints): string {
  return page([
    '# Reference',
    '',
    'These pages are generated from the sources by `npm run docs:reference`.',
    '',
    '- [Command line](cli.md)',
    '- Configuration: [pipelines](config-pipeline.md), [evaluations of language models](config-llm-eval.md), [gates](config-gates.md)',
    '- [HTTP service](http.md)',
    '- [Error codes](../errors.md)',
    '- Library:',
    ...points.map(({ name, file }) => `  - [${name}](library/${file}.md)`),
  ]);
}

const entries = readPackage();
const pages = new Map([
  ['README.md', contents(entries)],
  ['cli.md', await cliReference()],
  ...configurationReferences(),
  ['http.md', httpReference()],
  ...libraryReferences(entries),
]);
/** Adds the line that every page of the docs has. */
function withGlossary(name: string, text: string): string {
  const up = name.includes('/') ? '../../' : '../';
  return `${text}\nTerms are explained in the [glossary](${up}glossary.md).\n`;
}

const linked = new Map([...pages].map(([name, text]) => [name, withGlossary(name, text)]));
writeOrCheck('docs/reference', linked, 'npm run docs:reference');
