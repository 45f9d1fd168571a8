import type { Tf } from '../../src/tensor/index.ts';

/** The part of TensorFlow.js's engine that every op goes through. */
interface Engine {
  runKernel: (name: string, inputs: unknown, attributes?: { readonly name?: unknown }) => unknown;
}

/** Does work and tells of each kernel that it ran, after it. */
export async function watchKernels<T>(tf: Tf, onKernel: (name: string) => void, work: () => Promise<T>): Promise<T> {
  const engine = tf.engine() as unknown as Engine;
  const { runKernel } = engine;
  engine.runKernel = (name, inputs, attributes) => {
    const result = runKernel.call(engine, name, inputs, attributes);
    // Kernels of this package's own go by one name, and tell what they compute in another.
    onKernel(typeof attributes?.name === 'string' ? `${name} ${attributes.name}` : name);
    return result;
  };
  try {
    return await work();
  } finally {
    // The engine's own method comes from its class.
    delete (engine as Partial<Engine>).runKernel;
  }
}
