// Asks the service on this machine for a path: `node probe.mjs /ready`. Exits with 0 if the answer is 200, otherwise
// with 1 and the reason. The key is read from the environment of the service, so that no manifest contains it.
import { readFileSync } from 'node:fs';

const [path = '/health'] = process.argv.slice(2);
const { EVENHAND_API_KEYS: listed = '', EVENHAND_API_KEYS_FILE: file = '' } = process.env;
const keys = listed === '' && file !== '' ? readFileSync(file, 'utf8') : listed;
const [first = ''] = keys
  .split(/[,\r\n]/)
  .map((each) => each.trim())
  .filter((each) => each !== '');
// A key may follow the name of its tenant, as in `team-a:KEY`.
const key = first.replace(/^[A-Za-z0-9][\w.-]{0,63}:(?=.)/, '');
const url = `http://127.0.0.1:${process.env.EVENHAND_PROBE_PORT ?? '8000'}${path}`;

try {
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` };
  const { status } = await fetch(url, { headers, signal: AbortSignal.timeout(3000) });
  if (status !== 200) throw new Error(`${url} answered with ${status}`);
} catch (error) {
  console.error(error.cause?.message ?? error.message);
  process.exitCode = 1;
}
