/** The description of an error code: its class, cause and fix. */
interface ErrorCodeEntry {
  /** The error class, or `Problem` for responses of the HTTP service that are not caused by a library error. */
  readonly raisedAs: string;
  readonly cause: string;
  readonly fix: string;
}

/**
 * Defines all codes of errors and problem responses, grouped by error class, each with its cause and fix. The codes are
 * stable: programs may depend on them. The wording of messages may change. The first code of each class is the general
 * code, which is used if no more specific code applies.
 */
const CODES_BY_CLASS = {
  FairnessToolkitError: {
    'toolkit-error': {
      cause: 'An operation failed, and no specific error class describes the cause.',
      fix: 'Read the message and the property `cause`.',
    },
    'broker-lost': {
      cause: 'Kafka or Redis did not answer for longer than the limit, while a stream was followed.',
      fix: 'Start the same command again when the server is back. Counting continues where it was saved.',
    },
    'task-failed': {
      cause:
        'A task on a queue has no output: its worker failed, or the queue was closed. `context.reason` says which.',
      fix: 'Read the message, the property `cause` and the log of the worker.',
    },
    'task-quarantined': {
      cause: 'A task on a queue ended its worker several times, for example because the memory was full.',
      fix: 'Read the log of the worker. The message has the command that allows the task to run again.',
    },
  },
  ValueError: {
    'invalid-argument': {
      cause: 'An argument or option has a value outside its allowed range.',
      fix: 'Change the parameter that `context.parameter` names. The message states the allowed range.',
    },
    'unknown-option': {
      cause: 'An options object has a property that does not exist. The name may be misspelled.',
      fix: 'Use the suggested name. `context.expected` lists all names.',
    },
    'unknown-name': {
      cause: 'A metric, method, constraint or other choice has a name that is not in the list.',
      fix: 'Use one of the names in the message.',
    },
  },
  DataValidationError: {
    'invalid-data': {
      cause: 'The data cannot be used as given.',
      fix: 'Correct the column or argument that `context` names.',
    },
    'invalid-value': {
      cause: 'A row holds a value that its column does not allow, such as text in a column of numbers.',
      fix: 'Correct the value. `context.index` (from 0) or the row number in the message locates the value.',
    },
    'empty-data': {
      cause: 'No rows are left for the computation.',
      fix: 'Check the file, the filter and the missing values.',
    },
    'too-few-rows': {
      cause: 'The number of rows is smaller than the method needs.',
      fix: 'Add rows, or lower the minimum that the message names.',
    },
    'too-few-groups': {
      cause: 'Fairness metrics compare groups, but the data have fewer than two groups that can be compared.',
      fix: 'Choose another sensitive attribute, or lower the minimum group size.',
    },
    'too-many-groups': {
      cause: 'A sensitive attribute has more groups than are supported. It may be an identifier.',
      fix: 'Choose another attribute, or combine groups.',
    },
    'unknown-column': {
      cause: 'The data have no column of this name.',
      fix: 'Use one of the columns that the message lists.',
    },
    'duplicate-column': {
      cause: 'A column occurs twice, or is used in two roles that exclude each other.',
      fix: 'Name each column once.',
    },
    'unknown-label': {
      cause: 'No row has the specified label (for example, the positive label or a reference group).',
      fix: 'Use one of the labels in the data.',
    },
    'positive-label-required': {
      cause: 'A column holds labels other than 0 and 1, and no positive label was specified.',
      fix: 'Specify the label that counts as positive.',
    },
    'length-mismatch': {
      cause: 'Columns that must have the same length differ in length.',
      fix: 'Give each column one value per row.',
    },
    'unreadable-file': {
      cause: 'A file does not exist, cannot be read because of its permissions, or does not have the expected format.',
      fix: 'Check the path in `context.path`, its permissions and its format.',
    },
    'unwritable-file': {
      cause: 'A file cannot be written. The folder may not exist, or the disk may be full.',
      fix: 'Check the path in `context.path`, its permissions and the free space.',
    },
    'engine-failed': {
      cause: 'A database did not return the result of a statement. Nothing was measured.',
      fix: 'Read `context.reason` (unreachable, denied, lost, slow or statement) and the message of the database.',
    },
    'invalid-state': {
      cause: 'A saved model, state or snapshot is damaged, or was saved with other options.',
      fix: 'Save the model, state or snapshot again, or use its original options.',
    },
    'invalid-encoding': {
      cause: 'Text is not valid UTF-8.',
      fix: 'Save the file as UTF-8.',
    },
    'data-too-large': {
      cause: 'The data exceed a limit on rows, columns, bytes or memory.',
      fix: 'Send less data, or raise the limit that the message names.',
    },
  },
  DependencyError: {
    'missing-package': {
      cause: 'An optional package is not installed, or cannot start on this machine.',
      fix: 'Run the install command in the message.',
    },
  },
  TrainingError: {
    'training-failed': {
      cause: 'Training started and failed, for example because the loss became infinite.',
      fix: 'Follow the suggestion in the message. A lower learning rate or other features often help.',
    },
  },
  ConfigValidationError: {
    'invalid-config': {
      cause: 'A configuration file, a command-line option or an environment variable is invalid.',
      fix: 'Correct each key that the message lists with its line and column.',
    },
    'code-not-allowed': {
      cause: 'A configuration names code, such as a module with metrics, and the call does not allow it to run.',
      fix: 'Read the code. If you trust it, use `--allow-code`, or `allowCode: true` in a program.',
    },
  },
  MetricComputationError: {
    'metric-unavailable': {
      cause: 'A metric cannot be computed at all, for example because its backend failed.',
      fix: 'Follow the suggestion in the message.',
    },
    'missing-argument': {
      cause: 'A column that the metric needs was not given, such as true labels or scores.',
      fix: 'Give the column that `context.missing` names.',
    },
  },
  PipelineExecutionError: {
    'step-failed': {
      cause: 'A step of a pipeline failed. `context` holds the name and index of the step.',
      fix: 'Read the property `cause`, which is the error of the step.',
    },
  },
  LLMClientError: {
    'provider-failed': {
      cause: 'A language model did not answer. `context.kind` is the reason: auth, rate_limit, timeout, …',
      fix: 'Follow the suggestion in the message. Answers that already arrived are kept.',
    },
  },
  CacheMissError: {
    'live-calls-not-allowed': {
      cause: 'Some answers are not in the cache, and calls to a provider are not allowed.',
      fix: 'Allow live calls for one run with `--live` or EVENHAND_LLM_ALLOW_LIVE=1 (for the program of a configuration, with `--allow-code`), or supply recorded answers.',
    },
    'replay-only': {
      cause: 'Some answers are not recorded, and `replay_only` does not allow calls to a provider.',
      fix: 'Remove `replay_only` for one run to record the answers, or evaluate only the recorded prompts.',
    },
  },
  FairnessAssertionError: {
    'gate-failed': {
      cause: 'A fairness metric violates its limit, or is undefined.',
      fix: 'Check the groups in the result. An undefined metric never passes.',
    },
  },
  Problem: {
    'malformed-request': {
      cause: 'The body is not valid JSON, CSV or form data.',
      fix: 'Correct the body.',
    },
    'not-authenticated': {
      cause: 'The request has no valid key.',
      fix: 'Send `Authorization: Bearer KEY` with a key of the service.',
    },
    'not-allowed': {
      cause: 'The service does not allow this operation.',
      fix: 'Ask the operator of the service.',
    },
    'not-found': {
      cause: 'The path or the run does not exist.',
      fix: 'Check the path and the run id.',
    },
    'method-not-allowed': {
      cause: 'The path exists but does not support this HTTP method.',
      fix: 'Use a method that the `Allow` header lists.',
    },
    'not-acceptable': {
      cause: 'The result is not available in the requested format.',
      fix: 'Request one of the formats that the message lists.',
    },
    'request-timeout': {
      cause: 'The request arrived too slowly.',
      fix: 'Send the request again over a faster connection.',
    },
    conflict: {
      cause: 'The operation is not allowed in the current state of the run.',
      fix: 'Wait until the run has ended, or start a new run.',
    },
    'too-large': {
      cause: 'The request exceeds a size limit.',
      fix: 'Send less data.',
    },
    'unsupported-media-type': {
      cause: 'The content type is not supported.',
      fix: 'Send one of the content types that the message lists.',
    },
    'invalid-request': {
      cause: 'A field of the request is invalid.',
      fix: 'Correct the fields that `errors` lists.',
    },
    'too-many-requests': {
      cause: 'The client sent more requests than allowed.',
      fix: 'Wait for the time in the `Retry-After` header.',
    },
    'headers-too-large': {
      cause: 'The headers exceed a size limit.',
      fix: 'Send fewer headers.',
    },
    'internal-fault': {
      cause: 'The service failed. The log of the service contains the details, with the id in the message.',
      fix: 'Give the id to the operator of the service.',
    },
    unavailable: {
      cause: 'The service cannot accept the request now: its queue or its disk is full, or it is stopping.',
      fix: 'Wait for the time in the `Retry-After` header.',
    },
  },
} as const;

type CodesByClass = typeof CODES_BY_CLASS;

/** The stable code of an error or a problem response, in kebab case. */
export type ErrorCode = { [Class in keyof CodesByClass]: keyof CodesByClass[Class] }[keyof CodesByClass];

/** The class, cause and fix of every code. docs/errors.md is generated from this list. */
export const ERROR_CODES = Object.fromEntries(
  Object.entries(CODES_BY_CLASS).flatMap(([raisedAs, codes]) =>
    Object.entries(codes).map(([code, entry]) => [code, { raisedAs, ...entry }]),
  ),
) as Readonly<Record<ErrorCode, ErrorCodeEntry>>;

/** The general code of each class, for errors without a specific code. */
export const GENERAL_CODES = Object.fromEntries(
  Object.entries(CODES_BY_CLASS).map(([name, codes]) => [name, Object.keys(codes)[0]]),
) as Readonly<Record<string, ErrorCode | undefined>>;
