/** What a fault may carry beside its reason. */
export interface TrackingFaultDetails {
  /** MLflow's own name for the error, as in RESOURCE_DOES_NOT_EXIST. */
  readonly errorCode?: string;
  /** Whether the same call may well succeed later. */
  readonly isTransient?: boolean;
  /** Whether the server is sure to have done nothing, so that even a call that creates something may be repeated. */
  readonly isUndone?: boolean;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMillis?: number | undefined;
  readonly cause?: unknown;
}

/** Why something was not tracked; never leaves the tracking, which reports its message. */
export class TrackingFault extends Error {
  readonly errorCode: string | undefined;
  readonly isTransient: boolean;
  readonly isUndone: boolean;
  readonly retryAfterMillis: number | undefined;

  constructor(reason: string, details: TrackingFaultDetails = {}) {
    super(reason, { cause: details.cause });
    this.name = 'TrackingFault';
    this.errorCode = details.errorCode;
    this.isTransient = details.isTransient ?? false;
    this.isUndone = details.isUndone ?? false;
    this.retryAfterMillis = details.retryAfterMillis;
  }
}
