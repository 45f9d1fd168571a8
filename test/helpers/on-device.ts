import { loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';

/** The flag that lets TensorFlow.js compute small operations on the host if their data have not left it. */
const FORWARD = 'WEBGPU_CPU_FORWARD';

/** Activates a backend before each test of a suite, and makes it compute everything itself. */
export function onDevice(backend: TensorBackend): void {
  let forwards: boolean | number | string | undefined;
  beforeEach(`${backend} is active`, async () => {
    const { tf } = await loadTensorflow({ backend });
    if (backend !== 'webgpu') return;
    forwards ??= tf.env().get(FORWARD);
    tf.env().set(FORWARD, false);
  });
  after('the host may help again', async () => {
    if (forwards === undefined) return;
    const { tf } = await loadTensorflow({ backend });
    tf.env().set(FORWARD, forwards);
  });
}
