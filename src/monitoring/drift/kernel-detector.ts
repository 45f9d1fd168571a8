import type { z } from 'zod';

import { type DetectorDomain, invalidValue, isInDomain, readState } from './detector-state.ts';
import type { DetectorState, DriftDetector } from './drift-detector.ts';

/** A detector as its parts: how its memory starts, what a value does to it, and how it is saved. */
export interface DetectorKernel<Parameters, Memory, Saved = Memory> {
  readonly name: string;
  readonly domain: DetectorDomain;
  start(parameters: Parameters): Memory;
  /**
   * Takes a value into the memory, in place.
   * @returns whether a change was detected
   */
  step(memory: Memory, value: number, parameters: Parameters): boolean;
  /** At a detection: how many values back the change is suspected to lie; null where it is not located. */
  changeAge(memory: Memory, parameters: Parameters): number | null;
  /** What a saved memory must look like: plain data without infinities, so that JSON keeps it. */
  schema(parameters: Parameters): z.ZodType<Saved>;
  /** A copy of the memory as plain data. */
  save(memory: Memory): Saved;
  /** The memory of a copy that nobody else holds. */
  load(saved: Saved, parameters: Parameters): Memory;
}

/** How a memory that is plain data is saved. */
export function savePlain<Memory>(memory: Memory): Memory {
  return structuredClone(memory);
}

/** How a memory that is plain data is loaded: the schema has made a copy. */
export function loadPlain<Memory>(saved: Memory): Memory {
  return saved;
}

/** What all detectors share: values are checked, a detection is followed by a fresh start, and states are kept. */
export abstract class KernelDetector<Parameters extends object, Memory, Saved = Memory> implements DriftDetector {
  readonly name: string;
  /** The parameters in force, defaults filled in. */
  readonly parameters: Readonly<Parameters>;
  readonly #kernel: DetectorKernel<Parameters, Memory, Saved>;
  #memory: Memory;
  #isDetected = false;
  #changeAge: number | null = null;

  protected constructor(kernel: DetectorKernel<Parameters, Memory, Saved>, parameters: Readonly<Parameters>) {
    this.name = kernel.name;
    this.parameters = parameters;
    this.#kernel = kernel;
    this.#memory = kernel.start(parameters);
  }

  /**
   * At the latest detection: how many values back the change is suspected to
   * lie (0: at that value). Null before the first, or where changes are not located.
   */
  get changeAge(): number | null {
    return this.#changeAge;
  }

  /**
   * Takes the next value.
   * @returns whether a change was detected at this value
   * @throws {DataValidationError} for what is no number of the detector's domain; nothing changes then
   */
  update(value: number): boolean {
    const kernel = this.#kernel;
    if (!isInDomain(value, kernel.domain)) throw invalidValue(this.name, value, kernel.domain);
    if (this.#isDetected) this.#memory = kernel.start(this.parameters);
    // JSON has no -0, which a state must not differ by.
    this.#isDetected = kernel.step(this.#memory, value + 0, this.parameters);
    if (this.#isDetected) this.#changeAge = kernel.changeAge(this.#memory, this.parameters);
    return this.#isDetected;
  }

  /** Everything it knows as plain data, which survives JSON. */
  state(): DetectorState {
    return Object.freeze({
      detector: this.name,
      parameters: { ...this.parameters },
      isDetected: this.#isDetected,
      changeAge: this.#changeAge,
      memory: this.#kernel.save(this.#memory),
    });
  }

  /**
   * Goes on from a state.
   * @throws {DataValidationError} where it is no state of this kind of detector with these parameters; nothing changes then
   */
  restore(state: DetectorState): void {
    const { memory, isDetected, changeAge } = readState(this, this.#kernel.schema(this.parameters), state);
    this.#memory = this.#kernel.load(memory, this.parameters);
    this.#isDetected = isDetected;
    this.#changeAge = changeAge;
  }

  /** What the detector remembers now. */
  protected get memory(): Readonly<Memory> {
    return this.#memory;
  }
}
