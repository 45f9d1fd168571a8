import type { Command } from 'commander';

import type { RunningService, ServeOptions } from '../../api/serve/running-service.ts';
import type { ServeRequest } from '../../schemas/serve.ts';
import { defineCommand } from '../define-command.ts';
import { repeatable } from '../option-parsers.ts';
import { type OutputOptions, print } from '../output.ts';
import { assertNoPassword, REDIS_URL } from '../redis-url.ts';
import { endSoon, prepareServiceLogs, stopAtSignals } from '../stoppable.ts';

/** Returns the command `evenhand serve`. */
export function serveCommand(): Command {
  return defineCommand({
    name: 'serve',
    isOpenEnded: true,
    options: `
--host <address>  address to listen on; 0.0.0.0 for all addresses (default: 127.0.0.1)
--port <n>  port to listen on; 0 for any free port (default: 8000)
--workers <n>  number of processes that answer requests (default: 1)
--reload  restart when a file of the package changes
--insecure  allow an address that other machines can reach without API keys
--store <folder>  folder in which results are also saved, so that they survive a restart
--redis <url>  Redis server through which several hosts share runs, results, monitored streams and rate limits: ${REDIS_URL}
--redis-prefix <name>  first part of all keys in Redis; services with different prefixes do not see each other (default: evenhand)
--no-work  leave the runs to other hosts, and to 'evenhand worker'
--monitor <folder>  folder that 'evenhand monitor --output-dir' writes; shown at /dashboard
--llm-dir <folder>  folder with the files that configurations sent to /llm-eval may name
--cors-origin <origin>  origin whose web pages may call the service, such as https://audit.example.com; repeat for several
--allowed-host <name>  host name that requests may have in their Host header; repeat for several
--base-path <path>  path prefix under which a proxy serves the service, such as /fairness, whether or not the proxy removes it; used in links
--webhook-host <name>  host to which requests may have the end of their run reported (?webhook_url=), with the secret in EVENHAND_WEBHOOK_SECRET, or in the file that EVENHAND_WEBHOOK_SECRET_FILE names; repeat for several
--rate-limit <n>  maximum requests per minute for each key, or for each address without keys (default: no limit)
--threads <n>  number of runs that execute at the same time (default: 2, or 1 on one core)
--queue <n>  number of runs that may wait for a thread, of all hosts together; further runs are rejected (default: 256)
--max-json-mb <n>  maximum size of a JSON body in MiB (default: 32)
--max-upload-mb <n>  maximum size of an upload in MiB, also after decompression (default: 2048, or 512 with --redis)
--max-array-items <n>  maximum length of an array in a JSON body (default: 5000000)
--drain-seconds <n>  seconds that requests and runs have to finish when the service stops (default: 30)`,
    parsers: {
      'cors-origin': repeatable((text) => text),
      'allowed-host': repeatable((text) => text),
      'webhook-host': repeatable((text) => text),
    },
    schema: async () => (await import('../../schemas/serve.ts')).serveSchema,
    help: `
Examples:
  Try it on this machine (documentation: http://127.0.0.1:8000/docs):
  $ evenhand serve
  $ curl -s http://127.0.0.1:8000/validate -H 'content-type: application/json' \\
      -d '{"y_pred": [1, 1, 0, 0], "sensitive": ["a", "a", "b", "b"], "min_group_size": 2, "threshold": 0.1}'
  $ curl -s 'http://127.0.0.1:8000/validate?y_pred=approved&sensitive=sex' -H 'content-type: text/csv' \\
      --data-binary @decisions.csv

  For other users: API keys (one per line of a file), results that survive a restart, and a rate limit for each key.
  Keys are not encrypted: put a proxy with TLS in front, and allow requests only through it:
  $ umask 077    # the next files cannot be read by other users
  $ openssl rand -hex 24 > keys.txt
  $ EVENHAND_API_KEYS_FILE=keys.txt evenhand serve --host 0.0.0.0 --workers 2 \\
      --store /var/lib/evenhand --rate-limit 600
  $ echo "authorization: Bearer $(cat keys.txt)" > header.txt    # other users can see the arguments of curl
  $ curl -s https://audit.example.com/results -H @header.txt

  On several hosts, behind a load balancer. Any host answers for any run; workers on further machines only work:
  $ EVENHAND_API_KEYS_FILE=keys.txt EVENHAND_REDIS_PASSWORD_FILE=redis.txt evenhand serve --host 0.0.0.0 \\
      --redis redis://queue.example:6379
  $ EVENHAND_REDIS_PASSWORD_FILE=redis.txt evenhand worker --redis redis://queue.example:6379

  Behind a proxy on the same machine that handles passwords and TLS:
  $ evenhand serve --allowed-host audit.example.com --base-path /fairness

  Prometheus metrics, a readiness check, and a dashboard written by 'evenhand monitor':
  $ curl -s http://127.0.0.1:8000/metrics
  $ curl -s http://127.0.0.1:8000/ready
  $ evenhand serve --monitor monitoring    # then open /dashboard

An address that other machines can reach needs EVENHAND_API_KEYS_FILE, EVENHAND_API_KEYS (comma-separated) or
--insecure. Without keys, on a local address, the service answers only requests whose Host is localhost, 127.0.0.1, [::1] or an --allowed-host. This protects it
from web pages that you visit.
Logs go to stderr: warnings, and on a terminal one line per response. EVENHAND_LOG_FILE=<path> appends logs to a
file, and EVENHAND_JSON_LOGS=1 writes them as JSON instead of text; both include the lines per response even without a terminal.
EVENHAND_LOG_LEVEL=<level> (debug, info, warn, error) sets the level. --quiet logs warnings only.
Ctrl-C or SIGTERM stops the service: it refuses new work (503), still answers for results while runs finish, and
cancels what has not finished after --drain-seconds. A second Ctrl-C ends it at once. --reload is for developers of this package: it
uses one worker, gives work one second to finish at each change, and loses results kept in memory.
Exit codes: 0 stopped, 2 invalid options or data or a port in use, 3 workers fail repeatedly, 130 ended at once.`,
    prepare: prepareServiceLogs,
    run: runServeCommand,
  });
}

async function runServeCommand(options: OutputOptions, request: ServeRequest): Promise<void> {
  if (request.reload) {
    process.exitCode = await serveWatched(request);
    return;
  }
  if (request.redis !== undefined) await assertNoPassword('redis', request.redis);
  const { serve } = await import('../../api/serve/serve.ts');
  const service = await serve(serveOptionsOf(request));
  const release = stopAtSignals(() => service.stop(), 'waiting for requests and runs to finish.', options);
  await reportPosition(service, request.host, options.json === true);
  try {
    await service.done;
  } finally {
    release();
    endSoon();
  }
}

/** Starts the service on this machine, with the results in a folder. */
export async function startOnStore(folder: string, port: number): Promise<RunningService> {
  const [{ serve }, { serveSchema }] = await Promise.all([
    import('../../api/serve/serve.ts'),
    import('../../schemas/serve.ts'),
  ]);
  return serve(serveOptionsOf(serveSchema.parse({ port, store: folder })));
}

/** Returns the options of the library's `serve` function for a request. */
function serveOptionsOf(request: ServeRequest): ServeOptions {
  const { store, monitor, llmDir, corsOrigin, allowedHost, webhookHost, drainSeconds, reload: _, ...others } = request;
  const { maxJsonMb, maxUploadMb, maxArrayItems, work, ...same } = others;
  return {
    ...same,
    ...(work === false ? { work } : {}),
    storeFolder: store,
    monitorFolder: monitor,
    llmFolder: llmDir,
    corsOrigins: corsOrigin,
    allowedHosts: allowedHost,
    webhookHosts: webhookHost,
    drainMillis: Math.round(drainSeconds * 1000),
    limits: {
      jsonBytes: Math.round(maxJsonMb * 2 ** 20),
      uploadBytes: Math.round(maxUploadMb * 2 ** 20),
      arrayItems: maxArrayItems,
    },
  };
}

async function reportPosition({ url, port, workers }: RunningService, host: string, isJson: boolean): Promise<void> {
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ url, port, pid: process.pid, workers })}\n`);
    return;
  }
  const [{ VERSION }, { positionText: placeText }] = await Promise.all([
    import('../../internal/version.ts'),
    import('../../api/serve/address.ts'),
  ]);
  print(`evenhand ${VERSION} listens on ${placeText(host, port)} (documentation: /docs; stop with Ctrl-C)`);
}

/** Runs the same command under a watcher that restarts it. */
async function serveWatched({ workers }: ServeRequest): Promise<number> {
  const [{ ConfigValidationError }, { runWatched }] = await Promise.all([
    import('../../exceptions/index.ts'),
    import('../../api/serve/reload.ts'),
  ]);
  if (workers > 1) {
    throw new ConfigValidationError('--reload works only with one worker.', { suggestion: 'Remove --workers.' });
  }
  const args = process.argv.slice(2).filter((argument) => argument !== '--reload');
  return runWatched({ main: process.argv[1] ?? '', args: [...args, '--drain-seconds', '1'] });
}
