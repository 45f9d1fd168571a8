import { INTERRUPTED } from './exit-codes.ts';
import { type OutputOptions, prepareLogs, remark, warn } from './output.ts';
import { describeInterrupt, onInterrupt } from './progress-bar.ts';

/**
 * Runs work that other processes do. Ctrl-C stops it there before the process ends. A second Ctrl-C ends the process at
 * once.
 * @param close closes the connection to the other processes
 */
export async function runStoppable<T>(
  work: (signal: AbortSignal) => Promise<T>,
  close: () => Promise<void>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const usual = process.listeners('SIGINT');
  const remove = onInterrupt(() => {
    release();
    controller.abort();
  });
  const release = (): void => {
    remove();
    for (const listener of usual) process.on('SIGINT', listener);
  };
  try {
    const result = await work(signal);
    signal.throwIfAborted();
    return result;
  } catch (error) {
    if (!signal.aborted) throw error;
    await close();
    warn(describeInterrupt([]));
    process.exit(INTERRUPTED);
  } finally {
    release();
    await close();
  }
}

/**
 * Sets the log level of a command that runs until it is stopped. Environment variables for logs take precedence, because
 * such a command usually runs without a terminal.
 */
export async function prepareServiceLogs(options: OutputOptions): Promise<void> {
  const { isLoggingAskedFor } = await import('../internal/logger.ts');
  const isChosen = options.quiet === true || options.verbose === true;
  if (isChosen || !isLoggingAskedFor(process.env)) await prepareLogs(options);
}

/**
 * Makes the first Ctrl-C or SIGTERM stop a service in order, and the second one end the process.
 * @param text says what the first one does
 * @returns a function that removes the listener
 */
export function stopAtSignals(stop: () => Promise<void>, text: string, options: OutputOptions): () => void {
  let isStopping = false;
  return onInterrupt(() => {
    if (isStopping) endAtOnce();
    isStopping = true;
    remark(`Stopping: ${text} Press Ctrl-C again to end at once.`, options);
    void stop();
  });
}

/**
 * Ends the process with SIGINT, which a shell reports as exit code 130. `process.exit` would wait for threads that may
 * run for a long time.
 */
function endAtOnce(): void {
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
}

/**
 * The time in milliseconds after which the process is killed if it does not end together with the service. A running
 * thread can prevent the end.
 */
const STUCK_MILLIS = 1_000;

/** Kills the process if it does not end by itself soon. */
export function endSoon(): void {
  setTimeout(() => {
    // A thread that runs native code can be ended only together with the process.
    process.kill(process.pid, 'SIGKILL');
  }, STUCK_MILLIS).unref();
}
