import { loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';

/** TensorFlow.js computes small things on the host, where the data have not left it, unless it is told not to. */
const FORWARD = 'WEBGPU_CPU_FORWARD';

/** For a suite on a backend: before each test the backend is active, and computes all of its work itself. */
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
