import type { GpuReport, LoopFigures, PartName, Parts } from './report.ts';

/** The maximum width of a line. */
const WIDTH = 80;

/** Formats a report in a few lines for people. */
export function summarize(report: GpuReport): string {
  const { device, parts } = report;
  const memory = device.memory_mib === null ? '' : `, ${String(device.memory_mib)} MiB`;
  const driver = device.driver === null ? '' : `, driver ${device.driver}`;
  const lines = [
    `${device.name} (${device.backend}${memory}${driver})`,
    ...(report.is_measurement ? [] : ['This is not a measurement of a GPU: do not quote its times.']),
    '',
    ...(Object.keys(parts) as PartName[]).flatMap((name) => partLines(name, parts)),
    '',
    `${report.passes ? 'All parts pass' : report.complete ? 'Not all parts pass' : 'Not complete'}, ${report.duration_s.toFixed(1)} s.`,
  ];
  return lines.map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH - 3)}...` : line)).join('\n');
}

function partLines(name: PartName, parts: Parts): string[] {
  const part = parts[name];
  if (part === undefined) return [];
  const head = `${name.padEnd(10)} ${part.passes ? 'ok  ' : 'FAIL'} ${part.seconds.toFixed(1).padStart(7)} s  ${describe(name, parts)}`;
  return part.reason === null ? [head] : [head, `${' '.repeat(11)}${part.reason}`];
}

/** Formats the main figures of a part. */
function describe(name: PartName, parts: Parts): string {
  const { doctor, numerics, gradients, sweep, memory, profile, peer } = parts;
  const one = {
    doctor: () => doctor?.figures && `auto selects ${doctor.figures.report.chosen}`,
    numerics: () =>
      numerics?.figures && `${String(numerics.figures.passed)} of ${String(numerics.figures.asked)} answers correct`,
    gradients: () =>
      gradients?.figures &&
      `error ${worst(gradients.figures.gradients.map(({ error }) => error)).toExponential(1)}, ` +
        `${(100 * worst(gradients.figures.decisions.map(({ differing }) => differing))).toFixed(2)}% decisions differ`,
    sweep: () =>
      sweep?.figures &&
      `${String(sweep.figures.work.etas)} networks at once: ${sweep.figures.median_seconds.toFixed(2)} s`,
    memory: () =>
      memory?.figures &&
      `${mebibytes(memory.figures.peak_device_bytes ?? memory.figures.peak_tensor_bytes)} MiB, ` +
        `${memory.figures.reads_per_epoch.toFixed(2)} reads per epoch`,
    profile: () =>
      profile?.figures &&
      `${profile.figures.kernels_per_step.toFixed(0)} kernels per step, epoch ${profile.figures.epoch_ms.toFixed(0)} ms, ` +
        `waiting ${profile.figures.awaited_ms.toFixed(0)}`,
    peer: () => peer?.figures && describeLoop(peer.figures),
  } satisfies Record<PartName, () => string | null | undefined>;
  return one[name]() ?? '';
}

/** Formats the loop. It says that networks are trained one after another, because the sweep trains them at once. */
function describeLoop({ loop, ratio, reason }: LoopFigures): string {
  if (loop === null) return `no PyTorch loop: ${reason ?? ''}`;
  const runs = loop.run_seconds.length;
  const times = ratio === null ? `no ratio: ${reason ?? ''}` : `${ratio.toFixed(1)} times the sweep`;
  return `a PyTorch loop, one by one: ${loop.median_seconds.toFixed(2)} s of ${String(runs)}, ${times}`;
}

function worst(values: readonly number[]): number {
  return Math.max(0, ...values);
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
