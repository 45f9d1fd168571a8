/** The places where tensors can be computed, best first. */
export const TENSOR_BACKENDS = ['node-gpu', 'webgpu', 'node', 'wasm', 'cpu'] as const;

/** One of {@link TENSOR_BACKENDS}. */
export type TensorBackend = (typeof TENSOR_BACKENDS)[number];

/** A backend by name, or `auto`: the first that works. */
export type BackendChoice = TensorBackend | 'auto';
