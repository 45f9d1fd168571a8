import { ConfigValidationError } from '../exceptions/index.ts';

/** The places where tensors can be computed, best first. */
export const TENSOR_BACKENDS = ['node-gpu', 'webgpu', 'node', 'wasm', 'cpu'] as const;

/** One of {@link TENSOR_BACKENDS}. */
export type TensorBackend = (typeof TENSOR_BACKENDS)[number];

/** A backend by name, or `auto`: the first that works. */
export type BackendChoice = TensorBackend | 'auto';

/**
 * The choice that a text names; `auto` for an empty one, as scripts leave a variable that they mean to unset.
 * @throws {ConfigValidationError} for an unknown name
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
