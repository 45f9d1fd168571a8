// Sends requests from this process: each connection sends the bodies of a file in turn. Prints the result of autocannon.
//     node load.mjs URL BODIES.json SECONDS CONNECTIONS
import { readFileSync } from 'node:fs';

import autocannon from 'autocannon';

const [url, file, seconds, connections] = process.argv.slice(2);
const bodies = JSON.parse(readFileSync(file, 'utf8'));
const result = await autocannon({
  url,
  duration: Number(seconds),
  connections: Number(connections),
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  requests: bodies.map((body) => ({ body })),
});
console.log(JSON.stringify(result));
