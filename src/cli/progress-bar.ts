import type { OnProgress, ProgressEvent } from '../internal/progress.ts';
import { type OutputOptions, warn } from './output.ts';

const WIDTH = 30;

/** Seconds between two lines where stderr is no terminal, unless EVENHAND_PROGRESS_SECONDS says otherwise. */
const LINE_SECONDS = 10;

/** Where progress is shown, and by which clock. */
export interface ProgressOutput {
  readonly stream: { readonly isTTY?: boolean; write(text: string): unknown };
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** The shortest time between two lines where the stream is no terminal. */
  readonly lineSeconds: number;
}

/** What runs now, so that an interrupt can say where it stopped. */
let current: { readonly event: ProgressEvent; readonly finishLine: () => void } | undefined;

/**
 * Shows progress on stderr: as a bar drawn over itself on a terminal, else as a
 * line now and then. Under --quiet it shows nothing.
 */
export function progressBar({ quiet }: OutputOptions, output: ProgressOutput = standardOutput()): OnProgress {
  const show = quiet === true ? undefined : output.stream.isTTY === true ? drawBar(output) : writeLines(output);
  return (event) => {
    const isDone = event.done >= event.total;
    current = isDone ? undefined : { event, finishLine: show?.finishLine ?? (() => undefined) };
    show?.onProgress(event);
  };
}

/** Ends the line of a bar, so that what is printed next has a line of its own. */
export function finishBar(): void {
  current?.finishLine();
}

/**
 * Returns the sentences for a process that Ctrl-C ends: where it stopped, and what it has written.
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

/** Writes no line for work that ends sooner than the first one is due, nor at the end, where the result says so. */
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

/** Ctrl-C while a run is under way. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** From now on Ctrl-C ends the process at once, until the interrupt is released. */
  readonly ignore: () => void;
  readonly release: () => void;
}

/**
 * Ctrl-C stops the run and keeps its answers; a second one ends the process at once.
 * For that no listener may be left: while answers are scored none would be heard.
 */
export function catchInterrupt(): Interrupt {
  const controller = new AbortController();
  const ignore = (): void => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  };
  const stop = (): void => {
    ignore();
    controller.abort();
    finishBar();
    warn('Stopping: what is under way is cancelled, what came is scored. Ctrl-C again ends the process at once.');
  };
  // In place of the listener that ends the process at once.
  const usual = process.listeners('SIGINT');
  process.removeAllListeners('SIGINT');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const release = (): void => {
    ignore();
    for (const listener of usual) process.on('SIGINT', listener);
  };
  return { signal: controller.signal, ignore, release };
}

/** Once the last answer is kept nothing is left to stop in good order. */
export function untilDone(draw: OnProgress | undefined, { ignore }: Interrupt): OnProgress {
  return (progress) => {
    draw?.(progress);
    if (progress.done >= progress.total) ignore();
  };
}
