import type { OnProgress, ProgressEvent } from '../internal/progress.ts';
import { type OutputOptions, warn } from './output.ts';

const WIDTH = 30;

/**
 * The default seconds between two progress lines if stderr is not a terminal; EVENHAND_PROGRESS_SECONDS changes them.
 */
const LINE_SECONDS = 10;

/** The stream and the clock for progress. */
export interface ProgressOutput {
  readonly stream: { readonly isTTY?: boolean; write(text: string): unknown };
  /** Returns the milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The minimum seconds between two lines if the stream is not a terminal. */
  readonly lineSeconds: number;
}

/** The current progress, which is reported if the run is interrupted. */
let current: { readonly event: ProgressEvent; readonly finishLine: () => void } | undefined;

/**
 * Returns a callback that shows progress on stderr: as a bar on a terminal, otherwise as a line at regular intervals.
 * With --quiet, it shows nothing.
 */
export function progressBar({ quiet }: OutputOptions, output: ProgressOutput = standardOutput()): OnProgress {
  const show = quiet === true ? undefined : output.stream.isTTY === true ? drawBar(output) : writeLines(output);
  return (event) => {
    const isDone = event.done >= event.total;
    current = isDone ? undefined : { event, finishLine: show?.finishLine ?? (() => undefined) };
    show?.onProgress(event);
  };
}

/** Ends the line of the progress bar, so that the next output starts on a new line. */
export function finishBar(): void {
  current?.finishLine();
}

/**
 * Returns the message to print if Ctrl-C ends the process. It says where the work stopped and which outputs were
 * written.
 * @param written the outputs that are complete
 */
export function describeInterrupt(written: readonly string[]): string {
  const { event } = current ?? {};
  const where = event === undefined ? '' : ` at ${String(event.done)} of ${String(event.total)} (${event.stage})`;
  const kept = written.length === 0 ? 'Nothing was written.' : `Complete and kept: ${written.join(', ')}.`;
  return `Interrupted${where}. ${kept}`;
}

interface Shown {
  readonly onProgress: OnProgress;
  readonly finishLine: () => void;
}

function standardOutput(): ProgressOutput {
  const given = Number(process.env['EVENHAND_PROGRESS_SECONDS'] ?? LINE_SECONDS);
  const lineSeconds = Number.isFinite(given) && given >= 0 ? given : LINE_SECONDS;
  return { stream: process.stderr, now: () => performance.now(), lineSeconds };
}

function drawBar({ stream }: ProgressOutput): Shown {
  const onProgress = ({ stage, done, total }: ProgressEvent): void => {
    const filled = Math.round((WIDTH * done) / total);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    stream.write(`\r\x1b[2K${bar} ${percentOf(done, total).padStart(4)}  ${stage}`);
    if (done >= total) stream.write('\r\x1b[2K');
  };
  return { onProgress, finishLine: () => stream.write('\n') };
}

/**
 * Returns a function that prints progress lines. It prints no line for short work, and no final line because the result
 * follows.
 */
function writeLines({ stream, now, lineSeconds }: ProgressOutput): Shown {
  const start = now();
  let last = start;
  const onProgress = ({ stage, done, total }: ProgressEvent): void => {
    const time = now();
    if (done >= total || time - last < 1000 * lineSeconds) return;
    last = time;
    const elapsed = Math.round((time - start) / 1000);
    stream.write(`${stage}: ${String(done)} of ${String(total)} (${percentOf(done, total)}), ${String(elapsed)} s\n`);
  };
  return { onProgress, finishLine: () => undefined };
}

function percentOf(done: number, total: number): string {
  return `${String(Math.round((100 * done) / total))}%`;
}

/**
 * Calls a function at Ctrl-C or SIGTERM. Removes the listener that ends the process immediately.
 * @returns a function that removes the new listener
 */
export function onInterrupt(stop: () => void): () => void {
  process.removeAllListeners('SIGINT');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return () => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  };
}

/** Controls the Ctrl-C handler of a run. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** Makes Ctrl-C end the process immediately, until the handler is released. */
  readonly ignore: () => void;
  readonly release: () => void;
}

/**
 * Makes the first Ctrl-C stop the run and keep its answers. A second Ctrl-C ends the process immediately. The second
 * signal must have no listener, because a listener could not run while the process scores answers.
 */
export function catchInterrupt(): Interrupt {
  const controller = new AbortController();
  const usual = process.listeners('SIGINT');
  const ignore = onInterrupt(() => {
    ignore();
    controller.abort();
    finishBar();
    warn(
      'Stopping: pending requests are cancelled, and the answers so far are scored. Press Ctrl-C again to end at once.',
    );
  });
  const release = (): void => {
    ignore();
    for (const listener of usual) process.on('SIGINT', listener);
  };
  return { signal: controller.signal, ignore, release };
}

/** Shows progress. After the last answer, when nothing is left to cancel, Ctrl-C ends the process immediately. */
export function untilDone(draw: OnProgress | undefined, { ignore }: Interrupt): OnProgress {
  return (progress) => {
    draw?.(progress);
    if (progress.done >= progress.total) ignore();
  };
}
