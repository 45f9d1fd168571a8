import { ConfigValidationError } from '../exceptions/index.ts';

/** The backends that can compute tensors, in order of preference. */
export const TENSOR_BACKENDS = ['node-gpu', 'webgpu', 'node', 'wasm', 'cpu'] as const;

/** One of {@link TENSOR_BACKENDS}. */
export type TensorBackend = (typeof TENSOR_BACKENDS)[number];

/** The name of a backend, or `auto` for the first backend that works. */
export type BackendChoice = TensorBackend | 'auto';

/**
 * Parses the name of a backend. Empty text means `auto`, because scripts often clear a variable by setting it to
 * empty text.
 * @throws {ConfigValidationError} if the name is unknown
 */
export function parseBackendChoice(given: string): BackendChoice {
  if (given === '') return 'auto';
  const known = ['auto', ...TENSOR_BACKENDS] as const;
  const found = known.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ConfigValidationError(`The tensor backend must be one of ${known.join(', ')}. Got '${given}' instead.`, {
    context: { backend: given },
    suggestion: 'Check --backend and EVENHAND_TF_BACKEND.',
  });
}
