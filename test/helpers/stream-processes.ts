import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import type { RealTimeFairnessTracker } from '../../src/monitoring/index.ts';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

/** The end of a process. */
export interface EndedProcess {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of the command line that can be killed. */
export class StreamProcess {
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  /** Resolves when the process has ended. */
  readonly ended: Promise<EndedProcess>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { EVENHAND_LOG_LEVEL: _, ...inherited } = process.env;
    this.#child = spawn(process.execPath, [CLI, ...args], {
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (data: Buffer) => (this.#stdout += data.toString()));
    this.#child.stderr?.on('data', (data: Buffer) => (this.#stderr += data.toString()));
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }));
  }

  /** What the process has printed so far. */
  get output(): string {
    return `${this.#stdout}${this.#stderr}`;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#child.kill(signal);
  }
}

/** Runs a command again whenever it was killed, until it ends by itself. */
export class RestartedProcess {
  readonly #args: readonly string[];
  #current: StreamProcess;
  restarts = 0;
  /** Whether the command has ended by itself. */
  hasEnded = false;
  readonly ended: Promise<EndedProcess>;

  constructor(args: readonly string[]) {
    this.#args = args;
    this.#current = new StreamProcess(args);
    this.ended = this.#supervise();
  }

  /** Kills the current process without a warning. */
  kill(): void {
    this.#current.kill();
  }

  /** What the current process has printed. */
  get output(): string {
    return this.#current.output;
  }

  async #supervise(): Promise<EndedProcess> {
    for (;;) {
      const ended = await this.#current.ended;
      if (ended.signal !== 'SIGKILL') {
        this.hasEnded = true;
        return ended;
      }
      this.restarts++;
      this.#current = new StreamProcess(this.#args);
    }
  }
}

/** The number of approved and of all events by sex, counted by a plain loop. */
export function countPlainly(events: readonly string[]): Record<string, [approved: number, all: number]> {
  const counts: Record<string, [number, number]> = {};
  for (const text of events) {
    const { approved, sex } = JSON.parse(text) as { approved: number; sex: string };
    const own = (counts[sex] ??= [0, 0]);
    own[0] += approved;
    own[1]++;
  }
  return counts;
}

/** The same numbers as a tracker has counted them. */
export function countsOf(tracker: RealTimeFairnessTracker): Record<string, [approved: number, all: number]> {
  return Object.fromEntries(
    tracker
      .metrics({ window: 'cumulative' })
      .flatMap(({ group, value, n }) => (group === null ? [] : [[group, [Math.round((value ?? 0) * n), n]]])),
  );
}
