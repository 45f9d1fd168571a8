// Loads the sources that are changed before the first test. Mocha loads tests with `require`, and `import()` inside a
// test then loads a second copy of the sources. Without this file, Stryker would take the constants of that copy as code
// of the test, although the test has long read those of the first copy.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const area = path.resolve('src', (process.env.EVENHAND_MUTATE ?? '').replace(/\*\.ts$/, ''));
const files = statSync(area).isFile()
  ? [area]
  : readdirSync(area, { recursive: true }).map((name) => path.join(area, String(name)));
for (const file of files) if (file.endsWith('.ts')) await import(pathToFileURL(file).href);
