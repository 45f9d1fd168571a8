import type { TensorBackend } from './runtime.ts';

/** What training has to know of a backend. */
export interface BackendTraits {
  /** Whether tensors are on a device of their own, so that what is sent to it and read from it costs. */
  readonly isDevice: boolean;
  /** Whether its work stays in the thread that asks, so that threads do more of it. */
  readonly isOneThreaded: boolean;
  /** Networks that are trained together as one wide one; a part of a sweep's result, so no option. */
  readonly networksAtOnce: number;
}

/** Networks that one thread trains together on a CPU. */
const NETWORKS_OF_A_THREAD = 8;

/** What training has to know of a backend. A GPU trains one wide stack as fast as a narrow one. */
export function traitsOf(backend: TensorBackend): BackendTraits {
  const isOneThreaded = backend === 'wasm' || backend === 'cpu';
  return {
    isDevice: backend === 'webgpu' || backend === 'node-gpu',
    isOneThreaded,
    networksAtOnce: isOneThreaded ? NETWORKS_OF_A_THREAD : Infinity,
  };
}
