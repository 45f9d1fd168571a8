import type { Answer, Engine, Problem } from '../engine/protocol.ts';
import { startWorker } from './start-worker.ts';

/** How far a request is. */
export interface Progress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
}

/** A problem that the worker reported, with its suggestion. */
export class EngineError extends Error {
  readonly suggestion: string | undefined;

  constructor({ message, suggestion }: Problem) {
    super(message);
    this.suggestion = suggestion;
  }
}

/** Thrown by requests that were cancelled. */
export class Cancelled extends Error {}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Sends requests to the worker. After a cancellation, a new worker opens the same file again. */
export class EngineClient {
  #worker: Worker | undefined;
  #next = 1;
  readonly #pending = new Map<number, Pending>();
  #reopen: (() => Promise<unknown>) | undefined;

  /** Sends a request, and returns its answer. */
  async ask<Name extends keyof Engine>(
    name: Name,
    args: Parameters<Engine[Name]>,
    onProgress?: (progress: Progress) => void,
  ): Promise<ReturnType<Engine[Name]>> {
    if (name === 'open' || name === 'openSample') this.#reopen = () => this.#send(name, args);
    else if (this.#worker === undefined) await this.#reopen?.();
    return (await this.#send(name, args, onProgress)) as ReturnType<Engine[Name]>;
  }

  /** Stops all work. */
  cancel(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(new Cancelled('cancelled'));
    this.#pending.clear();
  }

  #send<Name extends keyof Engine>(
    name: Name,
    args: Parameters<Engine[Name]>,
    onProgress?: (progress: Progress) => void,
  ): Promise<unknown> {
    const id = this.#next++;
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
      worker.postMessage({ id, name, args });
    });
  }

  #start(): Worker {
    const worker = startWorker();
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const pending = this.#pending.get(data.id);
      if (pending === undefined) return;
      if (data.kind === 'progress') {
        pending.onProgress?.(data);
        return;
      }
      this.#pending.delete(data.id);
      if (data.kind === 'value') pending.resolve(data.value);
      else pending.reject(new EngineError(data.problem));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const error = new EngineError({
        message: `The work stopped: ${event.message || 'the browser ended it, perhaps because the memory was used up'}.`,
        suggestion: 'Reload the page and try again, with fewer columns if the file is large.',
        code: undefined,
      });
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
      worker.terminate();
      this.#worker = undefined;
    };
    return worker;
  }
}
