import type { Command } from 'commander';

import type { RunningService, ServeOptions } from '../../api/serve/running-service.ts';
import type { ServeRequest } from '../../schemas/serve.ts';
import { defineCommand } from '../define-command.ts';
import { repeatable } from '../option-parsers.ts';
import { type OutputOptions, prepareLogs, print, remark } from '../output.ts';
import { onInterrupt } from '../progress-bar.ts';

/**
 * The time in milliseconds after which the process is killed if it does not end together with the service. A running
 * thread can prevent the end.
 */
const STUCK_MILLIS = 1_000;

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
--redis <url>  Redis through which several hosts share runs, results and rate limits, such as redis://user@host:6379
--redis-prefix <name>  first part of all keys in Redis; services with different prefixes do not see each other (default: evenhand)
--no-work  leave the runs to other hosts, and to 'evenhand worker'
--monitor <folder>  folder that 'evenhand monitor --output-dir' writes; shown at /dashboard
--llm-dir <folder>  folder with the files that configurations sent to /llm-eval may name
--cors-origin <origin>  origin whose web pages may call the service, such as https://audit.example.com; repeat for several
--allowed-host <name>  host name that requests may have in their Host header; repeat for several
--base-path <path>  path prefix under which a proxy serves the service, such as /fairness; used in links
--rate-limit <n>  maximum requests per minute for each key, or for each address without keys (default: no limit)
--threads <n>  number of runs that execute at the same time (default: 2, or 1 on one core)
--queue <n>  number of runs that may wait for a thread, of all hosts together; further runs are rejected (default: 256)
--max-json-mb <n>  maximum size of a JSON body in MiB (default: 32)
--max-upload-mb <n>  maximum size of an upload in MiB, also after decompression (default: 2048, or 512 with --redis)
--max-array-items <n>  maximum length of an array in a JSON body (default: 5000000)
--drain-seconds <n>  seconds that requests and runs have to finish when the service stops (default: 30)`,
    parsers: { 'cors-origin': repeatable((text) => text), 'allowed-host': repeatable((text) => text) },
    schema: async () => (await import('../../schemas/serve.ts')).serveSchema,
    help: `
Examples:
  Try it on this machine (documentation: http://127.0.0.1:8000/docs):
  $ evenhand serve
  $ curl -s http://127.0.0.1:8000/validate -H 'content-type: application/json' \\
      -d '{"y_pred": [1, 1, 0, 0], "sensitive": ["a", "a", "b", "b"], "min_group_size": 2, "threshold": 0.1}'
  $ curl -s 'http://127.0.0.1:8000/validate?y_pred=approved&sensitive=sex' -H 'content-type: text/csv' \\
      --data-binary @decisions.csv

  For other users: API keys (comma-separated), results that survive a restart, and a rate limit for each key.
  Keys are not encrypted: put a proxy with TLS in front, and allow requests only through it:
  $ EVENHAND_API_KEYS="$(openssl rand -hex 24)" evenhand serve --host 0.0.0.0 --workers 2 \\
      --store /var/lib/evenhand --rate-limit 600
  $ curl -s https://audit.example.com/results -H "authorization: Bearer $KEY"

  On several hosts, behind a load balancer. Any host answers for any run; workers on further machines only work:
  $ EVENHAND_REDIS_PASSWORD_FILE=redis.txt evenhand serve --host 0.0.0.0 --redis redis://db.example:6379
  $ EVENHAND_REDIS_PASSWORD_FILE=redis.txt evenhand worker --redis redis://db.example:6379

  Behind a proxy on the same machine that handles passwords and TLS:
  $ evenhand serve --allowed-host audit.example.com --base-path /fairness

  Prometheus metrics, a readiness check, and a dashboard written by 'evenhand monitor':
  $ curl -s http://127.0.0.1:8000/metrics
  $ curl -s http://127.0.0.1:8000/ready
  $ evenhand serve --monitor monitoring    # then open /dashboard

An address that other machines can reach needs EVENHAND_API_KEYS or --insecure. Without keys, on a local address,
the service answers only requests whose Host is localhost, 127.0.0.1, [::1] or an --allowed-host. This protects it
from web pages that you visit.
Logs go to stderr: warnings, and on a terminal one line per response. EVENHAND_LOG_FILE=<path> appends logs to a
file, and EVENHAND_JSON_LOGS=1 writes them as JSON; both include the lines per response even without a terminal.
EVENHAND_LOG_LEVEL=<level> (debug, info, warn, error) sets the level. --quiet logs warnings only.
Ctrl-C or SIGTERM stops the service: it accepts no new connections, and requests and runs have --drain-seconds to
finish before they are cancelled. A second Ctrl-C ends it at once. --reload is for developers of this package: it
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
  if (request.redis !== undefined) await assertNoRedisPassword(request.redis);
  const { serve } = await import('../../api/serve/serve.ts');
  const service = await serve(serveOptionsOf(request));
  const release = stopAtSignals(service, options);
  await reportPosition(service, request.host, options.json === true);
  try {
    await service.done;
  } finally {
    release();
    setTimeout(() => {
      // A thread that runs native code can be ended only together with the process.
      process.kill(process.pid, 'SIGKILL');
    }, STUCK_MILLIS).unref();
  }
}

/**
 * Checks that the URL of Redis contains no password.
 * @throws {ConfigValidationError} if it does. The message does not contain the URL
 */
async function assertNoRedisPassword(url: string): Promise<void> {
  const [{ hasRedisPassword }, { ConfigValidationError }] = await Promise.all([
    import('../../io/redis/open-redis.ts'),
    import('../../exceptions/index.ts'),
  ]);
  if (!hasRedisPassword(url)) return;
  throw new ConfigValidationError(
    'The URL of --redis contains a password, which other users of this computer can read.',
    {
      context: { parameter: 'redis' },
      suggestion: 'Remove it from the URL, and set EVENHAND_REDIS_PASSWORD, or EVENHAND_REDIS_PASSWORD_FILE.',
    },
  );
}

/**
 * Sets the log level. Environment variables for logs take precedence, because a service usually runs without a
 * terminal.
 */
async function prepareServiceLogs(options: OutputOptions): Promise<void> {
  const { isLoggingAskedFor } = await import('../../internal/logger.ts');
  const isChosen = options.quiet === true || options.verbose === true;
  if (isChosen || !isLoggingAskedFor(process.env)) await prepareLogs(options);
}

/** Returns the options of the library's `serve` function for a request. */
function serveOptionsOf(request: ServeRequest): ServeOptions {
  const { store, monitor, llmDir, corsOrigin, allowedHost, drainSeconds, reload: _, ...others } = request;
  const { maxJsonMb, maxUploadMb, maxArrayItems, work, ...same } = others;
  return {
    ...same,
    ...(work ? {} : { work }),
    storeFolder: store,
    monitorFolder: monitor,
    llmFolder: llmDir,
    corsOrigins: corsOrigin,
    allowedHosts: allowedHost,
    drainMillis: Math.round(drainSeconds * 1000),
    limits: {
      jsonBytes: Math.round(maxJsonMb * 2 ** 20),
      ...(maxUploadMb === undefined ? {} : { uploadBytes: Math.round(maxUploadMb * 2 ** 20) }),
      arrayItems: maxArrayItems,
    },
  };
}

/**
 * Replaces the listener that ends the process immediately, so that work finishes first. Returns a function that removes
 * the new listener.
 */
function stopAtSignals(service: RunningService, options: OutputOptions): () => void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) endAtOnce();
    isStopping = true;
    remark('Stopping: waiting for requests and runs to finish. Press Ctrl-C again to end at once.', options);
    void service.stop();
  };
  return onInterrupt(stop);
}

/**
 * Ends the process with SIGINT, which a shell reports as exit code 130. `process.exit` would wait for threads that may
 * run for a long time.
 */
function endAtOnce(): void {
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
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
