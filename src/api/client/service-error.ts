import type { Problem } from './client-types.ts';

const MARKER = Symbol.for('evenhand.ServiceError');

/** What the service could not do, as its problem says (RFC 9457); or that it gave no answer, with the `cause`. */
export class ServiceError extends Error {
  /** What the service answered. */
  readonly problem: Problem;
  readonly status: number;
  readonly [MARKER] = true;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.name = 'ServiceError';
    this.problem = problem;
    this.status = problem.status;
  }

  /** What to do next, where the service says so. */
  get suggestion(): string | undefined {
    return this.problem.suggestion;
  }

  /** Whether a value is an error of this kind, also one that another copy of this package made. */
  static isInstance(value: unknown): value is ServiceError {
    return typeof value === 'object' && value !== null && MARKER in value;
  }
}
