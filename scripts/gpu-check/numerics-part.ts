import { checkNumerics } from '../../src/numerics/check-numerics.ts';
import { onDeviceAlone, type Tf } from '../../src/tensor/index.ts';
import type { NumericsFigures } from './report.ts';
import type { Found } from './run-part.ts';

/** Checks every tensor op on the device against results known in float64. */
export async function checkOps(tf: Tf): Promise<Found<NumericsFigures>> {
  const findings = await onDeviceAlone(tf, () => checkNumerics(tf));
  const failed = findings.filter(({ passes }) => !passes);
  const figures = { asked: findings.length, passed: findings.length - failed.length, findings };
  // Without answers there is no evidence.
  if (findings.length === 0) return { figures, reason: 'no op was checked' };
  const [first] = failed;
  const reason =
    first === undefined
      ? null
      : `${String(failed.length)} of ${String(findings.length)}, first ${first.op}: ${first.reason ?? ''}`;
  return { figures, reason };
}
