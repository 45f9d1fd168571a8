import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Writes the script that keeps all files of a folder of pages, so that they work without a connection.
 * @param {string} folder the folder
 * @param {string} name the name of the pages. Pages of another name on the same host keep their files
 */
export function writeServiceWorker(folder, name) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => file !== 'service-worker.js')
    .sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(path.join(folder, file)));
  const addresses = files.map((file) => `./${file.replace(/(^|\/)index\.html$/, '$1')}`);
  const script = readFileSync(path.join(import.meta.dirname, 'service-worker.js'), 'utf8')
    .replace("'%FILES%'", JSON.stringify(addresses))
    .replace('%NAME%', name)
    .replace('%VERSION%', hash.digest('hex').slice(0, 16));
  writeFileSync(path.join(folder, 'service-worker.js'), script);
}
