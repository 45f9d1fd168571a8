// Copies the metadata of package.json, which is their one source, to CITATION.cff.
// With --check, it changes nothing and exits with 1 if they differ, or if package.json has a placeholder; npm runs this
// before it publishes.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { parseDocument } from 'yaml';

/** Stands for the account that hosts the repository, until it is known. */
const PLACEHOLDER = 'OWNER';

const root = path.resolve(import.meta.dirname, '..');
const read = (name) => readFileSync(path.join(root, name), 'utf8');
const text = read('package.json');
const { name, version, description, license, author, keywords, repository } = JSON.parse(text);

const citation = parseDocument(read('CITATION.cff'));
const fields = {
  title: name,
  version,
  abstract: description,
  license,
  keywords,
  authors: [{ name: author }],
  'repository-code': repository.url.replace(/^git\+/, '').replace(/\.git$/, ''),
};
for (const [key, value] of Object.entries(fields)) citation.set(key, value);
const filled = citation.toString({ lineWidth: 0 });

if (!process.argv.includes('--check')) {
  writeFileSync(path.join(root, 'CITATION.cff'), filled);
} else {
  const problems = [
    ...(filled === read('CITATION.cff') ? [] : ['CITATION.cff differs from package.json. Run: npm run metadata']),
    ...(text.includes(`/${PLACEHOLDER}/`)
      ? [`package.json has the placeholder ${PLACEHOLDER}. Replace it in repository, homepage and bugs.`]
      : []),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
