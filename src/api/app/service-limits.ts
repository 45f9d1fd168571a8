/** What a request may be at most. */
export interface ServiceLimits {
  /**
   * Bytes of a JSON body.
   * @defaultValue 33554432 (32 MiB)
   */
  readonly jsonBytes: number;
  /**
   * Bytes of an uploaded file, also after it was unpacked.
   * @defaultValue 2147483648 (2 GiB)
   */
  readonly uploadBytes: number;
  /**
   * Items of an array in a JSON body.
   * @defaultValue 5000000
   */
  readonly arrayItems: number;
  /**
   * Bytes of a form field that is no file, such as a configuration.
   * @defaultValue 262144 (256 KiB)
   */
  readonly fieldBytes: number;
  /**
   * A JSON body up to so many bytes may be worked on at once; a larger one goes to a thread.
   * @defaultValue 131072 (128 KiB)
   */
  readonly inlineBytes: number;
  /**
   * How long a body may pause before it is given up, in milliseconds.
   * @defaultValue 30000
   */
  readonly idleMillis: number;
}

/** The limits unless said otherwise. */
export const DEFAULT_LIMITS: ServiceLimits = Object.freeze({
  jsonBytes: 32 * 2 ** 20,
  uploadBytes: 2 * 2 ** 30,
  arrayItems: 5_000_000,
  fieldBytes: 256 * 2 ** 10,
  inlineBytes: 128 * 2 ** 10,
  idleMillis: 30_000,
});
