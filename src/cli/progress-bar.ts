import { formatCompact } from '../internal/format.ts';
import type { OnProgress, ProgressEvent } from '../internal/progress.ts';
import { type OutputOptions, setTransientLine, warn } from './output.ts';

/** The maximum width of a bar. */
const BAR_WIDTH = 30;

/** The minimum width of a bar; with less space, there is only text. */
const MIN_BAR_WIDTH = 5;

/** The minimum milliseconds between two drawings of a bar. */
const DRAW_MILLIS = 100;

/** The milliseconds after which a rate is shown. Earlier rates vary too much. */
const RATE_MILLIS = 1000;

/**
 * The default seconds between two progress lines if stderr is not a terminal; EVENHAND_PROGRESS_SECONDS changes this
 * default.
 */
const LINE_SECONDS = 10;

/** The stream and the clock for progress. */
export interface ProgressOutput {
  readonly stream: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
  /** Returns the milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The minimum seconds between two lines if the stream is not a terminal. */
  readonly lineSeconds: number;
}

/** The current progress, which is reported if the run is interrupted. */
let current: ProgressEvent | undefined;

/** Whether a question waits for its answer. A progress line would erase the question. */
let isWaiting = false;

/** Waits for the user's answer to a question. In the meantime, no line says how long the command has been running. */
export async function waitForAnswer<Answer>(answer: Promise<Answer>): Promise<Answer> {
  isWaiting = true;
  try {
    return await answer;
  } finally {
    isWaiting = false;
  }
}

/**
 * Returns a callback that shows progress on stderr: a bar on a terminal, otherwise a line at regular intervals. With
 * `--quiet`, the callback shows nothing.
 */
export function progressBar({ quiet }: OutputOptions, output: ProgressOutput = standardOutput()): OnProgress {
  const show = quiet === true ? undefined : output.stream.isTTY === true ? drawBar(output) : writeLines(output);
  return (event) => {
    current = event.done >= event.total ? undefined : event;
    show?.(event);
  };
}

/**
 * Returns the message to print if Ctrl-C ends the process. The message says which outputs were written and where the
 * work stopped.
 * @param written the outputs that are complete
 */
export function describeInterrupt(written: readonly string[]): string {
  const kept =
    written.length === 0
      ? 'Interrupted, nothing was written.'
      : `Interrupted. Complete and kept: ${written.join(', ')}.`;
  return current === undefined
    ? kept
    : `${kept} It was at ${String(current.done)} of ${String(current.total)} (${current.stage}).`;
}

function standardOutput(): ProgressOutput {
  const given = Number(process.env['EVENHAND_PROGRESS_SECONDS'] ?? LINE_SECONDS);
  const lineSeconds = Number.isFinite(given) && given >= 0 ? given : LINE_SECONDS;
  return { stream: process.stderr, now: () => performance.now(), lineSeconds };
}

function drawBar({ stream, now }: ProgressOutput): OnProgress {
  const pace = measurePace(now);
  let last = -Infinity;
  let stage = '';
  return (event) => {
    const { done, total } = event;
    const speed = pace(event);
    if (done >= total) {
      stream.write('\r\x1b[2K');
      return;
    }
    if (event.stage === stage && now() - last < DRAW_MILLIS) return;
    last = now();
    stage = event.stage;
    const facts = [`${String(done)}/${String(total)}`, ...speed].join(' · ');
    const start = ` ${percentOf(event).padStart(4)}  `;
    const text = `${start}${cut(stage, widthOf(stream) - start.length - facts.length - 1)} ${facts}`;
    drawLine(stream, `${barOf(event, widthOf(stream) - text.length)}${text}`);
  };
}

/**
 * Draws a temporary line. The next output replaces this line. The line is shorter than the terminal, so that it never
 * wraps.
 */
function drawLine(stream: ProgressOutput['stream'], line: string): void {
  stream.write(`\r\x1b[2K${line.slice(0, widthOf(stream))}`);
  setTransientLine(() => stream.write('\r\x1b[2K'));
}

/**
 * Returns the maximum width of a line. It leaves space for the `^C` that a terminal shows when the user presses Ctrl-C.
 */
function widthOf({ columns }: ProgressOutput['stream']): number {
  return (columns === undefined || columns === 0 ? 80 : columns) - 3;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

function barOf({ done, total }: ProgressEvent, room: number): string {
  const width = Math.min(BAR_WIDTH, room);
  if (width < MIN_BAR_WIDTH) return '';
  const filled = Math.round((width * done) / total);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/**
 * Returns a function that prints progress lines. The function prints no line for short work, and no final line because
 * the result follows.
 */
function writeLines({ stream, now, lineSeconds }: ProgressOutput): OnProgress {
  const pace = measurePace(now);
  const start = now();
  let last = start;
  return (event) => {
    const { stage, done, total } = event;
    const speed = pace(event);
    const time = now();
    if (done >= total || time - last < 1000 * lineSeconds) return;
    last = time;
    const parts = [
      `${stage}: ${String(done)} of ${String(total)} (${percentOf(event)})`,
      durationText((time - start) / 1000),
      ...speed,
    ];
    stream.write(`${parts.join(', ')}\n`);
  };
}

/**
 * Returns a function that describes the rate and the remaining time of the current stage, as soon as both are known.
 */
function measurePace(now: () => number): (event: ProgressEvent) => string[] {
  let start = { stage: '', done: 0, time: now() };
  return ({ stage, done, total }) => {
    const isNew = start.stage !== '' && stage !== start.stage;
    if (isNew || done < start.done) start = { stage, done, time: now() };
    start.stage = stage;
    const millis = now() - start.time;
    if (millis < RATE_MILLIS || done <= start.done) return [];
    const rate = (1000 * (done - start.done)) / millis;
    return [`${formatCompact(rate, 2)}/s`, `${durationText((total - done) / rate)} left`];
  };
}

function percentOf({ done, total }: ProgressEvent): string {
  return `${String(Math.round((100 * done) / total))}%`;
}

/** Formats a duration: `9 s`, `12 min` or `2.5 h`. */
function durationText(seconds: number): string {
  if (seconds < 100) return `${String(Math.round(seconds))} s`;
  return seconds < 6000 ? `${String(Math.round(seconds / 60))} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/**
 * Returns a function that says on stderr how long a command has been running, unless it shows progress. The time starts
 * again after each question.
 */
export function runningLine({ quiet }: OutputOptions, output: ProgressOutput = standardOutput()): () => void {
  const { stream, now, lineSeconds } = output;
  let start = now();
  let last = start;
  return () => {
    if (isWaiting) start = last = now();
    if (isWaiting || quiet === true || current !== undefined || now() - last < 1000 * lineSeconds) return;
    last = now();
    const time = durationText((last - start) / 1000);
    if (stream.isTTY === true) drawLine(stream, `Running · ${time}`);
    else stream.write(`Running, ${time}\n`);
  };
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
 * Makes the first Ctrl-C stop the run without losing the answers received so far. A second Ctrl-C ends the process
 * immediately. The second signal has no listener, because a listener would not run while the process scores answers.
 */
export function catchInterrupt(): Interrupt {
  const controller = new AbortController();
  const usual = process.listeners('SIGINT');
  const ignore = onInterrupt(() => {
    ignore();
    controller.abort();
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

/**
 * Shows progress. After the last answer, there is nothing left to cancel, so Ctrl-C then ends the process immediately.
 */
export function untilDone(draw: OnProgress | undefined, { ignore }: Interrupt): OnProgress {
  return (progress) => {
    draw?.(progress);
    if (progress.done >= progress.total) ignore();
  };
}
