import { Command } from 'commander';

import type { RunningService, ServeOptions } from '../../api/serve/serve-options.ts';
import type { ServeRequest } from '../../schemas/serve.ts';
import { flagName, parseNumber, repeatable } from '../option-parsers.ts';
import { type OutputOptions, prepareLogs, print, remark, withOutputOptions } from '../output.ts';

/** What still runs so long after the service has stopped is work that cannot be stopped. */
const STUCK_MILLIS = 1_000;

/** `evenhand serve` */
export function serveCommand(): Command {
  return withOutputOptions(withLimitOptions(withPlaceOptions(new Command('serve'))))
    .description('Serve the library over HTTP: validate, pipeline, workflow and llm-eval, documented at /docs.')
    .addHelpText(
      'after',
      `
Examples:
  Try it on this machine; documentation is at http://127.0.0.1:8000/docs:
  $ evenhand serve
  $ curl -s http://127.0.0.1:8000/validate -H 'content-type: application/json' \\
      -d '{"y_pred": [1, 1, 0, 0], "sensitive": ["a", "a", "b", "b"], "min_group_size": 2, "threshold": 0.1}'
  $ curl -s 'http://127.0.0.1:8000/validate?y_pred=approved&sensitive=sex' -H 'content-type: text/csv' \\
      --data-binary @decisions.csv

  For others: keys (a comma list), results that outlive a restart, a limit of each key. Keys travel as they are: put
  something that speaks TLS in front, and let nobody ask without it:
  $ EVENHAND_API_KEYS="$(openssl rand -hex 24)" evenhand serve --host 0.0.0.0 --workers 2 \\
      --store /var/lib/evenhand --rate-limit 600
  $ curl -s https://audit.example.com/results -H "authorization: Bearer $KEY"

  Behind a proxy on the same machine that asks for passwords and speaks TLS:
  $ evenhand serve --allowed-host audit.example.com --base-path /fairness

  What Prometheus reads, whether it takes work, and a dashboard that 'monitor' writes:
  $ curl -s http://127.0.0.1:8000/metrics
  $ curl -s http://127.0.0.1:8000/ready
  $ evenhand serve --monitor monitoring    # then open /dashboard

An address that other machines reach needs EVENHAND_API_KEYS, or --insecure. Without keys, on a local address,
only requests for localhost, 127.0.0.1, [::1] and each --allowed-host are answered, so that web pages cannot ask.
Logs go to stderr: warnings, and on a terminal a line for each answer. EVENHAND_LOG_FILE=<path> appends them to a
file and EVENHAND_JSON_LOGS=1 writes them as JSON, both with those lines, terminal or not. EVENHAND_LOG_LEVEL=<level>
(debug, info, warn, error) decides what is told, --quiet leaves warnings only.
Ctrl-C or SIGTERM: no new connections, requests and runs go on to their end for --drain-seconds, the rest is
cancelled; a second one ends at once. --reload is for those who change the package: one worker, at each change
what is at work has a second to end, and what was kept in memory is lost.
Exit codes: 0 stopped, 2 usage, data or a port in use, 3 workers that end again and again, 130 ended at once.`,
    )
    .action(async (options: OutputOptions) => {
      await runServeCommand(options);
    });
}

function withPlaceOptions(command: Command): Command {
  return command
    .option('--host <address>', 'where it listens; 0.0.0.0 for all addresses (default: 127.0.0.1)')
    .option('--port <n>', 'the port; 0 for any that is free (default: 8000)', parseNumber)
    .option('--workers <n>', 'processes that answer requests (default: 1)', parseNumber)
    .option('--reload', 'start anew when a file of the package changes')
    .option('--insecure', 'serve an address that other machines reach without keys')
    .option('--store <folder>', 'keep results there too, so that they outlive the process')
    .option('--monitor <folder>', "show what 'evenhand monitor --output-dir' writes there at /dashboard")
    .option('--llm-dir <folder>', 'the folder with files that a configuration of /llm-eval may name')
    .option(
      '--cors-origin <origin>',
      'pages from there may call the service (https://audit.example.com); repeat for more',
      repeatable((text: string) => text),
    )
    .option(
      '--allowed-host <name>',
      'a name that requests may ask for in their Host header; repeat for more',
      repeatable((text: string) => text),
    )
    .option('--base-path <path>', 'where a proxy shows the service, for the links that it gives (/fairness)');
}

function withLimitOptions(command: Command): Command {
  return command
    .option(
      '--rate-limit <n>',
      'requests a minute of one key, or of one address without keys (default: no limit)',
      parseNumber,
    )
    .option('--threads <n>', 'runs at work at once (default: 2, or 1 on one core)', parseNumber)
    .option('--queue <n>', 'runs that may wait for a thread; more are refused (default: 256)', parseNumber)
    .option('--max-json-mb <n>', 'the largest JSON body, in MiB (default: 32)', parseNumber)
    .option('--max-upload-mb <n>', 'the largest upload, in MiB, also unpacked (default: 2048)', parseNumber)
    .option('--max-array-items <n>', 'the longest array in a JSON body (default: 5000000)', parseNumber)
    .option(
      '--drain-seconds <n>',
      'how long requests and runs may go on when it is stopped (default: 30)',
      parseNumber,
    );
}

async function runServeCommand(options: OutputOptions): Promise<void> {
  await prepareServiceLogs(options);
  const [{ parseBy }, { serveSchema }] = await Promise.all([
    import('../../schemas/parse.ts'),
    import('../../schemas/serve.ts'),
  ]);
  const { json, quiet: _, verbose: __, ...given } = options;
  const request = parseBy(serveSchema, given, 'serve', flagName);
  if (request.reload) {
    process.exitCode = await serveWatched(request);
    return;
  }
  const { serve } = await import('../../api/serve/serve.ts');
  const service = await serve(serveOptionsOf(request));
  const release = stopAtSignals(service, options);
  await tellPlace(service, request.host, json === true);
  try {
    await service.done;
  } finally {
    release();
    setTimeout(() => {
      // A thread in native code cannot be ended without the process.
      process.kill(process.pid, 'SIGKILL');
    }, STUCK_MILLIS).unref();
  }
}

/** Services run without a terminal: who names a file for logs, or their form, wants them all the same. */
async function prepareServiceLogs(options: OutputOptions): Promise<void> {
  const { isLoggingAskedFor } = await import('../../internal/logger.ts');
  const isChosen = options.quiet === true || options.verbose === true;
  if (isChosen || !isLoggingAskedFor(process.env)) await prepareLogs(options);
}

/** Each of them in the words of the library. */
function serveOptionsOf(request: ServeRequest): ServeOptions {
  const { store, monitor, llmDir, corsOrigin, allowedHost, drainSeconds } = request;
  const { host, port, workers, insecure, rateLimit, threads, queue, basePath } = request;
  const { maxJsonMb, maxUploadMb, maxArrayItems } = request;
  return {
    host,
    port,
    workers,
    insecure,
    rateLimit,
    threads,
    queue,
    basePath,
    storeFolder: store,
    monitorFolder: monitor,
    llmFolder: llmDir,
    corsOrigins: corsOrigin,
    allowedHosts: allowedHost,
    drainMillis: Math.round(drainSeconds * 1000),
    limits: {
      jsonBytes: Math.round(maxJsonMb * 2 ** 20),
      uploadBytes: Math.round(maxUploadMb * 2 ** 20),
      arrayItems: maxArrayItems,
    },
  };
}

/** In place of the listener that ends the process at once: what is at work ends first. */
function stopAtSignals(service: RunningService, options: OutputOptions): () => void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) endAtOnce();
    isStopping = true;
    remark('Stopping: requests and runs go on to their end. Ctrl-C again ends at once.', options);
    void service.stop();
  };
  process.removeAllListeners('SIGINT');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return () => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  };
}

/** By the signal itself, which a shell tells as 130: process.exit waits for threads, which may be at work for long. */
function endAtOnce(): void {
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
}

async function tellPlace({ url, port, workers }: RunningService, host: string, isJson: boolean): Promise<void> {
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ url, port, pid: process.pid, workers })}\n`);
    return;
  }
  const [{ VERSION }, { placeText }] = await Promise.all([
    import('../../internal/version.ts'),
    import('../../api/serve/address.ts'),
  ]);
  print(`evenhand ${VERSION} listens on ${placeText(host, port)} (documentation: /docs; stop with Ctrl-C)`);
}

/** The same command under a watcher, which starts it anew. */
async function serveWatched({ workers }: ServeRequest): Promise<number> {
  const [{ ConfigValidationError }, { runWatched }] = await Promise.all([
    import('../../exceptions/index.ts'),
    import('../../api/serve/reload.ts'),
  ]);
  if (workers > 1) {
    throw new ConfigValidationError('--reload goes with one worker.', { suggestion: 'Leave out --workers.' });
  }
  const args = process.argv.slice(2).filter((argument) => argument !== '--reload');
  return runWatched({ main: process.argv[1] ?? '', args: [...args, '--drain-seconds', '1'] });
}
