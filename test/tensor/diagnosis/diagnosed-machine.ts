import type { TensorBackend } from '../../../src/tensor/index.ts';
import type { FakeMachine } from './fake-host.ts';

/**
 * A machine, a backend, and the expected messages: each line is a text that `what` contains, followed by those of
 * `mend`.
 */
export interface DiagnosedMachine {
  readonly title: string;
  readonly backend: TensorBackend;
  readonly machine: FakeMachine;
  readonly shows: readonly (readonly [what: string, ...fixes: string[]])[];
}
