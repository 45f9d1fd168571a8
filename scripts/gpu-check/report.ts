import type { DoctorReport } from '../../src/integration/doctor.ts';
import type { NumericsFinding } from '../../src/tensor/index.ts';
import type { FairnessPenaltyName } from '../../src/training/index.ts';

/** What a check consists of, in its order. */
export const PART_NAMES = ['doctor', 'numerics', 'gradients', 'sweep', 'memory', 'profile', 'peer'] as const;

/** One of {@link PART_NAMES}. */
export type PartName = (typeof PART_NAMES)[number];

/** What one part found. */
export interface PartReport<Figures> {
  readonly seconds: number;
  readonly passes: boolean;
  /** Why it does not pass; null where it does. */
  readonly reason: string | null;
  /** Whether its time was up before it was done. */
  readonly timed_out: boolean;
  /** What was measured; null where the part broke off before it had all. */
  readonly figures: Figures | null;
}

/** A card, as NVIDIA's driver tells. */
export interface NvidiaCard {
  readonly name: string;
  readonly driver: string;
  readonly memory_mib: number;
  readonly used_mib: number;
}

export interface DoctorFigures {
  readonly report: DoctorReport;
  /** The first card that nvidia-smi tells of; null where it is not there. */
  readonly nvidia: NvidiaCard | null;
}

export interface NumericsFigures {
  readonly asked: number;
  readonly passed: number;
  readonly findings: readonly NumericsFinding[];
}

/** How far one step's gradients of one penalty lie from those of the reference backend. */
export interface GradientFigures {
  readonly penalty: FairnessPenaltyName;
  /** Largest |difference| / max(1, |gradient|). */
  readonly error: number;
  /** Largest |difference|, in units of the largest |gradient|: most gradients are far below 1. */
  readonly relative_error: number;
}

export interface AgreementFigures {
  readonly reference: 'wasm';
  readonly tolerance: number;
  readonly gradients: readonly GradientFigures[];
  readonly epochs: number;
  readonly rows: number;
  /** The share of held-out rows that the same training decides otherwise, for each eta. */
  readonly decisions: readonly { readonly eta: number; readonly differing: number }[];
  readonly most_differing: number;
}

/** What one network of a sweep does on rows it has not seen. */
export interface PointFigures {
  readonly eta: number;
  readonly accuracy: number;
  readonly dp: number;
}

/** One run of a sweep. */
export interface SweepRun {
  readonly seed: number;
  /** Rows of a step. */
  readonly batch_size: number;
  readonly seconds: number;
  readonly hypervolume: number;
  readonly points: readonly PointFigures[];
}

/** What `pytorch_sweep.py` prints after each of its runs. */
export interface PeerFigures {
  readonly torch: string;
  readonly device: string;
  readonly rows: number;
  /** One for each time that the whole work was done. */
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
    /** Of the tables, before any are set aside. */
    readonly rows: number;
    readonly test_rows: number;
  };
  /** One epoch, in which everything is compiled; no run's time holds it. */
  readonly warm_up_seconds: number;
  readonly runs: readonly SweepRun[];
  readonly median_seconds: number;
  /** What the mean hypervolume must exceed; null where the work is too small for a bound. */
  readonly hypervolume_bound: number | null;
  /** The same work with batches as large as the backend chooses, told apart: it is other work. */
  readonly auto_batch: SweepRun;
}

/** The same work as a PyTorch loop, which trains one network after another where the sweep trains all at once. */
export interface LoopFigures {
  readonly loop: (PeerFigures & { readonly median_seconds: number; readonly hypervolume: number }) | null;
  /** Why there is no loop, or no ratio. */
  readonly reason: string | null;
  /** How many times as long as the sweep the loop took, medians both; null where it ran on another device. */
  readonly ratio: number | null;
  readonly bar: number;
  /** Whether the ratio reaches the bar; null where this run is no measurement of it. */
  readonly bar_holds: boolean | null;
}

export interface MemoryFigures {
  readonly tensors_leaked: number;
  /** The most bytes of tensors at once. */
  readonly peak_tensor_bytes: number;
  /** The most bytes on the device at once, as the backend tells; null where it does not. */
  readonly peak_device_bytes: number | null;
  /** The same with what is kept for the next tensors. */
  readonly peak_allocated_bytes: number | null;
  /** What nvidia-smi says is taken on the card, with the sweep's buffers still there. */
  readonly nvidia_used_mib: number | null;
  readonly reads_per_epoch: number;
  /** Reads whatever the number of epochs: the networks, and what they give held-out rows. */
  readonly reads_besides: number;
  readonly values_per_epoch: number;
}

export interface KernelFigures {
  readonly name: string;
  readonly per_step: number;
  /** Milliseconds on the device in one step; null where the device tells no times. */
  readonly device_ms_per_step: number | null;
}

export interface ProfileFigures {
  readonly steps_per_epoch: number;
  readonly epoch_ms: number;
  /** Of it, with the host waiting for the device. */
  readonly awaited_ms: number;
  readonly host_ms_per_step: number;
  readonly kernels_per_step: number;
  readonly kernels: readonly KernelFigures[];
}

/** What every part measures. */
export interface PartFigures {
  readonly doctor: DoctorFigures;
  readonly numerics: NumericsFigures;
  readonly gradients: AgreementFigures;
  readonly sweep: SweepFigures;
  readonly memory: MemoryFigures;
  readonly profile: ProfileFigures;
  readonly peer: LoopFigures;
}

/** The parts of a check that have been run. */
export type Parts = { readonly [Name in PartName]?: PartReport<PartFigures[Name]> };

export interface DeviceFigures {
  /** Of what was computed on: the card's where the adapter goes by the same name, else the adapter's own. */
  readonly name: string;
  readonly backend: string;
  readonly adapter: string | null;
  readonly driver: string | null;
  readonly memory_mib: number | null;
  /** Whether it is a GPU made of software. */
  readonly is_software: boolean;
}

/** The JSON that a check leaves. */
export interface GpuReport {
  readonly schema: 1;
  readonly version: string;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly device: DeviceFigures;
  readonly node: string;
  readonly duration_s: number;
  /** Whether the work was cut down. */
  readonly quick: boolean;
  /** Whether the times may be quoted: all parts and all the work of B11 are done, on a GPU that is hardware. */
  readonly is_measurement: boolean;
  /** Whether every part asked for has been run. */
  readonly complete: boolean;
  readonly parts: Parts;
  /** Whether the check is complete and every part of it passes. */
  readonly passes: boolean;
}
