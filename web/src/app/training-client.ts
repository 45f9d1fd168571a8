import type { ThresholdQuality } from '../../../src/training/pareto/held-out-scores.ts';
import type { SweepSettings, TrainAnswer, TrainedSweep, TrainRequest } from '../engine/training-protocol.ts';
import { EngineError, type Progress } from './client.ts';
import { startTraining } from './start-worker.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A worker that trains one sweep, and then measures its networks at other thresholds until it is stopped. */
export class Training {
  readonly #worker = startTraining();
  /** Requests in their order, which is also the order of the answers. */
  readonly #waiting: Waiting[] = [];
  readonly #onProgress: (progress: Progress) => void;

  constructor(onProgress: (progress: Progress) => void) {
    this.#onProgress = onProgress;
    this.#worker.onmessage = ({ data }: MessageEvent<TrainAnswer>) => {
      if (data.kind === 'progress') this.#onProgress(data);
      else if (data.kind === 'problem') this.#waiting.shift()?.reject(new EngineError(data.problem));
      else this.#waiting.shift()?.resolve(data.value);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      const error = new EngineError({
        message: `The training stopped: ${event.message}.`,
        suggestion: 'Use fewer rows or features.',
        code: undefined,
      });
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    };
  }

  train(file: File, settings: SweepSettings): Promise<TrainedSweep> {
    return this.#ask({ kind: 'train', file, settings }) as Promise<TrainedSweep>;
  }

  /** Measures the decisions of a network at a threshold. */
  judge(network: number, threshold: number): Promise<ThresholdQuality> {
    return this.#ask({ kind: 'judge', network, threshold }) as Promise<ThresholdQuality>;
  }

  /** Ends the worker. Open requests are never answered. */
  stop(): void {
    this.#worker.terminate();
  }

  #ask(request: TrainRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }
}
