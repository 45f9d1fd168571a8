import type { z } from 'zod';

import { type DetectorDomain, invalidValue, isInDomain, readState, type WarningZone } from './detector-state.ts';
import type { DetectorState, DriftDetector } from './drift-detector.ts';
import { fillParameters, type Given, type ParameterTable } from './parameter-table.ts';

/**
 * The parts of a detector: the parameters, the initial memory, the update for each value, and functions to save and
 * load the memory.
 */
export interface DetectorKernel<Parameters, Memory, Saved = Memory> {
  readonly name: string;
  readonly domain: DetectorDomain;
  readonly parameters: ParameterTable<Parameters>;
  /** Throws an error if the parameters are not valid together, although each of them is valid. */
  check?(parameters: Parameters): void;
  start(parameters: Parameters): Memory;
  /**
   * Updates the memory in place.
   * @returns whether a change was detected
   */
  step(memory: Memory, value: number, parameters: Parameters): boolean;
  /**
   * After a detection, returns how many values ago the change probably began; null if the detector does not locate
   * changes.
   */
  changeAge(memory: Memory, parameters: Parameters): number | null;
  /** Returns the schema of a saved memory: plain data without infinities, which JSON cannot represent. */
  schema(parameters: Parameters): z.ZodType<Saved>;
  /**
   * Returns a copy of the memory as plain data. If the memory itself is plain data, `save` and `load` are not needed.
   */
  save?(memory: Memory): Saved;
  /** Creates a memory from a saved copy. The memory may use this copy without copying it again. */
  load?(saved: Saved, parameters: Parameters): Memory;
}

/** The base class of detectors. The class checks values, restarts after a detection, and saves and restores states. */
export abstract class KernelDetector<Parameters extends object, Memory, Saved = Memory> implements DriftDetector {
  readonly name: string;
  /** The parameters in use, with defaults filled in. */
  readonly parameters: Readonly<Parameters>;
  readonly #kernel: DetectorKernel<Parameters, Memory, Saved>;
  #memory: Memory;
  #isDetected = false;
  #changeAge: number | null = null;

  protected constructor(kernel: DetectorKernel<Parameters, Memory, Saved>, options: Given<Parameters>) {
    this.name = kernel.name;
    this.parameters = fillParameters(kernel.parameters, options);
    kernel.check?.(this.parameters);
    this.#kernel = kernel;
    this.#memory = kernel.start(this.parameters);
  }

  /**
   * At the latest detection, how many values ago the change probably began; 0 means at that value. The number is null
   * before the first detection, or if the detector does not locate changes.
   */
  get changeAge(): number | null {
    return this.#changeAge;
  }

  /**
   * Processes the next value.
   * @returns whether a change was detected at this value
   * @throws {DataValidationError} if the value is not a number of the detector's domain; the detector then stays
   *   unchanged
   */
  update(value: number): boolean {
    const kernel = this.#kernel;
    if (!isInDomain(value, kernel.domain)) throw invalidValue(this.name, value, kernel.domain);
    if (this.#isDetected) this.#memory = kernel.start(this.parameters);
    // Adding 0 turns -0 into 0. JSON.stringify writes -0 as 0, so a state must not depend on -0.
    this.#isDetected = kernel.step(this.#memory, value + 0, this.parameters);
    if (this.#isDetected) this.#changeAge = kernel.changeAge(this.#memory, this.parameters);
    return this.#isDetected;
  }

  /** Returns the complete state as plain data that JSON can represent. */
  state(): DetectorState {
    return Object.freeze({
      detector: this.name,
      parameters: { ...this.parameters },
      isDetected: this.#isDetected,
      changeAge: this.#changeAge,
      memory: this.#kernel.save?.(this.#memory) ?? structuredClone(this.#memory),
    });
  }

  /**
   * Restores a state.
   * @throws {DataValidationError} if `state` is not a state of this kind of detector with the same parameters; the
   *   detector then stays unchanged
   */
  restore(state: DetectorState): void {
    const { memory, isDetected, changeAge } = readState(this, this.#kernel.schema(this.parameters), state);
    // A memory without `load` is plain data, and the schema has already copied it.
    this.#memory = this.#kernel.load?.(memory, this.parameters) ?? (memory as unknown as Memory);
    this.#isDetected = isDetected;
    this.#changeAge = changeAge;
  }

  /** The current memory of the detector. */
  protected get memory(): Readonly<Memory> {
    return this.#memory;
  }
}

/** The base class of detectors that also report warnings. */
export abstract class WarningDetector<Parameters extends object, Memory extends WarningZone> extends KernelDetector<
  Parameters,
  Memory
> {
  /** Whether the latest value was a warning but not a change. */
  get isWarning(): boolean {
    return this.memory.isWarning;
  }
}
