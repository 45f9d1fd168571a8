import { shellCommand } from '../../../src/document/provenance.ts';
import { Table } from '../../../src/table/index.ts';
import { type HeldOutScores, judgeAtThreshold } from '../../../src/training/pareto/held-out-scores.ts';
import { paretoToJson } from '../../../src/training/pareto/pareto-sweep.ts';
import { sweepWithScores } from '../../../src/training/pareto/sweep-pareto.ts';
import { onWorkingGpu } from '../host/tensor-runtime.ts';
import { problemOf, sourceOf } from './open-source.ts';
import type { SweepResult, SweepSettings, TrainAnswer, TrainRequest } from './training-protocol.ts';

/** The scope of a worker, of which the declarations of pages have another. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<TrainRequest>) => void) | null;
  postMessage(message: TrainAnswer): void;
}

const scope = globalThis as unknown as WorkerScope;

/** The outputs of the networks for the held-out rows. They stay in this worker. */
let scores: HeldOutScores | undefined;

scope.onmessage = ({ data }) => {
  void answer(data);
};

async function answer(request: TrainRequest): Promise<void> {
  try {
    if (request.kind === 'train') {
      const { file, settings } = request;
      const result = await train(file, settings);
      scope.postMessage({ kind: 'trained', value: { result, command: commandOf(file.name, settings) } });
    } else if (scores !== undefined) {
      const { network, threshold } = request;
      scope.postMessage({ kind: 'judged', value: judgeAtThreshold(scores, network, threshold) });
    }
  } catch (error) {
    scope.postMessage({ kind: 'problem', problem: problemOf(error) });
  }
}

/** Trains the networks of a sweep, as `evenhand train-regularized` does on the same backend. */
async function train(file: File, settings: SweepSettings): Promise<SweepResult> {
  const { target, positiveLabel, sensitive, features, etas, epochs, seed, backend, decimal } = settings;
  const report = (stage: string, done: number, total: number): void => {
    scope.postMessage({ kind: 'progress', stage, done, total });
  };
  const source = await sourceOf(file, decimal);
  const names = [sensitive, target, ...features];
  const columns = await source.read(
    names.map((name) => ({ name, isLabel: name === sensitive })),
    report,
  );
  const table = Table.ofColumns([...columns]);
  report('Starting TensorFlow.js', 0, 1);
  const trained = await onWorkingGpu(() =>
    sweepWithScores(
      { table, target, positiveLabel, sensitive: [sensitive], features: [...features] },
      {
        ...{ etas: [...etas], epochs, seed, backend, threads: 1 },
        onProgress: ({ stage, done, total }) => {
          report(stage, done, total);
        },
      },
    ),
  );
  scores = trained.scores;
  return paretoToJson(trained.sweep) as unknown as SweepResult;
}

/** Returns the command that gives the same points. */
function commandOf(name: string, settings: SweepSettings): string {
  const { target, positiveLabel, sensitive, features, etas, epochs, seed, backend, decimal } = settings;
  const names = (list: readonly string[]): string => list.map((one) => one.replaceAll(',', String.raw`\,`)).join(',');
  return shellCommand([
    ...['train-regularized', '--csv', name, '--target', target],
    ...(positiveLabel === undefined ? [] : ['--positive-label', positiveLabel]),
    ...['--sensitive', names([sensitive]), '--features', names(features)],
    ...['--etas', etas.join(','), '--epochs', String(epochs), '--seed', String(seed), '--backend', backend],
    ...(decimal === undefined ? [] : ['--decimal', decimal]),
  ]);
}
