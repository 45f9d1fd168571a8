import type { DoctorReport } from '../../src/integration/doctor.ts';
import type { NumericsFinding } from '../../src/numerics/numerics-case.ts';
import type { FairnessPenaltyName } from '../../src/training/index.ts';

/** The parts of a check, in order. */
export const PART_NAMES = ['doctor', 'numerics', 'gradients', 'sweep', 'memory', 'profile', 'peer'] as const;

/** One of {@link PART_NAMES}. */
export type PartName = (typeof PART_NAMES)[number];

/** The result of one part. */
export interface PartReport<Figures> {
  readonly seconds: number;
  readonly passes: boolean;
  /** The reason why it does not pass; null if it passes. */
  readonly reason: string | null;
  /** Whether its time limit ended before it was done. */
  readonly timed_out: boolean;
  /** The measured figures; null if the part was aborted before it had them all. */
  readonly figures: Figures | null;
}

/** A card as NVIDIA's driver reports it. */
export interface NvidiaCard {
  readonly name: string;
  readonly driver: string;
  readonly memory_mib: number;
  readonly used_mib: number;
}

export interface DoctorFigures {
  readonly report: DoctorReport;
  /** The first card that nvidia-smi reports; null if there is none. */
  readonly nvidia: NvidiaCard | null;
}

export interface NumericsFigures {
  readonly asked: number;
  readonly passed: number;
  readonly findings: readonly NumericsFinding[];
}

/** The difference between one step's gradients of one penalty and those of the reference backend. */
export interface GradientFigures {
  readonly penalty: FairnessPenaltyName;
  /** The maximum of |difference| / max(1, |gradient|). */
  readonly error: number;
  /** The maximum |difference| in units of the maximum |gradient|: most gradients are much smaller than 1. */
  readonly relative_error: number;
}

export interface AgreementFigures {
  readonly reference: 'wasm';
  readonly tolerance: number;
  readonly gradients: readonly GradientFigures[];
  readonly epochs: number;
  readonly rows: number;
  /** The share of held-out rows with a different decision after the same training, for each eta. */
  readonly decisions: readonly { readonly eta: number; readonly differing: number }[];
  readonly most_differing: number;
}

/** The results of one network of a sweep on held-out rows. */
export interface PointFigures {
  readonly eta: number;
  readonly accuracy: number;
  readonly dp: number;
}

/** One run of a sweep. */
export interface SweepRun {
  readonly seed: number;
  /** The number of rows per step. */
  readonly batch_size: number;
  readonly seconds: number;
  readonly hypervolume: number;
  readonly points: readonly PointFigures[];
}

/** The output of `pytorch_sweep.py` after each of its runs. */
export interface PeerFigures {
  readonly torch: string;
  readonly device: string;
  readonly rows: number;
  /** The duration of each run of the complete work. */
  readonly run_seconds: readonly number[];
  readonly warm_up_seconds: number;
  readonly peak_bytes: number | null;
  readonly points: readonly PointFigures[];
}

export interface SweepFigures {
  readonly work: {
    readonly etas: number;
    readonly epochs: number;
    readonly batch_size: number;
    readonly hidden: readonly number[];
    readonly lr: number;
    readonly penalty: FairnessPenaltyName;
    readonly columns: number;
    /** The number of rows of the tables, before validation rows are split off. */
    readonly rows: number;
    readonly test_rows: number;
  };
  /** The duration of one epoch in which everything is compiled. It is not part of any run's time. */
  readonly warm_up_seconds: number;
  readonly runs: readonly SweepRun[];
  readonly median_seconds: number;
  /** The lower bound of the mean hypervolume; null if the work is too small for a bound. */
  readonly hypervolume_bound: number | null;
  /** The same work with the backend's default batch size. Reported separately, because it is different work. */
  readonly auto_batch: SweepRun;
}

/** The same work as a PyTorch loop, which trains one network after another. The sweep trains all at once. */
export interface LoopFigures {
  readonly loop: (PeerFigures & { readonly median_seconds: number; readonly hypervolume: number }) | null;
  /** The reason why there is no loop or no ratio. */
  readonly reason: string | null;
  /** The ratio of the median times of loop and sweep; null if the loop ran on another device. */
  readonly ratio: number | null;
  readonly bar: number;
  /** Whether the ratio reaches the target; null if this run is not a measurement of it. */
  readonly bar_holds: boolean | null;
}

export interface MemoryFigures {
  readonly tensors_leaked: number;
  /** The peak bytes of tensors. */
  readonly peak_tensor_bytes: number;
  /** The peak bytes on the device as reported by the backend; null if it does not report them. */
  readonly peak_device_bytes: number | null;
  /** The same including buffers that are kept for later tensors. */
  readonly peak_allocated_bytes: number | null;
  /** The memory in use on the card according to nvidia-smi, while the sweep's buffers still exist. */
  readonly nvidia_used_mib: number | null;
  readonly reads_per_epoch: number;
  /** Reads that do not depend on the number of epochs: the networks, and their outputs for held-out rows. */
  readonly reads_besides: number;
  readonly values_per_epoch: number;
}

export interface KernelFigures {
  readonly name: string;
  readonly per_step: number;
  /** Milliseconds on the device per step; null if the device reports no times. */
  readonly device_ms_per_step: number | null;
}

export interface ProfileFigures {
  readonly steps_per_epoch: number;
  readonly epoch_ms: number;
  /** The part of it in which the host waits for the device. */
  readonly awaited_ms: number;
  readonly host_ms_per_step: number;
  readonly kernels_per_step: number;
  readonly kernels: readonly KernelFigures[];
}

/** The figures of every part. */
export interface PartFigures {
  readonly doctor: DoctorFigures;
  readonly numerics: NumericsFigures;
  readonly gradients: AgreementFigures;
  readonly sweep: SweepFigures;
  readonly memory: MemoryFigures;
  readonly profile: ProfileFigures;
  readonly peer: LoopFigures;
}

/** The results of the parts that have run. */
export type Parts = { readonly [Name in PartName]?: PartReport<PartFigures[Name]> };

export interface DeviceFigures {
  /** The name of the device: that of the card if the adapter has the same name, otherwise the adapter's. */
  readonly name: string;
  readonly backend: string;
  readonly adapter: string | null;
  readonly driver: string | null;
  readonly memory_mib: number | null;
  /** Whether it is a software GPU. */
  readonly is_software: boolean;
}

/** The JSON output of a check. */
export interface GpuReport {
  readonly schema: 1;
  readonly version: string;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly device: DeviceFigures;
  readonly node: string;
  readonly duration_s: number;
  /** Whether the work was reduced. */
  readonly quick: boolean;
  /** Whether the times may be quoted: all parts and the complete work of B11 are done, on a hardware GPU. */
  readonly is_measurement: boolean;
  /** Whether every requested part has run. */
  readonly complete: boolean;
  readonly parts: Parts;
  /** Whether the check is complete and every part passes. */
  readonly passes: boolean;
}
