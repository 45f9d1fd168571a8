import { type ChildProcess, spawn } from 'node:child_process';

/** The result of a program. */
export interface ProgramResult {
  /** The exit code; null if a signal ended the program. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: Buffer;
  /** Whether the program was stopped because its output was too long. */
  readonly isTooLong: boolean;
  /** The end of the error output. */
  readonly errors: Buffer;
}

/** Limits of {@link runProgram}. */
export interface ProgramLimits {
  /** The maximum size of the output, in bytes. */
  readonly maxBytes: number;
  /** The maximum size of the part of the error output that is kept, in bytes. */
  readonly maxErrorBytes: number;
  /** The time after SIGTERM at which SIGKILL is sent, in milliseconds. */
  readonly killAfterMillis: number;
}

/** The programs that are running. They are stopped when this process exits. */
const running = new Set<ChildProcess>();

function stopAll(): void {
  for (const child of running) kill(child, 'SIGKILL');
}

/**
 * Runs a program without a shell, writes the input to its standard input, and collects its output. If the signal is
 * aborted, the program and the programs that it started receive SIGTERM and, if they do not end, SIGKILL.
 * @throws {Error} the system error if the program cannot be started, and the reason of the signal if it is aborted; the
 * program has then ended
 */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  input: string,
  { maxBytes, maxErrorBytes, killAfterMillis }: ProgramLimits,
  signal: AbortSignal,
): Promise<ProgramResult> {
  signal.throwIfAborted();
  // On POSIX systems, the program gets a process group of its own, so that its child processes can be stopped too.
  const child = spawn(program, args, { detached: process.platform !== 'win32', windowsHide: true });
  if (running.size === 0) process.on('exit', stopAll);
  running.add(child);
  const output = collect(child.stdout, maxBytes, () => {
    stop();
  });
  const errors = collectEnd(child.stderr, maxErrorBytes);
  let killTimer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    kill(child, 'SIGTERM');
    killTimer ??= setTimeout(() => {
      kill(child, 'SIGKILL');
    }, killAfterMillis);
  };
  signal.addEventListener('abort', stop, { once: true });
  // A program may end without reading its input, which breaks the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  try {
    const [code, endSignal] = await ended(child);
    signal.throwIfAborted();
    return { code, signal: endSignal, output: output.bytes(), isTooLong: output.isTooLong(), errors: errors() };
  } finally {
    clearTimeout(killTimer);
    signal.removeEventListener('abort', stop);
    running.delete(child);
    if (running.size === 0) process.off('exit', stopAll);
  }
}

/** The time for which the output of a program that has ended is still read, in milliseconds. */
const DRAIN_MILLIS = 1000;

/**
 * Resolves when the program has ended and its output is complete. A child process that keeps the output open cannot
 * delay the result for more than a second.
 */
function ended(child: ChildProcess): Promise<readonly [code: number | null, signal: string | null]> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve([code, signal]);
    });
    child.on('exit', (code, signal) => {
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve([code, signal]);
      }, DRAIN_MILLIS).unref();
    });
  });
}

function collect(
  stream: NodeJS.ReadableStream,
  maxBytes: number,
  onTooLong: () => void,
): { bytes: () => Buffer; isTooLong: () => boolean } {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else onTooLong();
  });
  return { bytes: () => Buffer.concat(chunks), isTooLong: () => size > maxBytes };
}

/** Keeps the last bytes of a stream. */
function collectEnd(stream: NodeJS.ReadableStream, maxBytes: number): () => Buffer {
  let kept = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-maxBytes);
  });
  return () => kept;
}

/** Sends a signal to a program and to the programs that it started. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid === undefined) return;
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // All processes have ended already.
  }
}
