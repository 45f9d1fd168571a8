import type { Tf } from '../../src/tensor/index.ts';

/** The part of TensorFlow.js's engine that runs every op. */
interface Engine {
  runKernel: (name: string, inputs: unknown, attributes?: { readonly name?: unknown }) => unknown;
}

/** Runs work and reports each kernel after it ran. */
export async function watchKernels<T>(tf: Tf, onKernel: (name: string) => void, work: () => Promise<T>): Promise<T> {
  const engine = tf.engine() as unknown as Engine;
  const { runKernel } = engine;
  engine.runKernel = (name, inputs, attributes) => {
    const result = runKernel.call(engine, name, inputs, attributes);
    // Kernels of this package share one name; an attribute contains the actual name.
    onKernel(typeof attributes?.name === 'string' ? `${name} ${attributes.name}` : name);
    return result;
  };
  try {
    return await work();
  } finally {
    // Restores the method of the class.
    delete (engine as Partial<Engine>).runKernel;
  }
}
