// A service that only parses, checks and counts, with Koa, zod and two processes. It is the baseline of the benchmark.
import cluster from 'node:cluster';

import Koa from 'koa';
import { z } from 'zod';

const WORKERS = 2;

const body = z.object({
  y_true: z.array(z.literal([0, 1])),
  y_pred: z.array(z.literal([0, 1])),
  sensitive: z.array(z.string()),
});

if (cluster.isPrimary) {
  let listening = 0;
  cluster.on('listening', (_, { port }) => {
    listening += 1;
    if (listening === WORKERS) console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
  });
  for (let worker = 0; worker < WORKERS; worker++) cluster.fork();
  process.on('SIGTERM', () => process.exit(0));
} else {
  const app = new Koa();
  app.use(async (context) => {
    const chunks = [];
    for await (const chunk of context.req) chunks.push(chunk);
    const { y_pred: decisions, sensitive } = body.parse(JSON.parse(Buffer.concat(chunks).toString()));
    const groups = {};
    sensitive.forEach((label, row) => {
      const group = (groups[label] ??= { n: 0, positive: 0 });
      group.n += 1;
      group.positive += decisions[row];
    });
    // About as long as an answer of the service.
    context.body = { groups, padding: ' '.repeat(1200) };
  });
  app.listen(0, '127.0.0.1');
}
