import { checkNumerics, type Tf } from '../../src/tensor/index.ts';
import type { NumericsFigures } from './report.ts';
import type { Found } from './run-part.ts';

/** Asks every tensor op on the device itself what is known in float64. */
export async function checkOps(tf: Tf): Promise<Found<NumericsFigures>> {
  const findings = await onDevice(tf, () => checkNumerics(tf));
  const failed = findings.filter(({ passes }) => !passes);
  const figures = { asked: findings.length, passed: findings.length - failed.length, findings };
  // Nothing asked is nothing shown.
  if (findings.length === 0) return { figures, reason: 'no op was asked' };
  const [first] = failed;
  const reason =
    first === undefined
      ? null
      : `${String(failed.length)} of ${String(findings.length)}, first ${first.op}: ${first.reason ?? ''}`;
  return { figures, reason };
}

/** Lets small ops run on the device too: WebGPU's backend computes on the host what never left it. */
export async function onDevice<T>(tf: Tf, work: () => Promise<T>): Promise<T> {
  if (tf.getBackend() !== 'webgpu') return work();
  const flag = 'WEBGPU_CPU_FORWARD';
  const before = tf.env().getBool(flag);
  tf.env().set(flag, false);
  try {
    return await work();
  } finally {
    tf.env().set(flag, before);
  }
}
